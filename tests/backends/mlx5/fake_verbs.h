// fake_verbs.h: a stand-in for rdma-core in a test program: one device whose n-th call fails, that
// counts what is made and notices what is destroyed too early.
//
// It is linked instead of libibverbs and libmlx5: functions of a program come before those of its
// shared libraries. It moves no data.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace ringpost::mlx5::fake {

struct World {
  bool ethernet = false;
  bool global_header = false;  // of an InfiniBand subnet that asks for it
  std::map<uint32_t, ibv_gid> v1,
      v2;                   // GIDs by index; both empty: fe80::1 at 0, as the link has it
  bool peer_memory = true;  // memory can be registered by its address
  bool dma_buf = true;
  uint64_t max_registration = 1ull << 40;

  int fail_at = -1;  // the call with this number fails
  int calls = 0;
  std::string failed;                   // its name
  std::set<std::string> alive;          // "kind number (parents)": for messages
  std::vector<std::string> violations;  // destroyed before what needs it, or twice
  std::vector<uint64_t> registered;     // bytes of each registration that succeeded
};

// Of all calls from now on.
World& Reset();
World& Now();

}  // namespace ringpost::mlx5::fake

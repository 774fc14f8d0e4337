// bootstrap.h: how the ranks of a run find each other, and tell each other what they need to begin.
//
// Rank 0 listens at HOST:PORT, the others connect to it. Then all ranks make the same calls in the
// same order. Each call ends by its deadline, or at once when a rank is lost or aborts, with one
// line that names who waited for whom, their NICs, what for and how long. After that line no call
// succeeds any more: each returns it again.
//
//   auto bootstrap = Bootstrap::Join({.rendezvous = "node0:7000", .rank = 1, .ranks = 2,
//                                     .nic = "mlx5_0"});
//   if (!bootstrap.Ok()) Fail(bootstrap.Message());
//   auto addresses = bootstrap.Value()->Exchange(my_address, "QP addresses");
//
// Calls block, and come from one thread at a time. Others are heard only during a call: a program
// that computes for long calls Check() now and then.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "transport/result.h"

namespace ringpost::bootstrap {

struct BootstrapSpec {
  std::string rendezvous;  // HOST:PORT; rank 0 may listen at port 0, see `listening`
  uint32_t rank = 0;
  uint32_t ranks = 1;
  std::string nic;  // for messages
  // For each call. Ranks other than 0 wait half as long again and half a second, so that rank 0,
  // which knows who is missing, speaks first.
  std::chrono::milliseconds deadline{60'000};
  // Rank 0 alone, both may be empty: the port, once it listens; and who was turned away, and why.
  std::function<void(uint16_t port)> listening;
  std::function<void(const std::string& note)> note;
};

class Bootstrap {
 public:
  // Returns when all ranks are there.
  static Result<std::unique_ptr<Bootstrap>> Join(const BootstrapSpec& spec);

  // Tells the others that this rank leaves. Whoever still waits for it fails.
  virtual ~Bootstrap() = default;

  // Everybody's blob, by rank. `what` stands in messages. All blobs together have 256 MiB at most.
  virtual Result<std::vector<std::string>> Exchange(const std::string& blob,
                                                    const std::string& what) = 0;
  // Returns when all ranks have called it.
  virtual Result<bool> Barrier(const std::string& what) = 0;

  // Of each later call, for a run whose steps take longer than joining does.
  virtual void SetDeadline(std::chrono::milliseconds deadline) = 0;

  // The call that another rank is in, or makes next, fails with this reason.
  virtual void Abort(const std::string& reason) = 0;

  // Whether all is well still. Does not wait.
  virtual Result<bool> Check() = 0;
};

}  // namespace ringpost::bootstrap

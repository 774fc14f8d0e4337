// Takes out each index mask of the byte contract, one at a time, and sees who notices.
#include <fmt/format.h>

#include <boost/test/unit_test.hpp>
#include <string>

#include "backends/sim/fabric.h"
#include "configs/schema/platform_loader.h"
#include "transport/endpoint.h"
#include "transport/publication/pairs.h"

namespace ringpost::mutation {
namespace {

struct WqeIndexUnmasked : FullMasks {
  static constexpr uint64_t kWqeIndex = ~0ull;
};
struct RecordUnmasked : FullMasks {
  static constexpr uint64_t kRecord = ~0ull;
};
struct DoorbellUnmasked : FullMasks {
  static constexpr uint64_t kDoorbell = ~0ull;
};
struct CounterUnmasked : FullMasks {
  static constexpr uint64_t kCounter = ~0ull;
};
struct SlotUnmasked : FullMasks {
  static constexpr bool kSlot = false;
};

constexpr uint32_t kDepth = 64;
constexpr uint64_t kPuts = 66000;  // beyond the 16 bits of every index
constexpr uint64_t kTimeoutPs = 100'000'000;

struct Machine {
  Fabric fabric{config::LoadPlatform("p_ib"),
                {.visibility = sim::VisibilityMode::kStrict, .stack_bytes = 64 * 1024}};
  QpPair qp =
      fabric.ConnectPair(0, 1, {.depth_wqebbs = kDepth, .batch = 4, .timeout_ps = kTimeoutPs});
  RegisteredMemory target = fabric.nic(1).Allocate(Placement::kGpu, kDepth * 8).Value();
};

// One word for each put, and each slot of the target written many times.
template <class Masks, class Publication>
std::string WhatIsWrong() {
  Machine machine;
  Completion done;
  const QpTable table{&machine.qp.first, 1, 0, 1, 0};
  machine.fabric.Launch(0, {}, [&](SimPort& full) {
    BasicSimPort<Masks> port(full);
    Endpoint<BasicSimPort<Masks>, Publication, OrderGpuFence> endpoint(port, table);
    for (uint64_t i = 0; i < kPuts && done.Ok(); ++i) {
      done = endpoint.PutInline(machine.target.Remote(i % kDepth * 8), &i, sizeof(i)).status;
    }
    if (done.Ok()) done = endpoint.Quiet(CompletionScope::kSelectedQp);
  });
  const FabricRun run = machine.fabric.Run();
  if (!run.ok) return run.error;
  if (!done.Ok()) return fmt::format("status {}", static_cast<int>(done.status));
  for (uint64_t i = kPuts - kDepth; i < kPuts; ++i) {
    const uint64_t found = machine.fabric.Read<uint64_t>(machine.target.address + i % kDepth * 8);
    if (found != i) return fmt::format("put {} left {}", i, found);
  }
  const sim::Counters& counters = machine.fabric.Counters(0);
  if (counters.wqe_index_mismatches != 0) return "a WQE with another index than the NIC's";
  if (counters.reserved_bits != 0) return "bits that must be zero";
  return machine.fabric.ViolationCount() == 0 ? "" : machine.fabric.Violations().front();
}

template <class Publication>
void TakeOutEach() {
  BOOST_TEST((WhatIsWrong<FullMasks, Publication>()) == "");
  BOOST_TEST((WhatIsWrong<WqeIndexUnmasked, Publication>()) != "");
  BOOST_TEST((WhatIsWrong<RecordUnmasked, Publication>()) != "");
  BOOST_TEST((WhatIsWrong<DoorbellUnmasked, Publication>()) != "");
  BOOST_TEST((WhatIsWrong<CounterUnmasked, Publication>()) != "");
  BOOST_TEST((WhatIsWrong<SlotUnmasked, Publication>()) != "");
}

BOOST_AUTO_TEST_CASE(EachIndexMaskTakenOutIsCaughtPerThread) { TakeOutEach<PerThread>(); }
// Batches end with a NOP, which has an index of its own.
BOOST_AUTO_TEST_CASE(EachIndexMaskTakenOutIsCaughtBatched) { TakeOutEach<Batched>(); }

}  // namespace
}  // namespace ringpost::mutation

// Kernels post to live NICs: one GPU as two ranks, each with a NIC of this process.
#include <fmt/format.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "backends/live/live_fabric.h"
#include "sim/service/fabric_segment.h"
#include "tests/gpu/live_workout.h"
#include "tests/gpu/needs_gpu.h"
#include "transport/abi/cqe.h"
#include "transport/memory/cuda_memory.h"
#include "transport/memory/gpu_agent.h"

namespace ringpost {
namespace {

using boost::unit_test::precondition;
using gpu_test::WorkoutShape;

constexpr uint64_t kHangGuardPs = 30'000'000'000'000;

struct TwoRanks {
  LiveNicOptions Options(uint32_t rank = 0) {
    LiveNicOptions options;
    options.memory = &MemoryOf(rank);
    options.gpu_kernels = true;
    options.reach_gpu = [this, rank] { return StartGpuAgent(devices[rank], MemoryOf(rank)); };
    options.service.idle = sim::service::Idle::kSpin;
    return options;
  }

  CudaMemory& MemoryOf(uint32_t rank) { return devices[rank] == 0 ? memory : second; }

  int devices[2] = {0, 0};  // by rank
  CudaMemory memory{0};     // these outlive the NICs
  CudaMemory second{1};
};

struct Workout : TwoRanks {
  // One rank's half of what a kernel of each side needs.
  struct Side {
    RegisteredMemory arena;
    std::vector<QpView> views;
  };

  // Runs the shape with a fabric of its own; true if everything was as it must be.
  bool Run(const std::string& publication, const std::string& ordering, Placement placement,
           const WorkoutShape& shape, const QpSpec& spec) {
    auto made = LiveFabric::Make({Options(0), Options(1)});
    if (!made.Ok()) return Says(made.Message());
    LiveFabric& fabric = *made.Value();
    Side sides[2];
    for (uint32_t i = 0; i < shape.qps; ++i) {
      auto pair = fabric.ConnectPair(0, 1, spec);
      if (!pair.Ok()) return Says(pair.Message());
      sides[0].views.push_back(pair.Value().first);
      sides[1].views.push_back(pair.Value().second);
    }
    for (uint32_t rank = 0; rank < 2; ++rank) {
      auto arena = fabric.nic(rank).Allocate(placement, gpu_test::ArenaBytes(shape.threads));
      if (!arena.Ok()) return Says(arena.Message());
      sides[rank].arena = arena.Value();
    }
    if (Check(publication, ordering, shape, sides)) return true;
    return Says(said + CountersOf(fabric));
  }

  static std::string CountersOf(LiveFabric& fabric) {
    std::string text;
    for (uint32_t rank = 0; rank < 2; ++rank) {
      const auto counts = fabric.nic(rank).Counts();
      if (!counts.Ok()) return counts.Message();
      text += fmt::format("; NIC {}:", rank);
      for (const auto& [name, value] : counts.Value()) {
        if (value != 0) text += fmt::format(" {} {}", name, value);
      }
    }
    return text;
  }

  bool Check(const std::string& publication, const std::string& ordering, const WorkoutShape& shape,
             const Side (&sides)[2]) {
    const uint64_t shared_at = gpu_test::SharedCounterAt(shape.threads);
    gpu_test::WorkoutRank ranks[2];
    for (uint32_t rank = 0; rank < 2; ++rank) {
      const Side& mine = sides[rank];
      const RegisteredMemory& peers = sides[1 - rank].arena;
      ranks[rank] = {
          devices[rank], gpu_test::CopyViews(devices[rank], mine.views.data(), shape.qps),
          mine.arena.Local(0, mine.arena.bytes), peers.Remote(0), peers.Remote(shared_at)};
    }
    gpu_test::WorkoutReport reports[2];
    const auto begin = std::chrono::steady_clock::now();
    const std::string refusal = gpu_test::RunWorkout(publication, ordering, shape, ranks, reports);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    for (const gpu_test::WorkoutRank& rank : ranks) gpu_test::FreeViews(rank.views);
    const uint64_t each = uint64_t{shape.threads} * shape.rounds;
    const uint64_t all = 2 * each * gpu_test::kOperationsPerRound;
    const std::string what =
        fmt::format("{}.{}, {} threads, {} QPs: ", publication, ordering, shape.threads, shape.qps);
    BOOST_TEST_MESSAGE(what << all << " operations in " << took.count() << " s");
    if (!refusal.empty()) return Says(what + refusal);
    for (const gpu_test::WorkoutReport& report : reports) {
      if (report.finished != shape.threads) return Says(what + FailuresOf(report));
      if (report.wrong_gets + report.wrong_puts + report.wrong_counters != 0) {
        return Says(what + fmt::format("{} gets, {} puts and {} counters are wrong",
                                       report.wrong_gets, report.wrong_puts,
                                       report.wrong_counters));
      }
    }
    for (uint32_t rank = 0; rank < 2; ++rank) {
      uint64_t counter = 0;
      const uint64_t at = reinterpret_cast<uint64_t>(&counter);
      const auto copied = MemoryOf(rank).Copy(at, sides[rank].arena.address + shared_at, 8);
      if (!copied.Ok()) return Says(copied.Message());
      if (counter != each) return Says(fmt::format("{}the shared counter is {}", what, counter));
    }
    operations += all;
    return true;
  }

  static std::string FailuresOf(const gpu_test::WorkoutReport& report) {
    std::string text = fmt::format("{} threads failed:", report.failed);
    for (uint64_t i = 0; i < std::min<uint64_t>(report.failed, report.kKept); ++i) {
      const gpu_test::WorkoutFailure& failure = report.failure[i];
      text += fmt::format(" [thread {} round {} step {}: status {}, syndrome {:#x}, WQE {}]",
                          failure.thread, failure.round, static_cast<int>(failure.step),
                          static_cast<int>(failure.error.status), failure.error.syndrome,
                          failure.error.wqe_index);
    }
    return text;
  }

  static bool Says(const std::string& what) {
    BOOST_TEST_MESSAGE(what);
    said = what;
    return false;
  }

  // A thread for each QP, and a doorbell for each operation or each batch.
  void RunOwned(const std::string& publication, const std::string& ordering, Placement placement) {
    // The NIC goes through the agent to what is in GPU memory, which is slower.
    const uint32_t part = placement == Placement::kHost ? 1 : 8;
    for (const WorkoutShape& shape :
         {WorkoutShape{1, 1, 1000}, {16, 16, 800 / part}, {64, 64, 1600 / part}}) {
      const QpSpec spec{.placement = placement, .batch = 16, .timeout_ps = kHangGuardPs};
      BOOST_TEST(Run(publication, ordering, placement, shape, spec), said);
    }
  }

  // Threads that share QPs: one warp, eight, and 4,096 threads.
  void RunShared(const std::string& publication, const std::string& ordering, Placement placement) {
    const uint32_t part = placement == Placement::kHost ? 1 : 2;
    for (const WorkoutShape& shape : {WorkoutShape{1, 1, 500 / part},
                                      {32, 1, 200 / part},
                                      {256, 1, 32 / part},
                                      {1024, 4, 16 / part},
                                      {4096, 64, 14 / part}}) {
      const QpSpec spec{
          .placement = placement, .batch = 32, .shared = true, .timeout_ps = kHangGuardPs};
      BOOST_TEST(Run(publication, ordering, placement, shape, spec), said);
    }
  }

  static inline std::string said;
  static inline uint64_t operations = 0;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(GpuLiveTest, Workout, *precondition(NeedsGpu))

// Orderings of GPU scope are for queues in GPU memory alone: docs/memory_model.md.
BOOST_AUTO_TEST_CASE(ThreadsThatOwnTheirQpReachThePeerThroughHostMemory) {
  RunOwned("per_thread", "system_release", Placement::kHost);
  RunOwned("per_thread", "system_fence", Placement::kHost);
  RunOwned("batched", "system_fence", Placement::kHost);
}

BOOST_AUTO_TEST_CASE(ThreadsThatShareQpsReachThePeerThroughHostMemory) {
  for (const char* publication : {"ordered_handoff", "locked", "cooperative", "last_writer"}) {
    RunShared(publication, "system_fence", Placement::kHost);
  }
}

BOOST_AUTO_TEST_CASE(ThreadsThatOwnTheirQpReachThePeerThroughGpuMemoryInEveryOrdering) {
  for (const char* ordering : {"gpu_fence", "gpu_fence_dbrec", "gpu_release", "threadfence",
                               "system_release", "system_fence"}) {
    RunOwned("per_thread", ordering, Placement::kGpu);
  }
}

BOOST_AUTO_TEST_CASE(BatchesReachThePeerThroughGpuMemoryInEveryOrdering) {
  for (const char* ordering : {"gpu_fence", "gpu_release", "system_fence"}) {
    RunOwned("batched", ordering, Placement::kGpu);
  }
}

BOOST_AUTO_TEST_CASE(ThreadsThatShareQpsReachThePeerThroughGpuMemoryInEveryOrdering) {
  for (const char* publication : {"ordered_handoff", "locked", "cooperative"}) {
    for (const char* ordering : {"gpu_fence", "gpu_release", "system_fence"}) {
      RunShared(publication, ordering, Placement::kGpu);
    }
  }
  for (const char* ordering : {"gpu_fence", "threadfence", "system_fence"}) {
    RunShared("last_writer", ordering, Placement::kGpu);
  }
}

BOOST_AUTO_TEST_CASE(AWarpGoesOnWhereItsWqesOutnumberTheRing) {
  for (const char* publication : {"ordered_handoff", "locked", "cooperative", "last_writer"}) {
    const QpSpec spec{.depth_wqebbs = 16,
                      .placement = Placement::kHost,
                      .batch = 4,
                      .shared = true,
                      .timeout_ps = kHangGuardPs / 10};
    BOOST_TEST(Run(publication, "system_fence", Placement::kHost, {32, 1, 20}, spec), said);
  }
}

BOOST_AUTO_TEST_CASE(TwoGpusAreTwoRanks, *precondition(NeedsTwoGpus)) {
  devices[1] = 1;
  RunOwned("per_thread", "system_release", Placement::kHost);
  RunShared("cooperative", "system_fence", Placement::kHost);
  RunOwned("per_thread", "gpu_fence", Placement::kGpu);
  RunShared("ordered_handoff", "gpu_release", Placement::kGpu);
  RunShared("cooperative", "gpu_fence", Placement::kGpu);
}

BOOST_AUTO_TEST_CASE(APutWithAKeyThatThePeerNeverGaveEndsInAnErrorOnTheGpu) {
  auto fabric = LiveFabric::Make(2, Options());
  BOOST_REQUIRE(fabric.Ok());
  const QpSpec spec{.placement = Placement::kHost, .timeout_ps = kHangGuardPs};
  const QpView view = fabric.Value()->ConnectPair(0, 1, spec).Value().first;
  const RegisteredMemory target = fabric.Value()->nic(1).Allocate(Placement::kHost, 64).Value();
  const QpView* views = gpu_test::CopyViews(0, &view, 1);
  gpu_test::RunningPuts puts({views, {target.address, target.rkey ^ 0x100}, 10});
  const gpu_test::PutsEnd end = puts.Finish();
  BOOST_TEST(puts.Refusal() == "");
  BOOST_TEST((end.last.status == Status::kErrorCompletion));
  BOOST_TEST(end.last.syndrome == static_cast<uint8_t>(abi::Syndrome::kRemoteAccess));
  BOOST_TEST(end.last.qpn == view.qpn);
  BOOST_TEST(end.puts == 0u);
  gpu_test::FreeViews(views);
}

BOOST_AUTO_TEST_CASE(AKernelWhosePeerDiesReturnsAnError) {
  auto segment = sim::service::FabricSegment::InProcess(1 << 10);
  BOOST_REQUIRE(segment.Ok());
  std::unique_ptr<LiveNic> nics[2];
  QpAddress address[2];
  const QpSpec spec{.placement = Placement::kHost, .timeout_ps = kHangGuardPs};
  for (uint16_t i = 0; i < 2; ++i) {
    LiveNicOptions options = Options();
    options.device = "live" + std::to_string(i);
    options.lid = static_cast<uint16_t>(i + 1);
    auto nic = LiveNic::Open(*segment.Value(), options);
    BOOST_REQUIRE(nic.Ok());
    nics[i] = std::move(nic.Value());
    address[i] = nics[i]->CreateQp(spec).Value();
  }
  for (int i = 0; i < 2; ++i) BOOST_REQUIRE(nics[i]->Connect(address[i], address[1 - i]).Ok());
  const QpView view = nics[0]->View(address[0]).Value();
  const RegisteredMemory target = nics[1]->Allocate(Placement::kHost, 64).Value();
  const QpView* views = gpu_test::CopyViews(0, &view, 1);
  gpu_test::RunningPuts puts({views, target.Remote(0), ~0ull});
  while (puts.SoFar() < 100 && puts.Refusal().empty()) std::this_thread::yield();
  nics[1].reset();
  const gpu_test::PutsEnd end = puts.Finish();
  BOOST_TEST(puts.Refusal() == "");
  BOOST_TEST((end.last.status == Status::kErrorCompletion));
  BOOST_TEST(end.last.syndrome == static_cast<uint8_t>(abi::Syndrome::kTransportRetryExceeded));
  BOOST_TEST(end.puts >= 100u);
  gpu_test::FreeViews(views);
}

// Last: what the cases before have done.
BOOST_AUTO_TEST_CASE(TheyWereTenMillionOperations) { BOOST_TEST(operations >= 10'000'000u); }

BOOST_AUTO_TEST_SUITE_END()

}  // namespace ringpost

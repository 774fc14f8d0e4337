// Kernels post to live NICs: one GPU as two ranks, each with a NIC of this process.
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

namespace ringpost {
namespace {

using boost::unit_test::precondition;
using gpu_test::WorkoutShape;

constexpr uint64_t kHangGuardPs = 30'000'000'000'000;

struct TwoRanks {
  LiveNicOptions Options() {
    LiveNicOptions options;
    options.memory = &memory;
    options.gpu_kernels = true;
    options.service.idle = sim::service::Idle::kSpin;
    return options;
  }

  CudaMemory memory{0};  // outlives the NICs
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
    auto made = LiveFabric::Make(2, Options());
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
    return Check(publication, ordering, shape, sides);
  }

  bool Check(const std::string& publication, const std::string& ordering, const WorkoutShape& shape,
             const Side (&sides)[2]) {
    const uint64_t shared_at = gpu_test::SharedCounterAt(shape.threads);
    gpu_test::WorkoutRank ranks[2];
    for (uint32_t rank = 0; rank < 2; ++rank) {
      const Side& mine = sides[rank];
      const RegisteredMemory& peers = sides[1 - rank].arena;
      ranks[rank] = {gpu_test::CopyViews(mine.views.data(), shape.qps),
                     mine.arena.Local(0, mine.arena.bytes), peers.Remote(0),
                     peers.Remote(shared_at)};
    }
    std::string refusal;
    const auto begin = std::chrono::steady_clock::now();
    const gpu_test::WorkoutReport report =
        gpu_test::RunWorkout(publication, ordering, shape, ranks, &refusal);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    for (const gpu_test::WorkoutRank& rank : ranks) gpu_test::FreeViews(rank.views);
    const uint64_t each = uint64_t{shape.threads} * shape.rounds;
    const uint64_t all = 2 * each * gpu_test::kOperationsPerRound;
    const std::string what = publication + "." + ordering + ", " + std::to_string(shape.threads) +
                             " threads, " + std::to_string(shape.qps) + " QPs: ";
    BOOST_TEST_MESSAGE(what << all << " operations in " << took.count() << " s");
    if (!refusal.empty()) return Says(what + refusal);
    if (report.failed != 0) {
      return Says(what + std::to_string(report.failed) + " threads failed, one with status " +
                  std::to_string(static_cast<int>(report.error.status)) + ", syndrome " +
                  std::to_string(report.error.syndrome) + " at WQE " +
                  std::to_string(report.error.wqe_index));
    }
    if (report.wrong_gets + report.wrong_puts + report.wrong_counters != 0) {
      return Says(what + std::to_string(report.wrong_gets) + " gets, " +
                  std::to_string(report.wrong_puts) + " puts and " +
                  std::to_string(report.wrong_counters) + " counters are wrong");
    }
    for (const Side& side : sides) {
      uint64_t counter = 0;
      const uint64_t at = reinterpret_cast<uint64_t>(&counter);
      const auto copied = memory.Copy(at, side.arena.address + shared_at, sizeof(counter));
      if (!copied.Ok()) return Says(copied.Message());
      if (counter != each) return Says(what + "the shared counter is " + std::to_string(counter));
    }
    operations += all;
    return report.finished == 2ull * shape.threads;
  }

  static bool Says(const std::string& what) {
    BOOST_TEST_MESSAGE(what);
    said = what;
    return false;
  }

  // A thread for each QP, and a doorbell for each operation or each batch.
  void RunOwned(const std::string& publication, const std::string& ordering, Placement placement) {
    for (const WorkoutShape& shape : {WorkoutShape{1, 1, 1000}, {16, 16, 400}, {64, 64, 600}}) {
      const QpSpec spec{.placement = placement, .batch = 16, .timeout_ps = kHangGuardPs};
      BOOST_TEST(Run(publication, ordering, placement, shape, spec), said);
    }
  }

  // Threads that share QPs: a warp, eight warps, half the GPU's.
  void RunShared(const std::string& publication, const std::string& ordering, Placement placement) {
    for (const WorkoutShape& shape :
         {WorkoutShape{1, 1, 500}, {32, 1, 200}, {1024, 4, 8}, {2048, 1, 4}, {4096, 64, 7}}) {
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

BOOST_AUTO_TEST_CASE(ThreadsThatOwnTheirQpReachThePeerInEveryOrdering) {
  for (const char* ordering : {"gpu_fence", "gpu_fence_dbrec", "gpu_release", "threadfence",
                               "system_release", "system_fence"}) {
    RunOwned("per_thread", ordering, Placement::kHost);
  }
}

BOOST_AUTO_TEST_CASE(BatchesReachThePeerInEveryOrdering) {
  for (const char* ordering : {"gpu_fence", "gpu_release", "system_fence"}) {
    RunOwned("batched", ordering, Placement::kHost);
  }
}

BOOST_AUTO_TEST_CASE(ThreadsThatHandOnTheirSlotsReachThePeerInEveryOrdering) {
  for (const char* ordering : {"gpu_fence", "gpu_release", "system_fence"}) {
    RunShared("ordered_handoff", ordering, Placement::kHost);
  }
}

BOOST_AUTO_TEST_CASE(ThreadsThatLockTheDoorbellReachThePeerInEveryOrdering) {
  for (const char* ordering : {"gpu_fence", "gpu_release", "system_fence"}) {
    RunShared("locked", ordering, Placement::kHost);
  }
}

BOOST_AUTO_TEST_CASE(WarpsThatPostTogetherReachThePeerInEveryOrdering) {
  for (const char* ordering : {"gpu_fence", "gpu_release", "system_fence"}) {
    RunShared("cooperative", ordering, Placement::kHost);
  }
}

BOOST_AUTO_TEST_CASE(TheLastOfManyWritersRingsForAllInEveryOrdering) {
  for (const char* ordering : {"gpu_fence", "threadfence", "system_fence"}) {
    RunShared("last_writer", ordering, Placement::kHost);
  }
}

BOOST_AUTO_TEST_CASE(APutWithAKeyThatThePeerNeverGaveEndsInAnErrorOnTheGpu) {
  auto fabric = LiveFabric::Make(2, Options());
  BOOST_REQUIRE(fabric.Ok());
  const QpSpec spec{.placement = Placement::kHost, .timeout_ps = kHangGuardPs};
  const QpView view = fabric.Value()->ConnectPair(0, 1, spec).Value().first;
  const RegisteredMemory target = fabric.Value()->nic(1).Allocate(Placement::kHost, 64).Value();
  const QpView* views = gpu_test::CopyViews(&view, 1);
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
  const QpView* views = gpu_test::CopyViews(&view, 1);
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

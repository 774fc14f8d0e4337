// Kernels post to live NICs: one GPU as two ranks, each with a NIC of this process.
#include <fmt/format.h>

#include <boost/test/unit_test.hpp>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "backends/live/live_fabric.h"
#include "sim/service/fabric_segment.h"
#include "tests/gpu/live_workout.h"
#include "tests/gpu/needs_gpu.h"
#include "tests/gpu/workout_ranks.h"
#include "transport/abi/cqe.h"
#include "transport/memory/gpu_agent.h"

namespace ringpost {
namespace {

using boost::unit_test::precondition;

class LiveRanks final : public gpu_test::RankNics {
 public:
  explicit LiveRanks(std::unique_ptr<LiveFabric> fabric) : fabric_(std::move(fabric)) {}
  Nic& nic(uint32_t rank) override { return fabric_->nic(rank); }
  std::string Story() override {
    std::string text;
    for (uint32_t rank = 0; rank < 2; ++rank) {
      const auto counts = fabric_->nic(rank).Counts();
      if (!counts.Ok()) return counts.Message();
      text += fmt::format("; NIC {}:", rank);
      for (const auto& [name, value] : counts.Value()) {
        if (value != 0) text += fmt::format(" {} {}", name, value);
      }
    }
    return text;
  }

 private:
  std::unique_ptr<LiveFabric> fabric_;
};

struct LiveWorkout : gpu_test::Workout {
  LiveNicOptions Options(uint32_t rank = 0) {
    LiveNicOptions options;
    options.memory = &MemoryOf(rank);
    options.gpu_kernels = true;
    options.reach_gpu = [this, rank] { return StartGpuAgent(devices[rank], MemoryOf(rank)); };
    options.service.idle = sim::service::Idle::kSpin;
    return options;
  }

  Result<std::unique_ptr<gpu_test::RankNics>> Open() override {
    auto made = LiveFabric::Make({Options(0), Options(1)});
    if (!made.Ok()) return Error{made.Message()};
    return std::unique_ptr<gpu_test::RankNics>(new LiveRanks(std::move(made.Value())));
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(GpuLiveTest, LiveWorkout, *precondition(NeedsGpu))

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
    BOOST_TEST(Run(publication, "system_fence", Placement::kHost, {32, 1, 20}, spec), Said());
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
BOOST_AUTO_TEST_CASE(TheyWereTenMillionOperations) { BOOST_TEST(Operations() >= 10'000'000u); }

BOOST_AUTO_TEST_SUITE_END()

}  // namespace ringpost

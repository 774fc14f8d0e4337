// NICs of this process with a thread each: what goes wrong is told, and nothing is lost.
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <random>

#include "backends/live/live_fabric.h"
#include "tests/live/live_threads.h"
#include "tests/seed.h"
#include "transport/publication/ordered_handoff.h"
#include "transport/publication/per_thread.h"

namespace ringpost {
namespace {

using Owned = Endpoint<HostPort, PerThread, OrderSystemFence>;
using Shared = Endpoint<HostPort, OrderedHandoff, OrderSystemFence>;

constexpr CompletionScope kSelected = CompletionScope::kSelectedQp;
constexpr QpSpec kSpec{.placement = Placement::kHost, .timeout_ps = kHangGuardPs};

struct TwoNics {
  std::unique_ptr<LiveFabric> fabric = std::move(LiveFabric::Make(2).Value());

  std::pair<QpView, QpView> Connect(const QpSpec& spec = kSpec) {
    return fabric->ConnectPair(0, 1, spec).Value();
  }
  RegisteredMemory Allocate(uint32_t nic, uint64_t bytes) {
    return fabric->nic(nic).Allocate(Placement::kHost, bytes).Value();
  }
  // What one thread's put and quiet end with.
  Completion PutOnce(const QpView& qp, RemoteSpan target) {
    HostWarp warp(1);
    HostPort port(warp, 0);
    const QpTable table = TableOf(qp);
    Owned endpoint(port, table);
    const uint64_t value = 1;
    const Posted posted = endpoint.PutInline(target, &value, sizeof(value));
    return posted.status.Ok() ? endpoint.Quiet(kSelected) : posted.status;
  }
};

BOOST_FIXTURE_TEST_SUITE(LiveTest, TwoNics)

BOOST_AUTO_TEST_CASE(APutWithAKeyThatThePeerNeverGaveIsARemoteAccessError) {
  const auto [qp, peer] = Connect();
  const RegisteredMemory target = Allocate(1, 64);
  const Completion done = PutOnce(qp, {target.address, target.rkey ^ 0x100});
  BOOST_TEST((done.status == Status::kErrorCompletion));
  BOOST_TEST(done.syndrome == static_cast<uint8_t>(abi::Syndrome::kRemoteAccess));
  BOOST_TEST(done.qpn == qp.qpn);
  BOOST_TEST(*reinterpret_cast<uint64_t*>(target.address) == 0u);
}

BOOST_AUTO_TEST_CASE(APutToMemoryThatWasDeregisteredIsARemoteAccessError) {
  const auto [qp, peer] = Connect();
  const RegisteredMemory target = Allocate(1, 64);
  BOOST_TEST(PutOnce(qp, target.Remote(0)).Ok());
  BOOST_TEST(fabric->nic(1).Deregister(target).Ok());
  const Completion done = PutOnce(qp, target.Remote(8));
  BOOST_TEST(done.syndrome == static_cast<uint8_t>(abi::Syndrome::kRemoteAccess));
}

BOOST_AUTO_TEST_CASE(AnInjectedErrorComesWithItsSyndrome) {
  const auto [qp, peer] = Connect();
  const RegisteredMemory target = Allocate(1, 64);
  BOOST_TEST(fabric->nic(0).InjectError(qp.qpn, 1, abi::Syndrome::kLocalProtection).Ok());
  BOOST_TEST(PutOnce(qp, target.Remote(0)).Ok());
  const Completion done = PutOnce(qp, target.Remote(8));
  BOOST_TEST((done.status == Status::kErrorCompletion));
  BOOST_TEST(done.syndrome == static_cast<uint8_t>(abi::Syndrome::kLocalProtection));
  BOOST_TEST(done.wqe_index == 1u);
}

BOOST_AUTO_TEST_CASE(APutOfManyPacketsArrivesWholeThroughARingThatIsTooSmallForIt) {
  constexpr uint64_t kBytes = 4 << 20;
  const auto [qp, peer] = Connect();
  const RegisteredMemory source = Allocate(0, kBytes);
  const RegisteredMemory target = Allocate(1, kBytes);
  std::mt19937_64 random(TestSeed());
  auto* words = reinterpret_cast<uint64_t*>(source.address);
  for (uint64_t i = 0; i < kBytes / 8; ++i) words[i] = random();
  OnThreads(1, [&](HostPort& port, uint32_t) {
    const QpTable table = TableOf(qp);
    Owned endpoint(port, table);
    endpoint.Put(target.Remote(0), source.Local(0, kBytes));
    BOOST_TEST(endpoint.Quiet(kSelected).Ok());
  });
  BOOST_TEST(std::equal(words, words + kBytes / 8, reinterpret_cast<uint64_t*>(target.address)));
}

// Of each thread on each QP. RINGPOST_LIVE_ROUNDS=20000 runs for minutes.
uint64_t Rounds() {
  const char* wanted = std::getenv("RINGPOST_LIVE_ROUNDS");
  return wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 10;
}

BOOST_AUTO_TEST_CASE(FourThreadsOnSixtyFourSharedQpsLoseNothing) {
  constexpr uint32_t kQps = 64, kThreads = 4;
  constexpr uint64_t kPuts = 8;  // of a round, each to a word of its own
  QpSpec spec = kSpec;
  spec.shared = true;
  spec.depth_wqebbs = 16;
  std::vector<QpView> qps;
  for (uint32_t i = 0; i < kQps; ++i) qps.push_back(Connect(spec).first);
  const RegisteredMemory target = Allocate(1, kQps * kThreads * kPuts * 8);
  const auto offset = [](uint64_t qp, uint64_t thread, uint64_t put) {
    return ((qp * kThreads + thread) * kPuts + put) * 8;
  };
  const uint64_t rounds = Rounds();
  std::atomic<uint64_t> failed{0}, lost{0};
  OnThreads(kThreads, [&](HostPort& port, uint32_t thread) {
    for (uint64_t round = 1; round <= rounds && failed == 0; ++round) {
      const auto each = [&](auto&& visit) {
        for (uint64_t put = 0; put < kPuts; ++put) {
          for (uint64_t qp = 0; qp < kQps; ++qp) visit(qp, offset(qp, thread, put));
        }
      };
      each([&](uint64_t qp, uint64_t at) {
        const QpTable table = TableOf(qps[qp]);
        Shared endpoint(port, table);
        const uint64_t value = round << 32 | at;
        failed += !endpoint.PutInline(target.Remote(at), &value, sizeof(value)).status.Ok();
      });
      for (const QpView& qp : qps) {
        const QpTable table = TableOf(qp);
        Shared endpoint(port, table);
        failed += !endpoint.Quiet(kSelected).Ok();
      }
      each([&](uint64_t, uint64_t at) {
        const Ref<uint64_t> word{target.address + at};
        lost += port.Load<Order::kAcquire, Scope::kSystem>(word) != (round << 32 | at);
      });
    }
  });
  BOOST_TEST(failed == 0u);
  BOOST_TEST(lost == 0u);
  const uint64_t puts = rounds * kQps * kThreads * kPuts;
  BOOST_TEST(fabric->nic(0).Counters().Value().nic.wqes == puts);
  BOOST_TEST_MESSAGE(puts << " puts, none lost");
}

BOOST_AUTO_TEST_CASE(GpuPlacementIsRefusedWhereThereIsNoGpuMemory) {
  auto segment = std::move(sim::service::FabricSegment::InProcess(256).Value());
  auto nic = LiveNic::Open(*segment, {});
  BOOST_TEST_REQUIRE(nic.Ok());
  BOOST_TEST(!nic.Value()->Allocate(Placement::kGpu, 64).Ok());
  BOOST_TEST(!nic.Value()->CreateQp({}).Ok());
}

BOOST_AUTO_TEST_CASE(AQpIsDestroyedOnceAndOthersGoOn) {
  const Result<QpAddress> qp = fabric->nic(0).CreateQp(kSpec);
  BOOST_TEST(fabric->nic(0).DestroyQp(qp.Value()).Ok());
  BOOST_TEST(!fabric->nic(0).DestroyQp(qp.Value()).Ok());
  BOOST_TEST(!fabric->nic(0).View(qp.Value()).Ok());
  const RegisteredMemory target = Allocate(1, 64);
  BOOST_TEST(PutOnce(Connect().first, target.Remote(0)).Ok());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace ringpost

// Proxies over NICs of this process: real producers, real workers, real NIC threads.
#include <pthread.h>
#include <sched.h>

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <vector>

#include "backends/live/live_fabric.h"
#include "tests/live/live_threads.h"
#include "transport/proxy/endpoint.h"
#include "transport/proxy/proxy_nic.h"
#include "transport/proxy/worker_threads.h"

namespace ringpost {
namespace {

template <class Handoff>
using Producer = Endpoint<HostPort, Proxied<Handoff>, OrderSystemRelease>;

constexpr CompletionScope kSelected = CompletionScope::kSelectedQp;
constexpr QpSpec kSpec{.depth_wqebbs = 64, .timeout_ps = kHangGuardPs};

// Two NICs, and a proxy for the first.
struct ProxyPair {
  explicit ProxyPair(const proxy::ProxySpec& spec) : proxy(fabric->nic(0), spec) {}

  QpView Connect(const QpSpec& spec = kSpec) {
    const QpAddress ring = proxy.CreateQp(spec).Value();
    const QpAddress peer = fabric->nic(1).CreateQp(spec).Value();
    BOOST_TEST_REQUIRE(proxy.Connect(ring, peer).Ok());
    BOOST_TEST_REQUIRE(fabric->nic(1).Connect(peer, ring).Ok());
    return proxy.View(ring).Value();
  }
  RegisteredMemory Allocate(uint32_t nic, uint64_t bytes) {
    return fabric->nic(nic).Allocate(Placement::kHost, bytes).Value();
  }
  void Start(const proxy::Affinity& affinity = {}) {
    BOOST_TEST_REQUIRE(workers.Start(proxy, affinity) == "");
  }

  std::unique_ptr<LiveFabric> fabric = std::move(LiveFabric::Make(2).Value());
  proxy::ProxyNic proxy;
  proxy::WorkerThreads workers;
};

uint64_t Word(const RegisteredMemory& memory, uint64_t i) {
  return reinterpret_cast<const uint64_t*>(memory.address)[i];
}

// `threads` producers put numbers in turn to 16 words each, through rings of `per_ring`.
template <class Handoff>
void PutNumbers(uint32_t threads, uint32_t per_ring, const proxy::ProxySpec& spec, uint64_t puts) {
  ProxyPair pair(spec);
  const RegisteredMemory target = pair.Allocate(1, threads * 128);
  std::vector<QpView> rings;
  QpSpec qp = kSpec;
  qp.shared = per_ring > 1;
  for (uint32_t i = 0; i < threads / per_ring; ++i) rings.push_back(pair.Connect(qp));
  pair.Start();
  std::vector<Completion> ended(threads);
  OnThreads(threads, [&](HostPort& port, uint32_t thread) {
    const QpTable table = TableOf(rings[thread / per_ring]);
    Producer<Handoff> endpoint(port, table);
    for (uint64_t i = 0; i < puts; ++i) {
      const uint64_t value = thread << 24 | i;
      ended[thread] = endpoint.PutValue(target.Remote(thread * 128 + i % 16 * 8), value).status;
      if (!ended[thread].Ok()) return;
    }
    ended[thread] = endpoint.Quiet(kSelected);
  });
  for (uint32_t thread = 0; thread < threads; ++thread) {
    BOOST_TEST(ended[thread].Ok());
    for (uint64_t i = puts - 16; i < puts; ++i) {
      BOOST_TEST(Word(target, thread * 16 + i % 16) == (uint64_t{thread} << 24 | i));
    }
  }
  pair.workers.Stop();
  uint64_t operations = 0;
  for (uint32_t worker = 0; worker < spec.workers; ++worker) {
    operations += pair.proxy.ShareOf(worker).operations;
  }
  BOOST_TEST(operations == threads * puts);
}

BOOST_AUTO_TEST_CASE(NumbersOfFourTunedRingsArriveByOneWorker) {
  PutNumbers<proxy::Tuned>(4, 1, {.workers = 1, .batch = 16}, 5000);
}

BOOST_AUTO_TEST_CASE(NumbersOfFourTunedRingsArriveByTwoWorkers) {
  PutNumbers<proxy::Tuned>(4, 1, {.workers = 2, .batch = 1}, 5000);
}

BOOST_AUTO_TEST_CASE(NumbersOfFourThreadsOnTwoBaselineRingsArrive) {
  PutNumbers<proxy::Baseline>(4, 2, {.workers = 2, .batch = 8}, 5000);
}

BOOST_AUTO_TEST_CASE(WorkersThatRingByBlueFlameCarryTheSame) {
  PutNumbers<proxy::Tuned>(2, 1, {.workers = 1, .batch = 4, .doorbell = DoorbellMode::kBlueFlame},
                           3000);
}

// Each message has a word of its own. With RINGPOST_SCENARIOS=full ten million of them.
template <class Handoff>
void PutToEachWord(uint32_t threads, uint32_t per_ring, const proxy::ProxySpec& spec) {
  const char* size = std::getenv("RINGPOST_SCENARIOS");
  const bool full = size != nullptr && std::string_view(size) == "full";
  const uint64_t puts = (full ? 10'000'000 : 40'000) / threads;
  ProxyPair pair(spec);
  const RegisteredMemory target = pair.Allocate(1, threads * puts * 8);
  std::vector<QpView> rings;
  QpSpec qp = kSpec;
  qp.depth_wqebbs = 1024;
  qp.shared = per_ring > 1;
  for (uint32_t i = 0; i < threads / per_ring; ++i) rings.push_back(pair.Connect(qp));
  pair.Start();
  std::vector<Completion> ended(threads);
  OnThreads(threads, [&](HostPort& port, uint32_t thread) {
    const QpTable table = TableOf(rings[thread / per_ring]);
    Producer<Handoff> endpoint(port, table);
    for (uint64_t i = 0; i < puts; ++i) {
      const uint64_t at = thread * puts + i;
      ended[thread] = endpoint.PutValue(target.Remote(8 * at), ~at).status;
      if (!ended[thread].Ok()) return;
    }
    ended[thread] = endpoint.Quiet(kSelected);
  });
  for (const Completion& done : ended) BOOST_TEST(done.Ok());
  uint64_t wrong = 0;
  for (uint64_t at = 0; at < threads * puts; ++at) wrong += Word(target, at) != ~at;
  BOOST_TEST(wrong == 0u);
  BOOST_TEST_MESSAGE(threads * puts << " messages verified");
}

BOOST_AUTO_TEST_CASE(EachMessageOfTwoTunedRingsIsThere) {
  PutToEachWord<proxy::Tuned>(2, 1, {.workers = 2, .batch = 16});
}

BOOST_AUTO_TEST_CASE(EachMessageOfABaselineRingIsThere) {
  PutToEachWord<proxy::Baseline>(2, 2, {.workers = 1, .batch = 16});
}

// All are in the ring before the worker begins.
BOOST_AUTO_TEST_CASE(AChainOf16OperationsIsOneDoorbell) {
  ProxyPair pair({.batch = 16});
  const QpView ring = pair.Connect();
  const RegisteredMemory target = pair.Allocate(1, 64);
  HostWarp warp(1);
  HostPort port(warp, 0);
  const QpTable table = TableOf(ring);
  Producer<proxy::Tuned> endpoint(port, table);
  for (uint64_t i = 0; i < 32; ++i) endpoint.PutValue(target.Remote(0), i);
  pair.Start();
  BOOST_TEST(endpoint.Flush().Ok());
  pair.workers.Stop();
  BOOST_TEST(Word(target, 0) == 31u);
  BOOST_TEST(pair.proxy.ShareOf(0).operations == 32u);
  BOOST_TEST(pair.proxy.ShareOf(0).doorbells == 2u);
}

BOOST_AUTO_TEST_CASE(AWaitForAWorkerThatHasEndedComesBackAndAnotherWorkerGoesOn) {
  ProxyPair pair({});
  QpSpec spec = kSpec;
  spec.timeout_ps = 20'000'000'000;
  const QpView ring = pair.Connect(spec);
  const RegisteredMemory target = pair.Allocate(1, 64);
  HostWarp warp(1);
  HostPort port(warp, 0);
  const QpTable table = TableOf(ring);
  Producer<proxy::Tuned> endpoint(port, table);
  pair.Start();
  BOOST_TEST(endpoint.Wait(endpoint.PutValue(target.Remote(0), uint64_t{1})).Ok());
  pair.workers.Stop();
  const Posted posted = endpoint.PutValue(target.Remote(0), uint64_t{2});
  BOOST_TEST(posted.status.Ok());
  BOOST_TEST((endpoint.Wait(posted).status == Status::kTimeout));
  // A full ring keeps nobody for ever either.
  Posted more;
  while ((more = endpoint.PutValue(target.Remote(8), uint64_t{3})).status.Ok()) {
  }
  BOOST_TEST((more.status.status == Status::kTimeout));
  BOOST_TEST(Word(target, 0) == 1u);
  pair.Start();
  BOOST_TEST(endpoint.Wait(posted).Ok());
  BOOST_TEST(Word(target, 0) == 2u);
}

BOOST_AUTO_TEST_CASE(AnErrorOfOneRingLeavesTheOthersOfItsWorkerAlone) {
  ProxyPair pair({});
  const QpView rings[] = {pair.Connect(), pair.Connect()};
  const RegisteredMemory target = pair.Allocate(1, 64);
  BOOST_TEST_REQUIRE(
      pair.fabric->nic(0).InjectError(rings[0].qpn, 1, abi::Syndrome::kLocalProtection).Ok());
  pair.Start();
  HostWarp warp(1);
  HostPort port(warp, 0);
  const QpTable tables[] = {TableOf(rings[0]), TableOf(rings[1])};
  Producer<proxy::Tuned> bad(port, tables[0]);
  Producer<proxy::Tuned> good(port, tables[1]);
  const Posted first = bad.PutValue(target.Remote(0), uint64_t{1});
  BOOST_TEST(bad.Wait(first).Ok());
  const Completion failed = bad.Wait(bad.PutValue(target.Remote(0), uint64_t{2}));
  BOOST_TEST((failed.status == Status::kErrorCompletion));
  BOOST_TEST(failed.syndrome == static_cast<uint8_t>(abi::Syndrome::kLocalProtection));
  BOOST_TEST(failed.qpn == rings[0].qpn);
  BOOST_TEST(bad.Wait(first).Ok());
  BOOST_TEST(good.Wait(good.PutValue(target.Remote(8), uint64_t{3})).Ok());
  BOOST_TEST(Word(target, 1) == 3u);
}

BOOST_AUTO_TEST_CASE(AnOperationThatTheWorkerCannotPostFailsInsteadOfBeingLost) {
  ProxyPair pair({});
  const QpView ring = pair.Connect();
  const RegisteredMemory target = pair.Allocate(1, 64);
  pair.Start();
  HostWarp warp(1);
  HostPort port(warp, 0);
  QpView lies = ring;
  lies.max_inline = 220;  // the worker's queue takes 28
  const QpTable table = TableOf(lies);
  Producer<proxy::Tuned> endpoint(port, table);
  const uint8_t payload[100] = {};
  const Completion done = endpoint.Wait(endpoint.PutInline(target.Remote(0), payload, 100));
  BOOST_TEST((done.status == Status::kInvalidArgument));
}

BOOST_AUTO_TEST_CASE(WorkersTakeTheirCoresAndLeaveThoseOfTheCallerAlone) {
  cpu_set_t before, after;
  BOOST_TEST_REQUIRE(pthread_getaffinity_np(pthread_self(), sizeof(before), &before) == 0);
  ProxyPair pair({.workers = 2});
  const QpView ring = pair.Connect();
  const RegisteredMemory target = pair.Allocate(1, 64);
  uint32_t core = 0;
  while (!CPU_ISSET(core, &before)) ++core;
  pair.Start({proxy::Affinity::Kind::kCores, {core}, {}});
  HostWarp warp(1);
  HostPort port(warp, 0);
  const QpTable table = TableOf(ring);
  Producer<proxy::Tuned> endpoint(port, table);
  BOOST_TEST(endpoint.Wait(endpoint.PutValue(target.Remote(0), uint64_t{1})).Ok());
  BOOST_TEST_REQUIRE(pthread_getaffinity_np(pthread_self(), sizeof(after), &after) == 0);
  BOOST_TEST(CPU_EQUAL(&before, &after));
}

BOOST_AUTO_TEST_CASE(ACoreThatIsNotOursIsRefusedInOneLine) {
  ProxyPair pair({});
  const std::string wrong =
      pair.workers.Start(pair.proxy, {proxy::Affinity::Kind::kCores, {1023}, {}});
  BOOST_TEST(wrong == "proxy workers cannot run on core 1023: this process may not use it");
}

BOOST_AUTO_TEST_CASE(AListOfCoresHasNumbersAndRanges) {
  BOOST_TEST((proxy::CoresIn("0,2-4,7") == std::vector<uint32_t>{0, 2, 3, 4, 7}));
  for (const char* wrong : {"", "a", "1-", "3-1", "1,,2", "1;2", "-1"}) {
    BOOST_TEST(proxy::CoresIn(wrong).empty(), wrong);
  }
}

}  // namespace
}  // namespace ringpost

// Scenarios on the live NIC: real threads, real time. Times are hang guards alone.
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cstring>

#include "backends/live/live_fabric.h"
#include "tests/live/live_threads.h"
#include "tests/scenarios/raw_post.h"
#include "transport/publication/batched.h"
#include "transport/publication/ordered_handoff.h"

namespace ringpost {
namespace {

template <class Publication = PerThread>
using LiveEndpoint = Endpoint<HostPort, Publication, OrderSystemFence>;

constexpr auto kThisQp = CompletionScope::kSelectedQp;
constexpr uint64_t kBytes = 1 << 18;

QpSpec SpecOf(uint32_t depth, uint32_t batch = 1, bool shared = false) {
  return {.depth_wqebbs = depth,
          .placement = Placement::kHost,
          .batch = batch,
          .shared = shared,
          .timeout_ps = kHangGuardPs};
}

struct LivePair {
  explicit LivePair(const LiveNicOptions& options = {})
      : fabric(std::move(LiveFabric::Make(2, options).Value())) {
    local = fabric->nic(0).Allocate(Placement::kHost, kBytes).Value();
    remote = fabric->nic(1).Allocate(Placement::kHost, kBytes).Value();
  }
  QpView Connect(const QpSpec& spec) { return fabric->ConnectPair(0, 1, spec).Value().first; }
  static uint64_t& Word(const RegisteredMemory& memory, uint64_t offset = 0) {
    return *reinterpret_cast<uint64_t*>(memory.address + offset);
  }
  // `body(port)` on a thread of its own.
  template <class Body>
  void RunOne(Body&& body) {
    OnThreads(1, [&](HostPort& port, uint32_t) { body(port); });
  }

  std::unique_ptr<LiveFabric> fabric;
  RegisteredMemory local, remote;
};

}  // namespace

// O-01: the index of a WQE passes 65,536.
BOOST_AUTO_TEST_CASE(PutsGoOnWhereTheIndexOfAWqeWrapsInRealTime) {
  LivePair f;
  const QpView qp = f.Connect(SpecOf(128, 32));
  constexpr uint64_t kPuts = 70'000;
  f.RunOne([&](HostPort& port) {
    const QpTable table = TableOf(qp);
    LiveEndpoint<Batched> endpoint(port, table);
    uint64_t refused = 0;
    for (uint64_t i = 0; i < kPuts; ++i) {
      refused += endpoint.PutInline(f.remote.Remote(i % 128 * 8), &i, 8).status.Ok() ? 0 : 1;
    }
    BOOST_TEST(endpoint.Quiet(kThisQp).Ok());
    BOOST_TEST(refused == 0u);
  });
  for (uint64_t slot = 0; slot < 128; ++slot) {
    BOOST_REQUIRE_EQUAL(LivePair::Word(f.remote, slot * 8), (kPuts - 1 - slot) / 128 * 128 + slot);
  }
}

// O-07: fewer puts than a batch, and a quiet.
BOOST_AUTO_TEST_CASE(AQuietEndsOnLiveQpsThatNeverFilledABatch) {
  LivePair f;
  for (uint64_t qps = 0; qps < 8; ++qps) {
    const QpView qp = f.Connect(SpecOf(256, 64));
    f.RunOne([&](HostPort& port) {
      const QpTable table = TableOf(qp);
      LiveEndpoint<Batched> endpoint(port, table);
      for (uint64_t i = 0; i < 63; ++i) endpoint.Put(f.remote.Remote(0), f.local.Local(0, 32));
      BOOST_TEST(endpoint.Quiet(kThisQp).Ok());
    });
  }
}

// O-09: a queue that is made where another was reads empty, and starts at index 0.
BOOST_AUTO_TEST_CASE(AQueueMadeWhereAnotherWasStartsEmpty) {
  LivePair f;
  LiveNic& nic = f.fabric->nic(0);
  for (uint64_t round = 1; round <= 20; ++round) {
    const QpAddress a = nic.CreateQp(SpecOf(8)).Value();
    const QpAddress b = f.fabric->nic(1).CreateQp(SpecOf(8)).Value();
    BOOST_TEST_REQUIRE(nic.Connect(a, b).Ok());
    BOOST_TEST_REQUIRE(f.fabric->nic(1).Connect(b, a).Ok());
    const QpView qp = nic.View(a).Value();
    f.RunOne([&](HostPort& port) {
      const QpTable table = TableOf(qp);
      LiveEndpoint<> endpoint(port, table);
      BOOST_TEST(endpoint.Quiet(kThisQp).Ok());
      for (uint64_t i = 0; i < round; ++i) endpoint.PutInline(f.remote.Remote(0), &round, 8);
      const Completion done = endpoint.Quiet(kThisQp);
      BOOST_TEST(done.Ok());
      BOOST_TEST(done.wqe_index == round - 1);
    });
    BOOST_TEST(LivePair::Word(f.remote) == round);
    BOOST_TEST(nic.DestroyQp(a).Ok());
    BOOST_TEST(f.fabric->nic(1).DestroyQp(b).Ok());
  }
}

// O-10 and O-11: threads that share a QP get, quiet and read, each its own word.
BOOST_AUTO_TEST_CASE(AQuietCoversTheCallersOwnGetOnASharedLiveQp) {
  constexpr uint32_t kThreads = 4;
  constexpr uint64_t kRounds = 500;
  LivePair f;
  const QpView qp = f.Connect(SpecOf(64, 4, true));
  for (uint64_t i = 0; i < kThreads; ++i) LivePair::Word(f.remote, i * 8) = 1000 + i;
  std::atomic<uint64_t> wrong{0};
  OnThreads(kThreads, [&](HostPort& port, uint32_t thread) {
    const QpTable table = TableOf(qp);
    LiveEndpoint<OrderedHandoff> endpoint(port, table);
    const uint64_t at = f.local.address + thread * 64;
    for (uint64_t round = 0; round < kRounds; ++round) {
      const uint64_t poison = 0xdead;
      port.StorePayload(at, &poison, 8);
      endpoint.Get(f.local.Local(thread * 64, 8), f.remote.Remote(thread * 8));
      wrong += endpoint.Quiet(kThisQp).Ok() ? 0 : 1;
      uint64_t found = 0;
      port.LoadPayload(&found, at, 8);
      wrong += found == 1000 + thread ? 0 : 1;
    }
  });
  BOOST_TEST(wrong == 0u);
}

// O-21: the same values as in virtual time.
BOOST_AUTO_TEST_CASE(LiveAtomicsGiveTheOldWordBackInTheHostsOrder) {
  LivePair f;
  const QpView qp = f.Connect(SpecOf(64));
  uint64_t& word = LivePair::Word(f.remote);
  word = 0x0102030405060708;
  f.RunOne([&](HostPort& port) {
    const auto old_of = [&](const Posted& posted) {
      BOOST_TEST(WaitFor<OrderSystemFence>(port, qp, posted).Ok());
      uint64_t result = 0;
      port.LoadPayload(&result, f.local.address, 8);
      return result;
    };
    const LocalSpan old = f.local.Local(0, 8);
    BOOST_TEST(old_of(PostFetchAdd<OrderSystemFence>(port, qp, f.remote.Remote(0), old, 0x10)) ==
               0x0102030405060708u);
    BOOST_TEST(word == 0x0102030405060718u);
    BOOST_TEST(old_of(PostCompareSwap<OrderSystemFence>(port, qp, f.remote.Remote(0), old, 7, 1)) ==
               0x0102030405060718u);
    BOOST_TEST(word == 0x0102030405060718u);
    BOOST_TEST(old_of(PostCompareSwap<OrderSystemFence>(port, qp, f.remote.Remote(0), old,
                                                        0x0102030405060718, 5)) ==
               0x0102030405060718u);
    BOOST_TEST(word == 5u);
    BOOST_TEST(abi::Swap32(static_cast<uint32_t>(old_of(PostFetchAdd32<OrderSystemFence>(
                   port, qp, f.remote.Remote(4), f.local.Local(0, 4), 2)))) == 0u);
    BOOST_TEST(word == 0x0000000200000005u);
  });
}

// O-25: no port of InfiniBand has LID 0.
BOOST_AUTO_TEST_CASE(LidZeroIsRefusedWhenALiveQpConnects) {
  LivePair f;
  const QpAddress made = f.fabric->nic(0).CreateQp(SpecOf(8)).Value();
  const Result<bool> connected = f.fabric->nic(0).Connect(made, {0, made.qpn});
  BOOST_TEST_REQUIRE(!connected.Ok());
  BOOST_TEST(connected.Message() ==
             "port 1 (InfiniBand): LID 0 is no port's; exchange the address that CreateQp gave");
}

// O-33: nothing moves, and its signal arrives.
BOOST_AUTO_TEST_CASE(LivePutsOfNothingCompleteAndTheirSignalsArrive) {
  LivePair f;
  const QpView qp = f.Connect(SpecOf(64));
  f.RunOne([&](HostPort& port) {
    const QpTable table = TableOf(qp);
    LiveEndpoint<> endpoint(port, table);
    for (uint64_t i = 1; i <= 1000; ++i) {
      endpoint.PutSignal(f.remote.Remote(64), {0, 0, 0}, f.remote.Remote(0), i);
    }
    BOOST_TEST(endpoint.Quiet(kThisQp).Ok());
  });
  BOOST_TEST(LivePair::Word(f.remote) == 1000u);
  BOOST_TEST(LivePair::Word(f.remote, 64) == 0u);
}

// O-34: what lies beyond a region stays as it is, and the next put on the QP is flushed.
BOOST_AUTO_TEST_CASE(ALivePutOutOfRangeFailsAndMovesNothing) {
  LivePair f;
  LivePair::Word(f.local) = ~0ull;
  const uint64_t end = f.remote.address + kBytes;
  for (const RemoteSpan& target :
       {RemoteSpan{end - 7, f.remote.rkey}, RemoteSpan{f.remote.address - 1, f.remote.rkey},
        RemoteSpan{~0ull - 7, f.remote.rkey},
        RemoteSpan{f.remote.address, f.remote.rkey ^ 0x100}}) {
    const QpView qp = f.Connect(SpecOf(8));
    f.RunOne([&](HostPort& port) {
      const QpTable table = TableOf(qp);
      LiveEndpoint<> endpoint(port, table);
      const Completion done = endpoint.Wait(endpoint.Put(target, f.local.Local(0, 16)));
      BOOST_TEST(int{done.syndrome} == 0x13);
      const Completion next = endpoint.Wait(endpoint.Put(f.remote.Remote(64), f.local.Local(0, 8)));
      BOOST_TEST((next.status == Status::kErrorCompletion));
    });
    const auto* bytes = reinterpret_cast<const char*>(f.remote.address);
    BOOST_TEST(std::count(bytes, bytes + kBytes, 0) == static_cast<int64_t>(kBytes));
  }
}

// O-43: QPs run out, are named, and come back.
BOOST_AUTO_TEST_CASE(LiveQpsThatRunOutAreNamedAndComeBackWhenTheyAreDestroyed) {
  LiveNicOptions options;
  options.nic.limits.qps = options.nic.limits.cqs = 100;
  LivePair f(options);
  LiveNic& nic = f.fabric->nic(0);
  for (int round = 0; round < 3; ++round) {
    std::vector<QpAddress> made;
    for (;;) {
      const Result<QpAddress> qp = nic.CreateQp(SpecOf(8));
      if (!qp.Ok()) {
        BOOST_TEST(qp.Message() ==
                   "a CQ count of 101 is beyond this NIC's limit of 100; make fewer, or destroy "
                   "some first");
        break;
      }
      made.push_back(qp.Value());
    }
    BOOST_TEST(made.size() == 100u);
    for (const QpAddress& qp : made) BOOST_TEST(nic.DestroyQp(qp).Ok());
  }
}

}  // namespace ringpost

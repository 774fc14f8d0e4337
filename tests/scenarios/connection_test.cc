// Connections: addresses, MTUs and timers that do not fit, many QPs, groups of callers.
#include <boost/test/unit_test.hpp>
#include <functional>

#include "sim/nic/bring_up.h"
#include "tests/scenarios/scenario.h"

namespace ringpost {
namespace {

using enum sim::FaultKind;
using enum sim::FaultWhere;
using Change = std::function<void(sim::QpAttributes&)>;

// Brings a QP of `node` to RTS with attributes of the test's own; the refusal, if there is one.
std::string ConnectWith(Fabric& fabric, uint32_t node, const QpAddress& local,
                        const QpAddress& peer, const Change& change) {
  sim::Rnic& nic = fabric.Node(node).Function();
  sim::QpAttributes attributes =
      sim::UsualAttributes(sim::NicNode::AddressOf(peer.node), peer.qpn, nic.Config());
  change(attributes);
  return sim::BringUp(attributes, [&](const sim::QpAttributes& step, uint32_t mask) {
    return nic.ModifyQp(local.qpn, step, mask);
  });
}

// A pair of QPs whose ends have been changed, beside the fixture's own.
struct OddPair : FabricFixture {
  OddPair(const Change& first, const Change& second, const FabricOptions& options = {})
      : FabricFixture(options),
        a(fabric.nic(0).CreateQp({}).Value()),
        b(fabric.nic(1).CreateQp({}).Value()) {
    BOOST_TEST(ConnectWith(fabric, 0, a, b, first) == "");
    BOOST_TEST(ConnectWith(fabric, 1, b, a, second) == "");
    view = fabric.nic(0).View(a).Value();
    odd = {&view, 1, 0, 1, 0};
  }
  QpAddress a, b;
  QpView view;
  QpTable odd;
};

// How long 64 sends into 20 receives take, where the responder asks for a pause of code `timer`.
// The target's software posts the missing receives 100 us after the start. RNR NAKs are counted.
uint64_t TimeOfBurst(uint8_t timer, uint64_t* naks) {
  constexpr uint32_t kSends = 64, kReady = 20;
  FabricFixture f;
  const RegisteredMemory queue =
      f.fabric.nic(1).Allocate(Placement::kGpu, kSends * 16 + 64).Value();
  const uint64_t record = queue.address + kSends * 16;
  for (uint64_t i = 0; i < kSends; ++i) {
    const abi::Segment receive = abi::DataOf(64, f.remote.lkey, f.remote.address + i * 64);
    f.fabric.Poke(queue.address + i * 16, &receive, sizeof(receive));
  }
  const auto announce = [&](uint32_t receives) {
    const uint32_t word = abi::Swap32(receives);
    f.fabric.Poke(record, &word, sizeof(word));
  };
  announce(kReady);
  const sim::QpContext& like = *f.fabric.Node(1).Function().FindQp(f.qps.second.qpn);
  sim::RnicQpConfig config;
  config.pd = like.pd;
  config.send_cq = config.receive_cq = like.receive_cq->cqn;
  config.record = record;
  config.rq = {queue.address, 0, kSends, 16, false};
  const QpAddress target{1, f.fabric.Node(1).CreateQp(config).number};
  const QpAddress sender = f.fabric.nic(0).CreateQp({}).Value();
  const auto with_timer = [timer](sim::QpAttributes& to) { to.min_rnr_timer = timer; };
  BOOST_TEST(ConnectWith(f.fabric, 1, target, sender, with_timer) == "");
  BOOST_TEST(ConnectWith(f.fabric, 0, sender, target, with_timer) == "");
  const QpView view = f.fabric.nic(0).View(sender).Value();
  uint64_t end = 0;
  f.fabric.Launch(0, {}, [&](SimPort& port) {
    Posted last;
    for (uint64_t i = 0; i < kSends; ++i) {
      last =
          PostRaw(port, view, abi::Opcode::kSend, {abi::DataOf(8, f.local.lkey, f.local.address)});
    }
    BOOST_TEST(WaitFor(port, view, last).Ok());
    end = port.Now();
  });
  f.fabric.Launch(1, {}, [&](SimPort& port) {
    while (port.Relax(100 * kMicrosecond)) {
    }
    announce(kSends);
  });
  const FabricRun run = f.fabric.Run();
  BOOST_TEST(run.ok, run.error);
  *naks = f.fabric.Counters(0).rnr_naks_received;
  return end;
}

Change Mtu(uint32_t bytes) {
  return [bytes](sim::QpAttributes& attributes) { attributes.path_mtu = bytes; };
}

}  // namespace

// O-08: one small CQ for very many QPs overruns in a burst, and polls hang. Here each QP has one,
// which a burst cannot overrun.
BOOST_AUTO_TEST_CASE(ABurstOfCompletionsOnManyQpsOverrunsNoCq) {
  const uint32_t count = static_cast<uint32_t>(Sized(512, 2048));
  FabricFixture f({.stack_bytes = 32 * 1024});
  const std::vector<QpPair> qps = f.fabric.ConnectPairs(0, 1, count, {.depth_wqebbs = 8});
  f.fabric.Launch(0, {count, 64, 8}, [&](SimPort& port) {
    const QpTable table{&qps[port.ThreadIndex()].first, 1, 0, 1, 0};
    TestEndpoint<> endpoint(port, table);
    endpoint.Put(f.remote.Remote(0), f.local.Local(0, 128 * 1024));
    BOOST_TEST(endpoint.Quiet(kThisQp).Ok());
  });
  const FabricRun run = f.fabric.Run();
  BOOST_TEST(run.ok, run.error);
  BOOST_TEST(f.fabric.Counters(0).cqes == count);
  BOOST_TEST(f.fabric.Counters(0).cq_overruns == 0u);
}

// O-08, forced: QPs that share a CQ of 64 entries which nobody drains. The NIC says that it
// overran, and each wait ends within its time.
BOOST_AUTO_TEST_CASE(ACqThatOverrunsIsCountedAndEndsEveryWait) {
  constexpr uint32_t kQps = 256, kEntries = 64;
  FabricFixture f({.stack_bytes = 32 * 1024});
  const std::vector<QpPair> qps =
      f.fabric.ConnectPairs(0, 1, kQps, {.depth_wqebbs = 8, .timeout_ps = kSecond / 2});
  const RegisteredMemory queue = f.fabric.nic(0).Allocate(Placement::kGpu, 65 * 64).Value();
  sim::Rnic& nic = f.fabric.Node(0).Function();
  const sim::Created cq =
      nic.CreateCq({queue.address, kEntries, queue.address + kEntries * abi::kCqeBytes});
  for (const QpPair& pair : qps) nic.FindQp(pair.first.qpn)->send_cq = nic.FindCq(cq.number);
  f.fabric.Launch(0, {kQps, 64, 8}, [&](SimPort& port) {
    const QpTable table{&qps[port.ThreadIndex()].first, 1, 0, 1, 0};
    TestEndpoint<> endpoint(port, table);
    endpoint.Put(f.remote.Remote(0), f.local.Local(0, 128 * 1024));
    BOOST_TEST((endpoint.Quiet(kThisQp).status == Status::kTimeout));
    BOOST_TEST(port.Now() < kSecond);
  });
  const FabricRun run = f.fabric.Run();
  BOOST_TEST(run.ok, run.error);
  BOOST_TEST(f.fabric.Counters(0).cqes == kEntries);
  BOOST_TEST(f.fabric.Counters(0).cq_overruns == 1u);
}

// O-08: a CQ for all QPs at their full depth is larger than any, and says so with both numbers.
BOOST_AUTO_TEST_CASE(ACqForVeryManyDeepQueuesIsRefusedWithBothNumbers) {
  Fabric fabric(PlatformIb(), FabricOptions{});
  const sim::Created cq = fabric.Node(0).Function().CreateCq({0, 16'384 * 1024});
  BOOST_TEST(cq.refusal == "a CQ size of 16777216 is beyond this NIC's limit of 4194304");
}

// O-43: QPs run out below what is advertised, and all there is to read is "cannot allocate memory".
// Here the refusal names the kind, the count, the limit and what to do; all can be destroyed, and
// fewer for each peer fit.
BOOST_AUTO_TEST_CASE(ObjectsThatRunOutAreNamedAndComeBackWhenTheyAreDestroyed) {
  constexpr uint32_t kPeers = 64, kLimit = 1000;
  for (const bool cqs_run_out : {false, true}) {
    FabricOptions options;
    (cqs_run_out ? options.nic.limits.cqs : options.nic.limits.qps) = kLimit;
    Fabric fabric(PlatformIb(), options);
    sim::Rnic& nic = fabric.Node(0).Function();
    const uint32_t pd = nic.Keys().AllocatePd();
    std::vector<std::pair<uint32_t, uint32_t>> made;  // QPN, CQN
    // As many with a CQ each; the refusal that came first.
    const auto make = [&](uint32_t count) {
      while (made.size() < count) {
        const sim::Created cq = nic.CreateCq({0, 1, 0, true, true});
        if (!cq.Ok()) return cq.refusal;
        sim::RnicQpConfig config;
        config.pd = pd;
        config.send_cq = config.receive_cq = cq.number;
        const sim::Created qp = nic.CreateQp(config);
        if (!qp.Ok()) {
          BOOST_TEST(nic.DestroyCq(cq.number) == "");
          return qp.refusal;
        }
        made.emplace_back(qp.number, cq.number);
      }
      return std::string();
    };
    for (int round = 0; round < 3; ++round) {
      BOOST_TEST(make(kPeers * 16) ==
                 std::string(cqs_run_out ? "a CQ" : "a QP") +
                     " count of 1001 is beyond this NIC's limit of 1000; make fewer, or destroy "
                     "some first");
      BOOST_TEST(made.size() == kLimit);
      for (const auto& [qpn, cqn] : made) {
        BOOST_REQUIRE_EQUAL(nic.DestroyQp(qpn), "");
        BOOST_REQUIRE_EQUAL(nic.DestroyCq(cqn), "");
        BOOST_REQUIRE(nic.FindQp(qpn) == nullptr && nic.FindCq(cqn) == nullptr);
      }
      made.clear();
    }
    BOOST_TEST(make(kPeers * 15) == "");
    BOOST_TEST(made.size() == 960u);
  }
}

// O-19: the leader of a group passes the whole group on, and lanes are waited for that never come.
// Here a policy for one thread waits for nobody, whichever lanes call it.
BOOST_AUTO_TEST_CASE(ACallOfSomeLanesWaitsForNoOthers) {
  for (const uint32_t threads : {1u, 32u, 96u, 256u}) {
    FabricFixture f({}, {.shared = true});
    f.fabric.Launch(0, {threads, threads, 1}, [&](SimPort& port) {
      if (port.ThreadIndex() % 2 != 0) return;
      TestEndpoint<OrderGpuFence, OrderedHandoff> endpoint(port, f.table);
      const uint64_t word = port.ThreadIndex() + 1;
      endpoint.PutInline(f.remote.Remote(port.ThreadIndex() * 8), &word, 8);
      BOOST_TEST(endpoint.Quiet(kThisQp).Ok());
    });
    const FabricRun run = f.fabric.Run();
    BOOST_TEST(run.ok, run.error);
    for (uint64_t i = 0; i < threads; ++i) {
      BOOST_TEST(f.fabric.Read<uint64_t>(f.remote.address + i * 8) == (i % 2 == 0 ? i + 1 : 0));
    }
  }
}

// O-25: a wrong LID is exchanged, and everything ends in retries. Here a LID of nobody is that, an
// error of the wait after the retries, and no success.
BOOST_AUTO_TEST_CASE(AConnectionToALidOfNobodyEndsInAnError) {
  for (const uint16_t lid : {uint16_t{0}, uint16_t{0x120}}) {
    OddPair f([lid](sim::QpAttributes& attributes) { attributes.address.lid = lid; }, Mtu(4096));
    const FabricRun run = f.RunOne([&](SimPort& port) {
      TestEndpoint<> endpoint(port, f.odd);
      const Completion done = endpoint.Wait(endpoint.Put(f.remote.Remote(0), f.local.Local(0, 8)));
      BOOST_TEST((done.status == Status::kErrorCompletion));
      BOOST_TEST(int{done.syndrome} == 0x15);
      BOOST_TEST(int{done.vendor_syndrome} == 0x81);
    });
    BOOST_TEST(run.ok, run.error);
    BOOST_TEST(f.fabric.Counters(0).packets_lost == f.fabric.Counters(0).packets_sent);
  }
}

// O-26: each end takes its own port's MTU. Here equal MTUs carry any size, and unequal ones are a
// remote error for what does not fit, not silence.
BOOST_AUTO_TEST_CASE(EqualMtusCarryAnySize) {
  OddPair f(Mtu(1024), Mtu(1024));
  const std::vector<uint8_t> sent = f.Pattern(65'536, 4);
  f.fabric.Poke(f.local.address, sent.data(), sent.size());
  for (const uint64_t bytes : {512, 1024, 1025, 65'536}) {
    const FabricRun run = f.RunOne([&](SimPort& port) {
      TestEndpoint<> endpoint(port, f.odd);
      endpoint.Put(f.remote.Remote(0), f.local.Local(0, bytes));
      endpoint.Get(f.local.Local(100'000, bytes), f.remote.Remote(0));
      BOOST_TEST(endpoint.Quiet(kThisQp).Ok());
    });
    BOOST_TEST(run.ok, run.error);
    const std::vector<uint8_t> part(sent.begin(), sent.begin() + static_cast<int64_t>(bytes));
    BOOST_TEST((f.BytesAt(f.remote.address, bytes) == part));
    BOOST_TEST((f.BytesAt(f.local.address + 100'000, bytes) == part));
  }
}

BOOST_AUTO_TEST_CASE(AMessageInPacketsThatTheTargetDoesNotTakeIsARemoteError) {
  OddPair f(Mtu(4096), Mtu(1024));
  const FabricRun run = f.RunOne([&](SimPort& port) {
    TestEndpoint<> endpoint(port, f.odd);
    BOOST_TEST(endpoint.Wait(endpoint.Put(f.remote.Remote(0), f.local.Local(0, 512))).Ok());
    const Completion done =
        endpoint.Wait(endpoint.Put(f.remote.Remote(0), f.local.Local(0, 65'536)));
    BOOST_TEST((done.status == Status::kErrorCompletion));
    BOOST_TEST(int{done.syndrome} == 0x12);
  });
  BOOST_TEST(run.ok, run.error);
}

// O-29: a responder that is not ready asks for a pause, and code 0 is the longest of all, 655 ms.
// Here the code is a setting, and who has to wait counts it.
BOOST_AUTO_TEST_CASE(ABurstBeyondTheReceivesStallsForTheRnrTimerAndSaysSo) {
  uint64_t naks = 0;
  BOOST_TEST(TimeOfBurst(0, &naks) >= 655 * kMillisecond);
  BOOST_TEST(naks == 1u);
  BOOST_TEST(TimeOfBurst(12, &naks) < 5 * kMillisecond);
  BOOST_TEST(naks == 1u);
}

// O-29: timers that are too short for the fabric end in errors nobody understands. Here a cut that
// is over before the last retry costs time and counts timeouts; a longer one ends the wait with
// syndrome 0x15. How long that is follows the device, or the textbook.
BOOST_AUTO_TEST_CASE(ACutLinkCostsTimeUntilTheRetriesAreUsedUp) {
  struct Case {
    sim::Behaviour behaviour;
    uint8_t timeout;
    uint64_t cut_ms;
    bool survives;
  };
  using enum sim::Behaviour;
  for (const Case& cut :
       {Case{kMlx5, 14, 300, true}, Case{kMlx5, 14, 600, true}, Case{kMlx5, 14, 4000, false},
        Case{kStrict, 14, 300, true}, Case{kStrict, 14, 600, false}, Case{kStrict, 20, 300, true},
        Case{kStrict, 20, 600, true}}) {
    FabricOptions options;
    options.nic.behaviour = cut.behaviour;
    options.faults = {FaultAt(kWire, kLinkDown, 0, cut.cut_ms * kMillisecond)};
    const auto timers = [&](sim::QpAttributes& to) { to.timeout = cut.timeout; };
    OddPair f(timers, timers, options);
    const FabricRun run = f.RunOne([&](SimPort& port) {
      TestEndpoint<> endpoint(port, f.odd);
      const uint64_t word = 9;
      const Completion done = endpoint.Wait(endpoint.PutInline(f.remote.Remote(0), &word, 8));
      BOOST_TEST(done.Ok() == cut.survives, cut.cut_ms << " ms, timeout " << int{cut.timeout});
      BOOST_TEST(int{done.syndrome} == (cut.survives ? 0 : 0x15));
      BOOST_TEST(port.Now() < 5 * kSecond);
    });
    BOOST_TEST(run.ok, run.error);
    BOOST_TEST(f.fabric.Read<uint64_t>(f.remote.address) == (cut.survives ? 9u : 0u));
    BOOST_TEST(f.fabric.Counters(0).timeouts > 0u);
  }
}

// O-29: timer codes outside their field are cut to it and mean another time. Here that is refused.
BOOST_AUTO_TEST_CASE(TimersAndRetriesOutsideTheirFieldsAreRefused) {
  const std::vector<Change> changes = {
      [](sim::QpAttributes& attributes) { attributes.timeout = 32; },
      [](sim::QpAttributes& attributes) { attributes.retry_count = 8; },
      [](sim::QpAttributes& attributes) { attributes.rnr_retry = 8; },
      [](sim::QpAttributes& attributes) { attributes.min_rnr_timer = 32; }};
  for (const Change& change : changes) {
    Fabric fabric(PlatformIb(), FabricOptions{});
    const QpAddress a = fabric.nic(0).CreateQp({}).Value();
    const QpAddress b = fabric.nic(1).CreateQp({}).Value();
    BOOST_TEST(ConnectWith(fabric, 0, a, b, change) != "");
  }
}

// O-45: a quiet walks all QPs from each thread. Here its scope says which; with one QP to a peer
// a fence polls nothing.
BOOST_AUTO_TEST_CASE(AQuietPollsTheQpsInItsScopeAndAFenceNone) {
  constexpr uint32_t kAll = 256;
  constexpr uint32_t kPeer = 4;
  FabricFixture f;
  std::vector<QpView> views;
  for (const QpPair& pair : f.fabric.ConnectPairs(0, 1, kAll, {.depth_wqebbs = 8})) {
    views.push_back(pair.first);
  }
  const FabricRun run = f.RunOne([&](SimPort& port) {
    for (uint32_t i = 0; i < kAll; ++i) {
      const QpTable one{views.data(), kAll, i, 1, i};
      TestEndpoint<>(port, one).Put(f.remote.Remote(0), f.local.Local(0, 8));
    }
    const QpTable table{views.data(), kAll, 8, kPeer, 8};
    TestEndpoint<> endpoint(port, table);
    BOOST_TEST(endpoint.Quiet(CompletionScope::kAllQps).Ok());
    const auto time_of = [&](CompletionScope scope) {
      const uint64_t before = port.Now();
      BOOST_TEST(endpoint.Quiet(scope).Ok());
      return port.Now() - before;
    };
    const uint64_t peer = time_of(CompletionScope::kPeer);
    const uint64_t all = time_of(CompletionScope::kAllQps);
    BOOST_TEST(all >= peer * (kAll / kPeer) / 2);
    TestEndpoint<> alone(port, f.table);
    const uint64_t before = port.Now();
    BOOST_TEST(alone.Fence().Ok());
    BOOST_TEST(port.Now() == before);
  });
  BOOST_TEST(run.ok, run.error);
}

}  // namespace ringpost

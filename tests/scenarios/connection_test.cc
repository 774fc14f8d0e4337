// Connections: addresses, MTUs and timers that do not fit, many QPs, groups of callers.
#include <boost/test/unit_test.hpp>
#include <functional>

#include "tests/scenarios/scenario.h"

namespace ringpost {
namespace {

using Change = std::function<void(sim::QpAttributes&)>;

// Brings a QP of `node` to RTS with attributes of the test's own; the refusal, if there is one.
std::string ConnectWith(Fabric& fabric, uint32_t node, const QpAddress& local,
                        const QpAddress& peer, const Change& change) {
  using namespace sim;
  QpAttributes attributes;
  attributes.access = kMayWriteLocally | kMayWriteRemotely | kMayReadRemotely | kMayUseAtomics;
  attributes.address = NicNode::AddressOf(peer.node);
  attributes.path_mtu = 4096;
  attributes.dest_qpn = peer.qpn;
  attributes.timeout = 14;
  attributes.retry_count = attributes.rnr_retry = 7;
  attributes.min_rnr_timer = 12;
  attributes.max_rd_atomic = attributes.max_dest_rd_atomic = 16;
  change(attributes);
  constexpr std::pair<State, uint32_t> kSteps[] = {
      {State::kInit, kAttrPkeyIndex | kAttrPort | kAttrAccess},
      {State::kReadyToReceive, kAttrAddress | kAttrPathMtu | kAttrDestQpn | kAttrReceivePsn |
                                   kAttrMaxDestRdAtomic | kAttrMinRnrTimer},
      {State::kReadyToSend,
       kAttrTimeout | kAttrRetryCount | kAttrRnrRetry | kAttrSendPsn | kAttrMaxRdAtomic}};
  for (const auto& [state, mask] : kSteps) {
    attributes.state = state;
    const std::string refusal =
        fabric.Node(node).Function().ModifyQp(local.qpn, attributes, mask | kAttrState);
    if (!refusal.empty()) return refusal;
  }
  return "";
}

// A pair of QPs whose ends have been changed, beside the fixture's own.
struct OddPair : FabricFixture {
  OddPair(const Change& first, const Change& second)
      : a(fabric.nic(0).CreateQp({}).Value()), b(fabric.nic(1).CreateQp({}).Value()) {
    BOOST_TEST(ConnectWith(fabric, 0, a, b, first) == "");
    BOOST_TEST(ConnectWith(fabric, 1, b, a, second) == "");
    view = fabric.nic(0).View(a).Value();
    odd = {&view, 1, 0, 1, 0};
  }
  QpAddress a, b;
  QpView view;
  QpTable odd;
};

Change Mtu(uint32_t bytes) {
  return [bytes](sim::QpAttributes& attributes) { attributes.path_mtu = bytes; };
}

}  // namespace

// O-08: one small CQ for very many QPs overruns in a burst, and polls hang. Here each QP has one,
// which a burst cannot overrun.
BOOST_AUTO_TEST_CASE(ABurstOfCompletionsOnManyQpsOverrunsNoCq) {
  constexpr uint32_t kQps = 512;
  FabricFixture f({.stack_bytes = 32 * 1024});
  const std::vector<QpPair> qps = f.fabric.ConnectPairs(0, 1, kQps, {.depth_wqebbs = 8});
  f.fabric.Launch(0, {kQps, 64, 8}, [&](SimPort& port) {
    const QpTable table{&qps[port.ThreadIndex()].first, 1, 0, 1, 0};
    TestEndpoint<> endpoint(port, table);
    endpoint.Put(f.remote.Remote(0), f.local.Local(0, 128 * 1024));
    BOOST_TEST(endpoint.Quiet(kThisQp).Ok());
  });
  const FabricRun run = f.fabric.Run();
  BOOST_TEST(run.ok, run.error);
  BOOST_TEST(f.fabric.Counters(0).cqes == kQps);
  BOOST_TEST(f.fabric.Counters(0).cq_overruns == 0u);
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
    const QpTable table{views.data(), kAll, 8, kPeer, 8};
    TestEndpoint<> endpoint(port, table);
    endpoint.Put(f.remote.Remote(0), f.local.Local(0, 8));
    BOOST_TEST(endpoint.Quiet(kThisQp).Ok());
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

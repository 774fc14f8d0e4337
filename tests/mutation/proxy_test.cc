// Takes out or weakens each ordered operation of a proxy, of producers and workers, one at a time,
// and sees who notices.
#include <fmt/format.h>

#include <boost/test/unit_test.hpp>
#include <map>
#include <string>
#include <vector>

#include "backends/sim/fabric.h"
#include "tests/mutation/called.h"
#include "tests/mutation/mutant_port.h"
#include "tests/mutation/plan.h"
#include "transport/proxy/endpoint.h"
#include "transport/proxy/proxy_nic.h"
#include "transport/proxy/worker.h"
#include "transport/publication/per_thread.h"

namespace ringpost::mutation {
namespace {

using P = MutantPort<SimPort>;

// Without the fences that stand before a doorbell.
class UnfencedPort : public P {
 public:
  explicit UnfencedPort(const P& port) : P(port) {}
  template <Order O, Scope S>
  void Fence(const QpView& qp) {
    if constexpr (O != Order::kSeqCst) P::Fence<O, S>(qp);
  }
};

constexpr uint64_t kOperations = 12;
constexpr uint32_t kThreads = 2;
constexpr uint64_t kSeeds = 4;

uint64_t WordOf(uint32_t thread, uint64_t i) {
  return (i + 1) * 0x9e3779b97f4a7c15ull ^ (uint64_t{thread} << 56);
}

struct Verdict {
  std::string wrong;
  std::vector<std::string> reports;
  bool Clean() const { return wrong.empty() && reports.empty(); }
  std::string What() const { return reports.empty() ? wrong : reports.front(); }
};

struct Setting {
  sim::VisibilityMode mode = sim::VisibilityMode::kAdversarial;
  uint64_t seed = 1;
  Placement counters = Placement::kHost;
};

// Node 0 puts with signals and gets, through a proxy whose worker runs on a mutant port too; thread
// t of node 1 waits for the signals of thread t.
template <class Handoff, class Ordering, class WorkerPort>
class Machine {
 public:
  Machine(const Setting& setting, Plan& plan)
      : plan_(plan),
        fabric_("p_ib", {.seed = setting.seed, .visibility = setting.mode}),
        proxy_(fabric_.nic(0), {.workers = 1, .batch = 4, .counters = setting.counters}) {
    const uint32_t rings = Handoff::kSharesRing ? 1 : kThreads;
    for (uint32_t i = 0; i < rings; ++i) Connect();
    for (auto* memory : {&source_, &result_}) *memory = Allocate(0);
    for (auto* memory : {&inbox_, &preset_, &flags_}) *memory = Allocate(1);
    for (uint64_t i = 0; i < kThreads * kOperations; ++i) {
      const uint64_t word = WordOf(static_cast<uint32_t>(i / kOperations), i % kOperations);
      fabric_.Poke(preset_.address + 8 * i, &word, sizeof(word));
    }
    fabric_.ServeOnHost(0, 1, [this](SimPort& sim_port) {
      P port(sim_port, plan_);
      WorkerPort worker_port(port);
      proxy::Serve(worker_port, proxy_.ShareOf(0));
    });
  }

  Verdict Run() {
    fabric_.Launch(0, {.threads = kThreads}, [this](SimPort& port) { Send(port); });
    fabric_.Launch(1, {.threads = kThreads}, [this](SimPort& port) { Receive(port); });
    const FabricRun run = fabric_.Run();
    if (!run.ok) Wrong(run.error);
    return {wrong_, fabric_.Violations()};
  }

 private:
  using E = Endpoint<P, Proxied<Handoff>, Called<Ordering>>;

  RegisteredMemory Allocate(uint32_t node) {
    return fabric_.nic(node).Allocate(Placement::kGpu, kThreads * kOperations * 8).Value();
  }
  void Connect() {
    const QpSpec spec{
        .depth_wqebbs = 64, .shared = Handoff::kSharesRing, .timeout_ps = 2'000'000'000};
    const QpAddress ring = proxy_.CreateQp(spec).Value();
    const QpAddress peer = fabric_.nic(1).CreateQp(spec).Value();
    BOOST_TEST_REQUIRE(proxy_.Connect(ring, peer).Ok());
    BOOST_TEST_REQUIRE(fabric_.nic(1).Connect(peer, ring).Ok());
    rings_.push_back(proxy_.View(ring).Value());
    peers_.push_back(fabric_.nic(1).View(peer).Value());
  }
  static uint64_t At(uint32_t thread, uint64_t i) { return (thread * kOperations + i) * 8; }

  void Send(SimPort& sim_port) {
    P port(sim_port, plan_);
    const uint32_t me = sim_port.ThreadIndex();
    const QpTable table{&rings_[me % rings_.size()], 1, 0, 1, 0};
    E endpoint(port, table);
    for (uint64_t i = 0; i < kOperations; ++i) {
      const uint64_t word = WordOf(me, i);
      port.StorePayload(source_.address + At(me, i), &word, sizeof(word));
      if (i % 4 == 3) {
        Expect(endpoint.Get(result_.Local(At(me, i), 8), preset_.Remote(At(me, i))).status);
      } else {
        const LocalSpan from = source_.Local(At(me, i), 8);
        Expect(endpoint.PutSignal(inbox_.Remote(At(me, i)), from, flags_.Remote(64 * me), i + 1)
                   .status);
      }
      if (i % 6 != 5) continue;
      Expect(endpoint.Quiet(CompletionScope::kSelectedQp));
      for (uint64_t got = 3; got <= i; got += 4) Check(port, result_.address, me, got);
    }
  }

  void Receive(SimPort& sim_port) {
    P port(sim_port, plan_);
    const uint32_t me = sim_port.ThreadIndex();
    const QpTable table{&peers_[me % peers_.size()], 1, 0, 1, 0};
    Endpoint<P, PerThread, OrderSystemFence> endpoint(port, table);
    for (uint64_t i = 0; i < kOperations; ++i) {
      if (i % 4 == 3) continue;
      Expect(endpoint.WaitSignal({flags_.address + 64 * me}, i + 1));
      Check(port, inbox_.address, me, i);
    }
  }

  void Check(P& port, uint64_t base, uint32_t thread, uint64_t i) {
    uint64_t word = 0;
    port.LoadPayload(&word, base + At(thread, i), sizeof(word));
    if (word != WordOf(thread, i)) Wrong(fmt::format("word {} of thread {}", i, thread));
  }
  void Expect(const Completion& done) {
    if (!done.Ok()) Wrong(fmt::format("status {}", static_cast<int>(done.status)));
  }
  void Wrong(const std::string& what) {
    if (wrong_.empty()) wrong_ = what;
  }

  Plan& plan_;
  Fabric fabric_;
  proxy::ProxyNic proxy_;
  std::vector<QpView> rings_, peers_;
  RegisteredMemory source_, result_, inbox_, preset_, flags_;
  std::string wrong_;
};

template <class Handoff, class Ordering = OrderSystemRelease, class WorkerPort = P>
Verdict RunOne(const Setting& setting, Plan& plan) {
  return Machine<Handoff, Ordering, WorkerPort>(setting, plan).Run();
}

// Where an operation stands: the file that performs it, or that calls the ordering policy, and what
// it is.
std::string PlaceOf(const Point& point) {
  const std::string_view file =
      FileOf(point.caller.site.file == nullptr ? point.site : point.caller.site);
  if (point.kind == Kind::kStore) return fmt::format("{}, store", file);
  return fmt::format("{}, {}", file, point.order == Order::kAcquire ? "acquire" : "fence");
}

struct Tally {
  int caught = 0;
  int survived = 0;
  bool operator==(const Tally&) const = default;
};

// Of the worker's stores that of `completed` is caught. That of `published` is not, as nothing
// shows a slot that is filled before it was read: no load sees a later store here. Nor is one of
// the two fences before a doorbell, as each stands in for the other (below); that the record lies
// between them matters to a QP in error (mutation_test.cc).
const std::map<std::string, Tally> kExpected = {
    {"ring.h, store", {2, 0}},       {"worker.h, store", {2, 2}},   {"endpoint.h, acquire", {2, 0}},
    {"ordering.h, acquire", {2, 0}}, {"ordering.h, fence", {0, 8}},
};

template <class Handoff>
void TakeOutEach() {
  Plan recording;
  BOOST_TEST_REQUIRE(RunOne<Handoff>({}, recording).Clean());
  std::map<std::string, Tally> found;
  for (const Point& point : recording.Points()) {
    for (const Mutation mutation : MutationsOf(point)) {
      Verdict verdict;
      for (uint64_t seed = 1; seed <= kSeeds && verdict.Clean(); ++seed) {
        Plan plan(point, mutation);
        verdict = RunOne<Handoff>({.seed = seed}, plan);
      }
      BOOST_TEST_MESSAGE(Describe(point) << ": " << NameOf(mutation) << " -> " << verdict.What());
      Tally& tally = found[PlaceOf(point)];
      ++(verdict.Clean() ? tally.survived : tally.caught);
    }
  }
  for (const auto& [place, tally] : found) {
    const auto expected = kExpected.find(place);
    BOOST_TEST_REQUIRE((expected != kExpected.end()), place);
    BOOST_TEST(tally.caught == expected->second.caught, place);
    BOOST_TEST(tally.survived == expected->second.survived, place);
  }
  BOOST_TEST(found.size() == kExpected.size());
}

BOOST_AUTO_TEST_CASE(AProxyAsItStandsIsCleanInEveryMode) {
  for (const auto mode : {sim::VisibilityMode::kStrict, sim::VisibilityMode::kTimed,
                          sim::VisibilityMode::kAdversarial}) {
    for (const Placement counters : {Placement::kGpu, Placement::kHost}) {
      for (uint64_t seed = 1; seed <= 2 * kSeeds; ++seed) {
        const Setting setting{mode, seed, counters};
        Plan plan;
        const Verdict tuned = RunOne<proxy::Tuned>(setting, plan);
        BOOST_TEST(tuned.Clean(), "tuned: " << tuned.What());
        const Verdict baseline = RunOne<proxy::Baseline>(setting, plan);
        BOOST_TEST(baseline.Clean(), "baseline: " << baseline.What());
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(EachOperationOfATunedProxyTakenOutOrWeakenedIsCaughtOrListed) {
  TakeOutEach<proxy::Tuned>();
}

BOOST_AUTO_TEST_CASE(EachOperationOfABaselineProxyTakenOutOrWeakenedIsCaughtOrListed) {
  TakeOutEach<proxy::Baseline>();
}

BOOST_AUTO_TEST_CASE(AWorkerWithoutItsFencesIsReported) {
  Plan plan;
  BOOST_TEST((RunOne<proxy::Tuned, OrderSystemRelease, UnfencedPort>({}, plan).reports.size() > 0));
}

BOOST_AUTO_TEST_CASE(APutOfMemoryWithoutAnOrderingIsReported) {
  Plan plan;
  const Verdict verdict = RunOne<proxy::Tuned, OrderNone>({}, plan);
  BOOST_TEST_REQUIRE(!verdict.reports.empty());
  BOOST_TEST(verdict.reports.front().find("; missing: ") != std::string::npos);
}

}  // namespace
}  // namespace ringpost::mutation

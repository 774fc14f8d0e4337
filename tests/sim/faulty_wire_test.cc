// What the NIC's retransmission makes of a wire that loses, repeats, reorders and spoils packets.
#include <boost/test/unit_test.hpp>
#include <random>

#include "tests/seed.h"
#include "tests/sim/fabric_fixture.h"

namespace ringpost {
namespace {

constexpr uint32_t kQps = 4;
constexpr uint64_t kOperations = 60;   // of each QP
constexpr uint64_t kArea = 64 * 1024;  // of each QP: what is put, what puts change
constexpr uint64_t kTailBytes = 64;    // behind that: a signal and a counter
constexpr uint64_t kStride = 2 * kArea + kTailBytes;

sim::FaultRule OnWire(sim::FaultKind kind, double probability, double ns = 0) {
  sim::FaultRule rule;
  rule.where = sim::FaultWhere::kWire;
  rule.kind = kind;
  rule.probability = probability;
  rule.amount = sim::Duration::Ns(ns);
  return rule;
}

struct Step {
  enum Kind { kPut, kGet, kSignal, kAdd } kind;
  uint64_t from;
  uint64_t to;
  uint64_t bytes;
};

std::vector<Step> RandomSteps(std::mt19937_64& random) {
  std::vector<Step> steps(kOperations);
  for (Step& step : steps) {
    step.kind = static_cast<Step::Kind>(random() % 4);
    step.bytes = 1 + random() % (random() % 4 == 0 ? 20'000 : 200);
    step.from = random() % (kArea - step.bytes);
    step.to = kArea + random() % (kArea - step.bytes);
  }
  return steps;
}

// One thread for each QP. At both nodes a QP's memory is: bytes that stay, bytes that the other
// node's puts (here: this node's gets) replace, and at the end a signal and a counter.
struct Program {
  explicit Program(const std::vector<sim::FaultRule>& rules)
      : random(TestSeed()), fixture({.seed = TestSeed(), .faults = rules}) {
    qps = fixture.fabric.ConnectPairs(0, 1, kQps, {.depth_wqebbs = 16});
    for (uint32_t node = 0; node < 2; ++node) {
      const RegisteredMemory& memory = node == 0 ? fixture.local : fixture.remote;
      expected[node].resize(kQps * kStride);
      for (uint32_t qp = 0; qp < kQps; ++qp) {
        for (uint64_t i = 0; i < kArea; ++i) {
          expected[node][qp * kStride + i] = static_cast<uint8_t>(random());
        }
        steps.push_back(RandomSteps(random));
      }
      fixture.fabric.Poke(memory.address, expected[node].data(), expected[node].size());
    }
  }

  void Apply(uint32_t qp, const Step& step) {
    const uint64_t base = qp * kStride;
    uint8_t* const mine = expected[0].data() + base;
    uint8_t* const theirs = expected[1].data() + base;
    const auto add = [](uint8_t* word) {
      uint64_t value;
      std::memcpy(&value, word, sizeof(value));
      ++value;
      std::memcpy(word, &value, sizeof(value));
    };
    if (step.kind == Step::kAdd) {
      std::memcpy(mine + 2 * kArea + 16, theirs + 2 * kArea + 8, 8);
      add(theirs + 2 * kArea + 8);
    } else if (step.kind == Step::kGet) {
      std::memcpy(mine + step.to, theirs + step.from, step.bytes);
    } else {
      std::memcpy(theirs + step.to, mine + step.from, step.bytes);
      if (step.kind == Step::kSignal) add(theirs + 2 * kArea);
    }
  }

  void Post(SimPort& port, uint32_t qp, const std::vector<Step>& list) {
    const QpTable table{&qps[qp].first, 1, 0, 1, 0};
    TestEndpoint<> endpoint(port, table);
    const uint64_t base = qp * kStride;
    uint64_t signals = 0;
    for (const Step& step : list) {
      const RemoteSpan to = fixture.remote.Remote(base + step.to);
      const LocalSpan from = fixture.local.Local(base + step.from, step.bytes);
      Posted posted;
      if (step.kind == Step::kPut) posted = endpoint.Put(to, from);
      if (step.kind == Step::kGet) {
        posted = endpoint.Get(fixture.local.Local(base + step.to, step.bytes),
                              fixture.remote.Remote(base + step.from));
      }
      if (step.kind == Step::kSignal) {
        posted = endpoint.PutSignal(to, from, fixture.remote.Remote(base + 2 * kArea), ++signals);
      }
      if (step.kind == Step::kAdd) {
        posted = endpoint.FetchAdd(fixture.local.Local(base + 2 * kArea + 16, 8),
                                   fixture.remote.Remote(base + 2 * kArea + 8), 1);
      }
      BOOST_TEST(posted.status.Ok());
    }
    BOOST_TEST(endpoint.Quiet(CompletionScope::kSelectedQp).Ok());
  }

  // Every byte is what one execution of each step in order leaves, and every WQE is accounted for.
  void Run() {
    const sim::LaunchShape shape{kQps, 1, 1};
    fixture.fabric.Launch(0, shape, [&](SimPort& port) {
      Post(port, port.ThreadIndex(), steps[port.ThreadIndex()]);
    });
    const FabricRun run = fixture.fabric.Run();
    BOOST_TEST(run.ok, run.error);
    for (uint32_t qp = 0; qp < kQps; ++qp) {
      for (const Step& step : steps[qp]) Apply(qp, step);
    }
    for (uint32_t node = 0; node < 2; ++node) {
      const RegisteredMemory& memory = node == 0 ? fixture.local : fixture.remote;
      const bool same = fixture.BytesAt(memory.address, expected[node].size()) == expected[node];
      BOOST_TEST(same, "the memory of node " << node << " is wrong");
    }
    BOOST_TEST(Count().cqes == kQps * kOperations);
    BOOST_TEST(Count().error_cqes == 0u);
    BOOST_TEST(fixture.fabric.ViolationCount() == 0u);
  }
  sim::Counters Count(uint32_t node = 0) { return fixture.fabric.Counters(node); }

  std::mt19937_64 random;
  FabricFixture fixture;
  std::vector<QpPair> qps;
  std::vector<uint8_t> expected[2];
  std::vector<std::vector<Step>> steps;
};

}  // namespace

BOOST_AUTO_TEST_CASE(LostPacketsAreSentAgainAndTakeEffectOnce) {
  Program program({OnWire(sim::FaultKind::kDrop, 0.05)});
  program.Run();
  BOOST_TEST(program.Count().packets_lost > 0u);
  BOOST_TEST(program.Count().packets_retransmitted > 0u);
}

BOOST_AUTO_TEST_CASE(PacketsThatComeTwiceTakeEffectOnce) {
  Program program({OnWire(sim::FaultKind::kDuplicate, 0.1, 3000)});
  program.Run();
  BOOST_TEST(program.Count().packets_duplicated > 0u);
  BOOST_TEST(program.Count(1).duplicates > 0u);
}

BOOST_AUTO_TEST_CASE(PacketsThatOvertakeOthersDoNoHarm) {
  Program program({OnWire(sim::FaultKind::kReorder, 0.05, 2000)});
  program.Run();
  BOOST_TEST(program.Count().packets_reordered > 0u);
  BOOST_TEST(program.Count(1).out_of_order > 0u);
}

BOOST_AUTO_TEST_CASE(CorruptPacketsAreDroppedAtTheirReceiverAndCounted) {
  Program program({OnWire(sim::FaultKind::kCorrupt, 0.05)});
  program.Run();
  BOOST_TEST(program.Count(1).icrc_errors > 0u);
  BOOST_TEST(program.Count(0).icrc_errors > 0u);
  BOOST_TEST(program.Count(0).packets_sent ==
             program.Count(1).packets_received + program.Count(1).icrc_errors);
}

BOOST_AUTO_TEST_CASE(AllOfThisAtOnceDoesNoHarm) {
  Program program({OnWire(sim::FaultKind::kDrop, 0.02), OnWire(sim::FaultKind::kDelay, 0.05, 900),
                   OnWire(sim::FaultKind::kDuplicate, 0.05, 5000),
                   OnWire(sim::FaultKind::kReorder, 0.05, 3000),
                   OnWire(sim::FaultKind::kCorrupt, 0.02)});
  program.Run();
}

BOOST_AUTO_TEST_CASE(EqualSeedsGiveEqualFaults) {
  const auto counters_of = [] {
    Program program(
        {OnWire(sim::FaultKind::kDrop, 0.05), OnWire(sim::FaultKind::kReorder, 0.05, 2000)});
    program.Run();
    std::vector<uint64_t> values;
    sim::ForEachCounter(program.Count(),
                        [&](const char*, uint64_t value) { values.push_back(value); });
    values.push_back(static_cast<uint64_t>(program.fixture.fabric.Clock().Now().ps));
    return values;
  };
  BOOST_TEST((counters_of() == counters_of()));
}

BOOST_AUTO_TEST_CASE(ALinkThatStaysDownIsAnErrorOfTheWaitAndNoHang) {
  FabricFixture f({.faults = {OnWire(sim::FaultKind::kLinkDown, 1, 10e9)}});
  const FabricRun run = f.RunOne([&](SimPort& port) {
    TestEndpoint<> endpoint(port, f.table);
    const Posted put = endpoint.Put(f.remote.Remote(0), f.local.Local(0, 8));
    const Completion done = endpoint.Wait(put);
    BOOST_TEST((done.status == Status::kErrorCompletion));
    BOOST_TEST(int{done.syndrome} == 0x15);
    BOOST_TEST(int{done.vendor_syndrome} == 0x81);
    BOOST_TEST(done.qpn == f.qps.first.qpn);
    // What comes later is flushed.
    BOOST_TEST((endpoint.Wait(endpoint.Put(f.remote.Remote(0), f.local.Local(0, 8))).status ==
                Status::kErrorCompletion));
  });
  BOOST_TEST(run.ok, run.error);
}

BOOST_AUTO_TEST_CASE(ALinkThatComesBackWithinTheRetriesCostsTimeOnly) {
  FabricFixture f({.faults = {OnWire(sim::FaultKind::kLinkDown, 1, 300e6)}});
  const uint64_t word = 5;
  const FabricRun run = f.RunOne([&](SimPort& port) {
    TestEndpoint<> endpoint(port, f.table);
    BOOST_TEST(endpoint.Wait(endpoint.PutInline(f.remote.Remote(0), &word, 8)).Ok());
    BOOST_TEST(port.Now() > 300'000'000'000u);
  });
  BOOST_TEST(run.ok, run.error);
  BOOST_TEST(f.fabric.Read<uint64_t>(f.remote.address) == word);
  BOOST_TEST(f.fabric.Counters(0).timeouts == 1u);
}

BOOST_AUTO_TEST_CASE(ADroppedDoorbellIsMadeUpForByTheNext) {
  sim::FaultRule rule;
  rule.where = sim::FaultWhere::kDoorbell;
  rule.kind = sim::FaultKind::kDrop;
  rule.wqe = 0;
  FabricFixture f({.faults = {rule}}, {.timeout_ps = 50'000'000});
  const FabricRun run = f.RunOne([&](SimPort& port) {
    TestEndpoint<> endpoint(port, f.table);
    const uint64_t words[2] = {1, 2};
    const Posted first = endpoint.PutInline(f.remote.Remote(0), words, 8);
    // Nothing follows: the wait ends at its timeout and says so.
    BOOST_TEST((endpoint.Wait(first).status == Status::kTimeout));
    endpoint.PutInline(f.remote.Remote(8), words + 1, 8);
    BOOST_TEST(endpoint.Quiet(CompletionScope::kSelectedQp).Ok());
    BOOST_TEST(endpoint.Wait(first).Ok());
  });
  BOOST_TEST(run.ok, run.error);
  BOOST_TEST(f.fabric.Read<uint64_t>(f.remote.address) == 1u);
  BOOST_TEST(f.fabric.Read<uint64_t>(f.remote.address + 8) == 2u);
  BOOST_TEST(f.fabric.Counters(0).doorbells_lost == 1u);
}

}  // namespace ringpost

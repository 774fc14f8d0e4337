// Fences, doorbells and signals: who may see what, and when.
#include <boost/test/unit_test.hpp>

#include "tests/scenarios/scenario.h"

namespace ringpost {
namespace {

using enum sim::FaultKind;
using enum sim::FaultWhere;

FabricOptions Adversarial() { return {.visibility = sim::VisibilityMode::kAdversarial}; }

// 32 warps of one thread share a QP; what the checker and the NIC found wrong.
template <class Ordering>
uint64_t FaultsOfHandOver() {
  const uint64_t puts = Sized(20, 6'250);  // of each
  FabricFixture f(Adversarial(), {.depth_wqebbs = 256, .batch = 4, .shared = true});
  f.fabric.Launch(0, {32, 1, 8}, [&](SimPort& port) {
    TestEndpoint<Ordering, OrderedHandoff> endpoint(port, f.table);
    for (uint64_t i = 1; i <= puts; ++i) {
      if (!endpoint.PutInline(f.remote.Remote(port.ThreadIndex() * 8), &i, 8).status.Ok()) return;
    }
    endpoint.Quiet(kThisQp);
  });
  f.fabric.Run();
  const sim::Counters count = f.fabric.Counters(0);
  return f.fabric.ViolationCount() + count.wqe_index_mismatches + count.error_cqes;
}

// A warp fills a buffer with the round's number, lane 0 puts it. How many rounds, or how many
// reports, were wrong.
uint64_t WrongRounds(bool ordered) {
  constexpr uint64_t kBytes = 7168;
  constexpr uint64_t kLaneBytes = kBytes / 32;
  FabricFixture f(Adversarial());
  const uint64_t rounds = Sized(20, 50'000);
  uint64_t wrong = 0;
  f.fabric.Launch(0, {32, 32, 1}, [&](SimPort& port) {
    TestEndpoint<> endpoint(port, f.table);
    for (uint64_t number = 1; number <= rounds; ++number) {
      const uint8_t round = static_cast<uint8_t>(number);
      const std::vector<uint8_t> mine(kLaneBytes, round);
      port.StorePayload(f.local.address + port.Lane() * kLaneBytes, mine.data(), kLaneBytes);
      ordered ? port.SyncWarp() : port.MeetWarp();
      if (port.Lane() == 0) {
        endpoint.Put(f.remote.Remote(0), f.local.Local(0, kBytes));
        BOOST_TEST(endpoint.Quiet(kThisQp).Ok());
        if (f.BytesAt(f.remote.address, kBytes) != std::vector<uint8_t>(kBytes, round)) ++wrong;
      }
      port.SyncWarp();
    }
  });
  const FabricRun run = f.fabric.Run();
  BOOST_TEST(run.ok, run.error);
  return wrong + f.fabric.ViolationCount();
}

struct FlagCase {
  bool reorders = false;
  bool plain_flag = false;  // on a QP of its own instead of a signal
  uint64_t rounds = 0;
};

// How often a receiver that saw the flag of a round found other data than the round's.
uint64_t EarlyFlags(const FlagCase& flags) {
  sim::FaultRule rule;
  rule.where = kWire;
  rule.kind = kReorder;
  rule.probability = 0.1;
  rule.amount = sim::Duration{static_cast<int64_t>(5 * kMicrosecond)};
  FabricOptions options;
  if (flags.reorders) options.faults = {rule};
  options.checker = !flags.plain_flag;
  FabricFixture f(options);
  const QpView other = f.fabric.ConnectPair(0, 1, {}).first;
  constexpr uint64_t kBytes = 65'536;
  const RegisteredMemory acknowledged = f.fabric.nic(0).Allocate(Placement::kGpu, 64).Value();
  f.fabric.Launch(0, {}, [&](SimPort& port) {
    TestEndpoint<> endpoint(port, f.table);
    const QpTable other_table{&other, 1, 0, 1, 0};
    TestEndpoint<> flag(port, other_table);
    for (uint64_t round = 1; round <= flags.rounds; ++round) {
      const std::vector<uint8_t> data(kBytes, static_cast<uint8_t>(round));
      port.StorePayload(f.local.address, data.data(), kBytes);
      if (flags.plain_flag) {
        endpoint.Put(f.remote.Remote(64), f.local.Local(0, kBytes));
        flag.PutInline(f.remote.Remote(0), &round, 8);
        BOOST_REQUIRE(endpoint.Quiet(kThisQp).Ok());
      } else {
        endpoint.PutSignal(f.remote.Remote(64), f.local.Local(0, kBytes), f.remote.Remote(0),
                           round);
      }
      BOOST_REQUIRE(endpoint.WaitSignal({acknowledged.address}, round).Ok());
    }
  });
  uint64_t early = 0;
  f.fabric.Launch(1, {}, [&](SimPort& port) {
    TestEndpoint<> endpoint(port, f.back);
    std::vector<uint8_t> data(kBytes);
    for (uint64_t round = 1; round <= flags.rounds; ++round) {
      BOOST_REQUIRE(endpoint.WaitSignal({f.remote.address}, round).Ok());
      port.LoadPayload(data.data(), f.remote.address + 64, kBytes);
      early += data == std::vector<uint8_t>(kBytes, static_cast<uint8_t>(round)) ? 0 : 1;
      endpoint.PutInline(acknowledged.Remote(0), &round, 8);
    }
    BOOST_TEST(endpoint.Quiet(kThisQp).Ok());
  });
  const FabricRun run = f.fabric.Run();
  BOOST_TEST(run.ok, run.error);
  BOOST_TEST((f.fabric.Counters(1).out_of_order > 0) == flags.reorders);
  if (!flags.plain_flag) BOOST_TEST(f.fabric.ViolationCount() == 0u);
  return early;
}

// `groups` threads send chunks of 128 KiB through rings of 512 KiB, each with a signal; the time it
// takes, where an atomic at its target takes `atomic_ns`: the word comes from GPU memory. Sources
// and queues are in host memory, so that nothing else is read from a GPU's.
uint64_t TimeOfStream(uint32_t groups, bool atomics, double atomic_ns) {
  constexpr uint64_t kChunk = 128 * 1024, kSlots = 4;
  const uint64_t chunks = Sized(8, 1024);  // of each group
  sim::Platform platform = PlatformIb();
  platform.read_gpu.cycles = 0;
  platform.read_gpu.ns = atomic_ns;
  Fabric fabric(platform, FabricOptions{});
  const std::vector<QpPair> qps =
      fabric.ConnectPairs(0, 1, groups, {.placement = Placement::kHost});
  const auto allocate = [&](uint32_t node, Placement placement, uint64_t bytes) {
    return fabric.nic(node).Allocate(placement, bytes).Value();
  };
  const RegisteredMemory source = allocate(0, Placement::kHost, groups * kSlots * kChunk);
  const RegisteredMemory ring = allocate(1, Placement::kGpu, groups * kSlots * kChunk);
  const RegisteredMemory signals = allocate(1, Placement::kGpu, groups * 64);
  const RegisteredMemory credits = allocate(0, Placement::kGpu, groups * 64);
  fabric.Launch(0, {groups, 1, 8}, [&](SimPort& port) {
    const uint64_t group = port.ThreadIndex();
    const QpTable table{&qps[group].first, 1, 0, 1, 0};
    TestEndpoint<OrderSystemFence> endpoint(port, table);
    for (uint64_t i = 0; i < chunks; ++i) {
      const uint64_t at = (group * kSlots + i % kSlots) * kChunk;
      const Ref<uint64_t> credit{credits.address + group * 64};
      if (i >= kSlots) BOOST_REQUIRE(endpoint.WaitSignal(credit, i - kSlots + 1).Ok());
      if (!atomics) {
        endpoint.PutSignal(ring.Remote(at), source.Local(at, kChunk), signals.Remote(group * 64),
                           i + 1);
        continue;
      }
      endpoint.Put(ring.Remote(at), source.Local(at, kChunk));
      endpoint.FetchAdd(source.Local(at, 8), signals.Remote(group * 64), 1);
    }
    BOOST_TEST(endpoint.Quiet(kThisQp).Ok());
  });
  fabric.Launch(1, {groups, 1, 8}, [&](SimPort& port) {
    const uint64_t group = port.ThreadIndex();
    const QpTable table{&qps[group].second, 1, 0, 1, 0};
    TestEndpoint<OrderSystemFence> endpoint(port, table);
    for (uint64_t i = 1; i <= chunks; ++i) {
      BOOST_REQUIRE(endpoint.WaitSignal({signals.address + group * 64}, i).Ok());
      endpoint.PutInline(credits.Remote(group * 64), &i, 8);
    }
    BOOST_TEST(endpoint.Quiet(kThisQp).Ok());
  });
  const FabricRun run = fabric.Run();
  BOOST_TEST(run.ok, run.error);
  return static_cast<uint64_t>(run.end.ps);
}

}  // namespace

// O-13: another thread rings for a WQE whose bytes it does not order, and the NIC reads half of it.
// Here the hand-over releases them; without any fence the simulator finds it out.
BOOST_AUTO_TEST_CASE(AWqeIsWholeBeforeAnotherThreadRingsForIt) {
  BOOST_TEST(FaultsOfHandOver<OrderGpuFence>() == 0u);
  BOOST_TEST(FaultsOfHandOver<OrderSystemFence>() == 0u);
  BOOST_TEST(FaultsOfHandOver<OrderNone>() > 0u);
}

// O-15: lanes that ring several QPs in one step lose all doorbells but one, and peers spin. Here
// each store arrives, and a doorbell that does get lost is counted and ends the wait.
BOOST_AUTO_TEST_CASE(EachLaneOfAWarpRingsItsOwnQp) {
  for (const uint32_t lanes : {8u, 32u}) {
    FabricFixture f;
    const std::vector<QpPair> qps = f.fabric.ConnectPairs(0, 1, lanes);
    f.fabric.Launch(0, {lanes, lanes, 1}, [&](SimPort& port) {
      const QpTable table{&qps[port.Lane()].first, 1, 0, 1, 0};
      TestEndpoint<> endpoint(port, table);
      port.SyncWarp();
      endpoint.PutSignal(f.remote.Remote(4096), f.local.Local(0, 8),
                         f.remote.Remote(port.Lane() * 8), 1);
      BOOST_TEST(endpoint.Quiet(kThisQp).Ok());
    });
    const FabricRun run = f.fabric.Run();
    BOOST_TEST(run.ok, run.error);
    for (uint64_t lane = 0; lane < lanes; ++lane) {
      BOOST_TEST(f.fabric.Read<uint64_t>(f.remote.address + lane * 8) == 1u);
    }
    BOOST_TEST(f.fabric.Counters(0).doorbells == lanes);
  }
}

BOOST_AUTO_TEST_CASE(ALostDoorbellOfOneLaneIsCountedAndEndsItsWaitAlone) {
  sim::FaultRule lost;
  lost.where = kDoorbell;
  lost.kind = kDrop;
  lost.qp = 3;
  FabricFixture f({.faults = {lost}});
  const std::vector<QpPair> qps =
      f.fabric.ConnectPairs(0, 1, 8, {.timeout_ps = 100 * kMicrosecond});
  f.fabric.Launch(0, {8, 8, 1}, [&](SimPort& port) {
    const QpTable table{&qps[port.Lane()].first, 1, 0, 1, 0};
    TestEndpoint<> endpoint(port, table);
    const uint64_t word = 1;
    endpoint.PutInline(f.remote.Remote(port.Lane() * 8), &word, 8);
    const Completion done = endpoint.Quiet(kThisQp);
    // The fixture's own pair is the first.
    BOOST_TEST((done.status == (port.Lane() == 2 ? Status::kTimeout : Status::kOk)));
  });
  const FabricRun run = f.fabric.Run();
  BOOST_TEST(run.ok, run.error);
  BOOST_TEST(f.fabric.Counters(0).doorbells_lost == 1u);
}

// O-16: the lane that posts orders its own stores, not those of the 31 lanes that wrote payload.
// Here the warp's barrier passes them on; a barrier that orders nothing is found out.
BOOST_AUTO_TEST_CASE(ThePayloadOfAWholeWarpIsThereWhenOneLanePosts) {
  BOOST_TEST(WrongRounds(true) == 0u);
  BOOST_TEST(WrongRounds(false) > 0u);
}

// O-17: a smaller producer index overtakes a larger one, and WQEs run twice or never. Here a late
// doorbell says nothing new; also where the index wraps.
BOOST_AUTO_TEST_CASE(ADoorbellThatComesLateRepeatsNothing) {
  for (const uint64_t start : {0ull, 65'526ull}) {
    FabricFixture f({.faults = {FaultAt(kDoorbell, kDelay, start + 9, 40 * kMicrosecond),
                                FaultAt(kDoorbell, kDuplicate, start + 15, 30 * kMicrosecond)}});
    StartAt(f.fabric, 0, f.qps.first, start);
    const FabricRun run = f.RunOne([&](SimPort& port) {
      Posted last;
      for (uint64_t i = 0; i < 20; ++i) {
        last = PostFetchAdd(port, f.qps.first, f.remote.Remote(i * 8), f.local.Local(0, 8), 1);
      }
      BOOST_TEST(WaitFor(port, f.qps.first, last).Ok());
    });
    BOOST_TEST(run.ok, run.error);
    for (uint64_t i = 0; i < 20; ++i) {
      BOOST_TEST(f.fabric.Read<uint64_t>(f.remote.address + i * 8) == 1u);
    }
    BOOST_TEST(f.fabric.Counters(0).wqes == 20u);
    BOOST_TEST(f.fabric.Counters(0).doorbells_merged == 2u);
    BOOST_TEST(abi::Swap32(f.fabric.Read<uint32_t>(f.qps.first.record + 4)) ==
               ((start + 20) & 0xffff));
    BOOST_TEST(RingWasSound(f.fabric));
  }
}

// O-18: one doorbell for each WQE holds many threads up. Here threads that share a QP ring for each
// other.
BOOST_AUTO_TEST_CASE(ManyThreadsOnAQpShareTheirDoorbells) {
  const auto run_with = [](uint32_t threads) {
    FabricFixture f({.stack_bytes = 32 * 1024},
                    {.depth_wqebbs = 1024, .batch = 32, .shared = true});
    f.fabric.Launch(0, {threads, std::min(threads, 32u), 4}, [&](SimPort& port) {
      TestEndpoint<OrderGpuFence, OrderedHandoff> endpoint(port, f.table);
      for (uint64_t i = 0; i < 20; ++i) {
        endpoint.PutInline(f.remote.Remote(port.ThreadIndex() * 8), &i, 8);
      }
      BOOST_TEST(endpoint.Quiet(kThisQp).Ok());
    });
    const FabricRun run = f.fabric.Run();
    BOOST_TEST(run.ok, run.error);
    const sim::Counters count = f.fabric.Counters(0);
    return std::pair(double(count.doorbells) / double(count.wqes),
                     double(count.wqes) / double(run.end.ps));
  };
  const auto one = run_with(1);
  const auto many = run_with(256);
  BOOST_TEST(one.first == 1.0);
  BOOST_TEST(many.first <= 0.25);
  BOOST_TEST(many.second >= one.second);
}

// O-20: a network that reorders lets the flag overtake its data. Here a signal travels on the QP of
// its data, and the receiver takes packets in order. A flag that goes its own way, on another QP,
// is early: this wire does reorder.
BOOST_AUTO_TEST_CASE(ASignalIsNeverSeenBeforeItsDataOnAWireThatReorders) {
  const uint64_t rounds = Sized(50, 100'000);
  BOOST_TEST(EarlyFlags({.rounds = rounds}) == 0u);
  BOOST_TEST(EarlyFlags({.reorders = true, .rounds = rounds}) == 0u);
  BOOST_TEST(EarlyFlags({.reorders = true, .plain_flag = true, .rounds = 50}) > 0u);
}

// O-21: operands and results of atomics in the wrong byte order. Here the WQE holds them big endian
// and memory holds the host's order, so that the old value comes back as it was.
BOOST_FIXTURE_TEST_CASE(AtomicsGiveTheOldWordBackInTheHostsOrder, FabricFixture) {
  const uint64_t before = 0x0102030405060708;
  fabric.Poke(remote.address, &before, 8);
  const auto word = [this] { return fabric.Read<uint64_t>(remote.address); };
  const FabricRun run = RunOne([&](SimPort& port) {
    const QpView& qp = qps.first;
    const auto old_of = [&](const Posted& posted) {
      BOOST_TEST(WaitFor(port, qp, posted).Ok());
      uint64_t result = 0;
      port.LoadPayload(&result, local.address, 8);
      return result;
    };
    const LocalSpan old = local.Local(0, 8);
    BOOST_TEST(old_of(PostFetchAdd(port, qp, remote.Remote(0), old, 0x10)) == before);
    BOOST_TEST(word() == before + 0x10);
    BOOST_TEST(old_of(PostCompareSwap(port, qp, remote.Remote(0), old, before, 1)) ==
               before + 0x10);
    BOOST_TEST(word() == before + 0x10);
    BOOST_TEST(old_of(PostCompareSwap(port, qp, remote.Remote(0), old, before + 0x10,
                                      0xf1f2f3f4fffffffe)) == before + 0x10);
    BOOST_TEST(word() == 0xf1f2f3f4fffffffe);
    // Each half alone: no carry passes from one to the other, and 4 bytes come back big endian.
    BOOST_TEST(abi::Swap32(static_cast<uint32_t>(old_of(PostFetchAdd32(
                   port, qp, remote.Remote(4), local.Local(0, 4), 2)))) == 0xf1f2f3f4u);
    BOOST_TEST(word() == 0xf1f2f3f6fffffffe);
    BOOST_TEST(abi::Swap32(static_cast<uint32_t>(old_of(PostFetchAdd32(
                   port, qp, remote.Remote(0), local.Local(0, 4), 3)))) == 0xfffffffeu);
    BOOST_TEST(word() == 0xf1f2f3f600000001);
  });
  BOOST_TEST(run.ok, run.error);
}

// O-23: an atomic for each chunk holds the whole queue up where the target is slow at them. Here a
// signal is a write, and its stream does not feel what an atomic costs; that of atomics does: where
// 8 groups fill the link for a part of it, alone for each of them.
BOOST_AUTO_TEST_CASE(AStreamWithWrittenSignalsDoesNotFeelWhatAnAtomicCosts) {
  constexpr double kNs[] = {50, 2'000, 20'000};
  for (const uint32_t groups : {8u, 1u}) {
    uint64_t written[3], counted[3];
    for (int i = 0; i < 3; ++i) {
      written[i] = TimeOfStream(groups, false, kNs[i]);
      counted[i] = TimeOfStream(groups, true, kNs[i]);
      BOOST_TEST_MESSAGE(groups << " groups, atomic of " << kNs[i] << " ns: "
                                << written[i] / kMicrosecond << " us with written signals, "
                                << counted[i] / kMicrosecond << " us with atomics, of which "
                                << (counted[i] - counted[0]) / kMicrosecond << " us behind one");
    }
    for (const uint64_t time : written) BOOST_TEST(10 * time < 11 * written[0]);
    BOOST_TEST(counted[2] > counted[0] + 15 * kMicrosecond);
    if (groups == 1) BOOST_TEST(2 * counted[2] > 3 * written[2]);
  }
}

}  // namespace ringpost

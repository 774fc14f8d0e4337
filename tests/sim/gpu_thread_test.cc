// GPU threads in virtual time: collectives, waiting loops and residency.
#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "sim/engine/random.h"
#include "tests/seed.h"
#include "tests/sim/fabric_fixture.h"

namespace ringpost {
namespace {

// Keeps a lane busy for `turns` turns of an empty waiting loop.
void Spin(SimPort& port, uint64_t turns) {
  for (uint64_t i = 0; i < turns; ++i) port.Relax(~0ull);
}

enum class Polling { kParks, kNeverParks };

struct Poll {
  std::vector<uint64_t> times;
  uint64_t parked = 0;
};

// Who raises the flag that is polled: a thread of the same GPU, or a put of the peer.
enum class Raiser { kThread, kPeer };

// The flag is raised now and then, and a thread polls for each step. When does it see each?
Poll PollTimes(Polling polling, Raiser raiser, uint64_t seed) {
  FabricFixture f;
  Poll poll;
  constexpr uint64_t kRounds = 20;
  const Ref<uint64_t> word{f.local.address};
  f.fabric.Launch(0, {2, 1, 2}, [&](SimPort& port) {
    sim::Rng random(seed, "rounds");
    if (port.ThreadIndex() == 0) {
      if (raiser == Raiser::kPeer) return;
      for (uint64_t round = 1; round <= kRounds; ++round) {
        Spin(port, 1 + random.Below(300));
        port.Store<Order::kRelaxed, Scope::kGpu>(word, round);
      }
      return;
    }
    for (uint64_t round = 1; round <= kRounds; ++round) {
      while (port.Load<Order::kRelaxed, Scope::kSystem>(word) < round) {
        // Any effect keeps a thread from parking; this one costs nothing.
        if (polling == Polling::kNeverParks) port.StorePayload(f.local.address + 8192, nullptr, 0);
        port.Relax(~0ull);
      }
      poll.times.push_back(port.Now());
      // What a waiting loop was for: without it two loops would look like one turn.
      port.StorePayload(f.local.address + 8192, nullptr, 0);
    }
  });
  const auto put_rounds = [&](SimPort& port) {
    sim::Rng random(seed, "puts");
    TestEndpoint<> endpoint(port, f.back);
    for (uint64_t round = 1; round <= kRounds; ++round) {
      Spin(port, 1 + random.Below(100));
      endpoint.Wait(endpoint.PutInline(f.local.Remote(0), &round, 8));
    }
  };
  if (raiser == Raiser::kPeer) f.fabric.Launch(1, {}, put_rounds);
  const FabricRun run = f.fabric.Run();
  BOOST_TEST(run.ok, run.error);
  poll.parked = f.fabric.ParkedPolls();
  return poll;
}

}  // namespace

BOOST_FIXTURE_TEST_CASE(AShuffleGivesEveryLaneTheSourcesValueAtOneTime, FabricFixture) {
  std::vector<uint64_t> times(32);
  fabric.Launch(0, {32, 32, 1}, [&](SimPort& port) {
    for (uint32_t round = 0; round < 50; ++round) {
      if (port.Lane() % 3 == round % 3) Spin(port, port.Lane());
      const uint64_t value = port.Shuffle(1000 * round + port.Lane(), (round * 7) % 32);
      BOOST_TEST(value == 1000 * round + (round * 7) % 32);
      times[port.Lane()] = port.Now();
      // Back-to-back collectives must not mix their values.
      const uint64_t next = port.Shuffle(port.Lane(), 31 - round % 32);
      BOOST_TEST(next == 31 - round % 32);
    }
  });
  BOOST_TEST(fabric.Run().ok);
  for (const uint64_t time : times) BOOST_TEST(time == times[0]);
}

BOOST_FIXTURE_TEST_CASE(ABallotCollectsTheVotesOfAllLanes, FabricFixture) {
  fabric.Launch(0, {32, 32, 1}, [&](SimPort& port) {
    BOOST_TEST(port.Ballot(port.Lane() % 5 == 0) == 0x42108421u);
    BOOST_TEST(port.Ballot(false) == 0u);
    BOOST_TEST(port.Ballot(true) == ~0u);
  });
  BOOST_TEST(fabric.Run().ok);
}

BOOST_FIXTURE_TEST_CASE(AWarpBarrierLeavesWithTheLastLanePlusItsCost, FabricFixture) {
  std::vector<uint64_t> before(32);
  std::vector<uint64_t> after(32);
  fabric.Launch(0, {32, 32, 1}, [&](SimPort& port) {
    Spin(port, 3 * port.Lane());
    before[port.Lane()] = port.Now();
    port.SyncWarp();
    after[port.Lane()] = port.Now();
  });
  BOOST_TEST(fabric.Run().ok);
  const uint64_t last = *std::max_element(before.begin(), before.end());
  const uint64_t cost = static_cast<uint64_t>(fabric.Costs().gpu.warp_sync.ps);
  for (const uint64_t time : after) BOOST_TEST(time == last + cost);
}

BOOST_FIXTURE_TEST_CASE(TheLastWarpOfABlockIsSmallerAndLanesThatEndAreNotAwaited, FabricFixture) {
  uint32_t met = 0;
  fabric.Launch(0, {37, 37, 1}, [&](SimPort& port) {
    BOOST_TEST(port.WarpSize() == (port.ThreadIndex() < 32 ? 32u : 5u));
    BOOST_TEST(port.Lane() == port.ThreadIndex() % 32);
    if (port.ThreadIndex() % 32 == 1) return;
    port.SyncWarp();
    ++met;
  });
  const FabricRun run = fabric.Run();
  BOOST_TEST(run.ok, run.error);
  BOOST_TEST(met == 35u);
}

BOOST_AUTO_TEST_CASE(AParkedLoopWakesWhenItsPollingWouldHaveSeenTheChange) {
  uint64_t parked = 0;
  for (uint64_t i = 0; i < 20; ++i) {
    const uint64_t seed = sim::Mix(TestSeed()) + i;
    const Raiser raiser = i % 2 == 0 ? Raiser::kThread : Raiser::kPeer;
    const Poll parking = PollTimes(Polling::kParks, raiser, seed);
    const Poll polling = PollTimes(Polling::kNeverParks, raiser, seed);
    BOOST_REQUIRE_EQUAL(parking.times.size(), 20u);
    BOOST_TEST(parking.times == polling.times, "seed " << TestSeed() << ", run " << i);
    parked += parking.parked;
  }
  BOOST_TEST(parked > 1000u);
}

BOOST_FIXTURE_TEST_CASE(ABlockStartsWhenItsSmHasRoomForAllOfIt, FabricFixture) {
  constexpr uint32_t kThreads = 5 * 1024;
  std::vector<uint64_t> starts(kThreads);
  std::vector<uint64_t> ends(kThreads);
  fabric.Launch(0, {kThreads, 1024, 1}, [&](SimPort& port) {
    starts[port.ThreadIndex()] = port.Now();
    Spin(port, 10 + port.ThreadIndex() % 1024);
    ends[port.ThreadIndex()] = port.Now();
  });
  BOOST_TEST(fabric.Run().ok);
  const auto start_of = [&](uint32_t block) {
    const auto from = starts.begin() + block * 1024;
    BOOST_TEST((*std::max_element(from, from + 1024) == *from));
    return *from;
  };
  const auto end_of = [&](uint32_t block) {
    const auto from = ends.begin() + block * 1024;
    return *std::max_element(from, from + 1024);
  };
  BOOST_TEST(start_of(0) == 0u);
  BOOST_TEST(start_of(1) == 0u);
  BOOST_TEST(start_of(2) >= std::min(end_of(0), end_of(1)) / 2);
  BOOST_TEST(start_of(2) > 0u);
  BOOST_TEST(start_of(4) >= start_of(2));
  // At no time are there more lanes than an SM takes.
  for (const uint64_t at : starts) {
    uint32_t resident = 0;
    for (uint32_t i = 0; i < kThreads; i += 64) {
      if (starts[i] <= at && at < ends[i]) resident += 64;
    }
    if (resident > 2048 + 64) BOOST_FAIL("more than 2048 lanes at " << at << " ps");
  }
}

BOOST_FIXTURE_TEST_CASE(BlocksOnSeveralSmsStartTogether, FabricFixture) {
  std::vector<uint64_t> starts(4096);
  fabric.Launch(0, {4096, 1024, 2}, [&](SimPort& port) {
    starts[port.ThreadIndex()] = port.Now();
    Spin(port, 5);
  });
  BOOST_TEST(fabric.Run().ok);
  BOOST_TEST(*std::max_element(starts.begin(), starts.end()) == 0u);
}

BOOST_FIXTURE_TEST_CASE(RelaxReturnsFalseOnceTheDeadlineHasPassed, FabricFixture) {
  constexpr uint64_t kDeadline = 1'000'000;
  fabric.Launch(0, {2, 1, 2}, [&](SimPort& port) {
    const bool parks = port.ThreadIndex() == 0;
    uint64_t turns = 0;
    uint64_t last = 0;
    do {
      last = port.Now();
      if (!parks) port.StorePayload(local.address, nullptr, 0);
      port.Load<Order::kRelaxed, Scope::kGpu>(Ref<uint64_t>{local.address});
      ++turns;
    } while (port.Relax(kDeadline));
    BOOST_TEST(port.Now() >= kDeadline);
    BOOST_TEST(last <= kDeadline);
    const uint64_t turn =
        static_cast<uint64_t>((fabric.Costs().gpu.load_gpu + fabric.Costs().gpu.spin).ps);
    BOOST_TEST(port.Now() <= kDeadline + 2 * turn);
    BOOST_TEST((parks ? turns <= 3 : turns >= kDeadline / turn));
  });
  const FabricRun run = fabric.Run();
  BOOST_TEST(run.ok, run.error);
}

}  // namespace ringpost

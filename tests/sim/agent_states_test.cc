// What agents know: shared by those that met at a barrier, until one of them goes on by itself.
#include "sim/memory/agent_states.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <numeric>
#include <vector>

#include "sim/engine/random.h"
#include "tests/seed.h"

namespace ringpost::sim {
namespace {

constexpr AgentId kAgents = 8;
constexpr Key kGroup = kGroupBit | 1;
constexpr Key kOther = 100;  // some agent that is none of these

struct Agents {
  Agents() {
    for (AgentId id = 0; id < kAgents; ++id) states.Add(++stamp);
  }
  void Meet(const std::vector<AgentId>& ids) { states.Meet(ids, kGroup, ++stamp); }

  uint64_t stamp = 0;
  AgentStates states;
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(ThoseWhoMetKnowWhatEachOfThemDidAndStoreAnew, Agents) {
  states.Own(1).known.Raise(kOther, 7);
  const uint64_t newest = states[2].stamp;
  Meet({0, 1, 2});
  for (const AgentId id : {0u, 1u, 2u}) {
    BOOST_TEST(states[id].known.system.Covers(kOther, 7));
    BOOST_TEST(states[id].known.local.Covers(kGroup, newest));
    BOOST_TEST(states[id].stamp == stamp);
  }
  BOOST_TEST(!states[3].known.system.Covers(kOther, 1));
  BOOST_TEST(!states[3].known.local.Covers(kGroup, 1));
}

BOOST_FIXTURE_TEST_CASE(WhatOneLearnsAfterABarrierTheOthersDoNotKnow, Agents) {
  Meet({0, 1, 2});
  const uint64_t before = states[1].stamp;
  states.Own(0).known.Raise(kOther, 7);
  states.Own(0).stamp = ++stamp;
  BOOST_TEST(states[0].known.local.Covers(kOther, 7));
  BOOST_TEST(!states[1].known.local.Covers(kOther, 7));
  BOOST_TEST(states[1].stamp == before);
}

BOOST_FIXTURE_TEST_CASE(ABarrierOfSomeLeavesTheOthersAsTheyWere, Agents) {
  Meet({0, 1, 2, 3});
  const uint64_t before = states[3].stamp;
  states.Own(0).known.Raise(kOther, 7);
  Meet({0, 1});
  BOOST_TEST(states[1].known.local.Covers(kOther, 7));
  for (const AgentId id : {2u, 3u}) {
    BOOST_TEST(!states[id].known.local.Covers(kOther, 7));
    BOOST_TEST(states[id].stamp == before);
  }
}

// Against agents that share nothing.
BOOST_FIXTURE_TEST_CASE(SharingIsNotSeen, Agents) {
  Rng random(TestSeed(), "agent states");
  std::vector<View> views(kAgents);
  std::vector<uint64_t> stamps(kAgents);
  for (AgentId id = 0; id < kAgents; ++id) stamps[id] = states[id].stamp;
  for (int step = 0; step < 5000; ++step) {
    const AgentId one = static_cast<AgentId>(random.Below(kAgents));
    if (random.Below(3) == 0) {
      const Key key = static_cast<Key>(random.Below(20));
      states.Own(one).known.Raise(key, ++stamp);
      states.Own(one).stamp = ++stamp;
      views[one].Raise(key, stamp - 1);
      stamps[one] = stamp;
    } else {
      std::vector<AgentId> ids(1 + random.Below(kAgents - one));
      std::iota(ids.begin(), ids.end(), one);
      Meet(ids);
      View all;
      uint64_t newest = 0;
      for (const AgentId id : ids) {
        all.Join(views[id]);
        newest = std::max(newest, stamps[id]);
      }
      all.Raise(kGroup, newest);
      for (const AgentId id : ids) {
        views[id] = all;
        stamps[id] = stamp;
      }
    }
    for (AgentId id = 0; id < kAgents; ++id) {
      bool same = states[id].stamp == stamps[id];
      for (Key key = 0; key < 20; ++key) {
        same &= states[id].known.local.Of(key) == views[id].local.Of(key);
      }
      same &= states[id].known.system.Of(kGroup) == views[id].system.Of(kGroup);
      BOOST_REQUIRE_MESSAGE(same, "seed " << TestSeed() << ", step " << step << ", agent " << id);
    }
  }
}

}  // namespace ringpost::sim

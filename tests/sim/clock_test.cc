// Clocks: who knows of which stores.
#include "sim/memory/clock.h"

#include <boost/test/unit_test.hpp>
#include <map>

#include "sim/engine/random.h"
#include "tests/seed.h"

namespace ringpost::sim {
namespace {

using Known = std::map<Key, uint64_t>;

ClockRef ClockOf(const Known& known) {
  ClockRef clock;
  for (const auto& [key, stamp] : known) clock.Raise(key, stamp);
  return clock;
}

Known RandomKnown(Rng& random) {
  Known known;
  const uint64_t count = random.Below(30);
  for (uint64_t i = 0; i < count; ++i) {
    const Key key = static_cast<Key>(random.Below(40)) | (random.Below(4) == 0 ? kGroupBit : 0);
    known[key] = 1 + random.Below(100);
  }
  return known;
}

bool Same(const ClockRef& clock, const Known& known) {
  const uint32_t size = clock.Empty() ? 0 : clock.Get()->Size();
  if (size != known.size()) return false;
  for (const auto& [key, stamp] : known) {
    if (clock.Get()->Of(key) != stamp) return false;
  }
  return true;
}

}  // namespace

BOOST_AUTO_TEST_CASE(AnEmptyClockKnowsNothing) {
  const ClockRef clock;
  BOOST_TEST(clock.Empty());
  BOOST_TEST(!clock.Covers(3, 1));
}

BOOST_AUTO_TEST_CASE(ARaisedClockCoversAllOlderStoresOfThatKeyAlone) {
  ClockRef clock;
  clock.Raise(3, 10);
  BOOST_TEST(clock.Covers(3, 10));
  BOOST_TEST(clock.Covers(3, 4));
  BOOST_TEST(!clock.Covers(3, 11));
  BOOST_TEST(!clock.Covers(2, 1));
  BOOST_TEST(!clock.Covers(kGroupBit | 3, 1));
}

BOOST_AUTO_TEST_CASE(RaisingNeverLowers) {
  ClockRef clock;
  clock.Raise(3, 10);
  clock.Raise(3, 4);
  BOOST_TEST(clock.Get()->Of(3) == 10u);
}

BOOST_AUTO_TEST_CASE(ACopyDoesNotSeeWhatItsOriginalLearnsLater) {
  ClockRef clock = ClockOf({{1, 5}, {2, 6}});
  const ClockRef copy = clock;
  BOOST_TEST(copy.SameAs(clock));
  clock.Raise(1, 9);
  clock.Raise(7, 1);
  BOOST_TEST(Same(copy, {{1, 5}, {2, 6}}));
  BOOST_TEST(Same(clock, {{1, 9}, {2, 6}, {7, 1}}));
}

BOOST_AUTO_TEST_CASE(JoiningWhatIsKnownAlreadyKeepsTheClock) {
  ClockRef clock = ClockOf({{1, 5}, {2, 6}, {3, 7}});
  const ClockRef before = clock;
  clock.Join(ClockOf({{1, 5}, {3, 2}}));
  clock.Join(ClockRef());
  BOOST_TEST(clock.SameAs(before));
}

BOOST_AUTO_TEST_CASE(AJoinKnowsTheNewerOfBothForEveryKey) {
  Rng random(TestSeed(), "clock");
  for (int round = 0; round < 2000; ++round) {
    const Known a = RandomKnown(random);
    const Known b = RandomKnown(random);
    Known joined = a;
    for (const auto& [key, stamp] : b) joined[key] = std::max(joined[key], stamp);
    ClockRef clock = ClockOf(a);
    const ClockRef other = ClockOf(b);
    clock.Join(other);
    BOOST_REQUIRE_MESSAGE(Same(clock, joined) && Same(other, b),
                          "seed " << TestSeed() << ", round " << round);
  }
}

}  // namespace ringpost::sim

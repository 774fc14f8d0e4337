// Rules of faults: what they match, how often, and by which seed.
#include "sim/wire/faults.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <vector>

#include "tests/seed.h"

namespace ringpost::sim {
namespace {

constexpr Time kNow{1000};

FaultRule DropWith(double probability) {
  FaultRule rule;
  rule.where = FaultWhere::kWire;
  rule.kind = FaultKind::kDrop;
  rule.probability = probability;
  return rule;
}

// Of `asked` packets, one after the other.
std::vector<bool> LostOf(Faults& faults, int asked) {
  std::vector<bool> lost;
  for (int i = 0; i < asked; ++i) {
    lost.push_back(faults.Judge(FaultWhere::kWire, {0, 0, 0, 1}, kNow).lost);
  }
  return lost;
}

}  // namespace

BOOST_AUTO_TEST_CASE(ARuleStrikesWithItsProbabilityAndAtMostItsCount) {
  Faults faults(TestSeed());
  faults.Add(DropWith(0.25));
  const std::vector<bool> lost = LostOf(faults, 10'000);
  const auto struck = std::count(lost.begin(), lost.end(), true);
  BOOST_TEST(struck > 2200);
  BOOST_TEST(struck < 2800);
  Faults counted(TestSeed());
  FaultRule rule = DropWith(1);
  rule.count = 3;
  counted.Add(rule);
  const std::vector<bool> few = LostOf(counted, 10);
  BOOST_TEST(std::count(few.begin(), few.end(), true) == 3);
}

BOOST_AUTO_TEST_CASE(AnotherRuleDoesNotShiftTheChoicesOfTheFirst) {
  Faults alone(TestSeed()), both(TestSeed());
  alone.Add(DropWith(0.5));
  both.Add(DropWith(0.5));
  FaultRule other = DropWith(0.5);
  other.kind = FaultKind::kDelay;
  both.Add(other);
  BOOST_TEST((LostOf(alone, 100) == LostOf(both, 100)));
  Faults elsewhere(TestSeed() + 1);
  elsewhere.Add(DropWith(0.5));
  Faults again(TestSeed());
  again.Add(DropWith(0.5));
  BOOST_TEST((LostOf(elsewhere, 100) != LostOf(again, 100)));
}

BOOST_AUTO_TEST_CASE(AnAnswerMatchesNoRuleThatNamesAWqe) {
  Faults faults;
  FaultRule rule = DropWith(1);
  rule.wqe = 0;
  faults.Add(rule);
  BOOST_TEST(faults.Judge(FaultWhere::kWire, {0, 0, 0, 1}, kNow).lost);
  BOOST_TEST(!faults.Judge(FaultWhere::kWire, {0, 0, 0, 0}, kNow).lost);
  BOOST_TEST(!faults.Judge(FaultWhere::kDoorbell, {0, 0, 0, 1}, kNow).lost);
}

BOOST_AUTO_TEST_CASE(ALinkGoesDownOnceAndForItsTime) {
  Faults faults;
  FaultRule rule = DropWith(1);
  rule.kind = FaultKind::kLinkDown;
  rule.amount = Duration{500};
  faults.Add(rule);
  faults.Judge(FaultWhere::kWire, {2, 0, 0, 1}, kNow);
  BOOST_TEST(faults.LinkIsDown(2, kNow));
  BOOST_TEST(faults.LinkIsDown(2, Time{1499}));
  BOOST_TEST(!faults.LinkIsDown(2, Time{1500}));
  BOOST_TEST(!faults.LinkIsDown(0, kNow));
  faults.Judge(FaultWhere::kWire, {2, 0, 0, 1}, Time{2000});
  BOOST_TEST(!faults.LinkIsDown(2, Time{2000}));
}

}  // namespace ringpost::sim

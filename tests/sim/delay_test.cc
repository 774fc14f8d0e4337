// Delays put on purpose, at either end of the wire: what they move and what they leave alone.
#include <boost/test/unit_test.hpp>

#include "tests/sim/fabric_fixture.h"

namespace ringpost {
namespace {

constexpr uint64_t kPuts = 6;

// When each of a row of puts was complete, with `rule` in force.
std::vector<uint64_t> CompletionTimes(const std::vector<sim::FaultRule>& rules) {
  FabricOptions options;
  options.faults = rules;
  FabricFixture machine(options);
  std::vector<uint64_t> times;
  const FabricRun run = machine.RunOne([&](SimPort& port) {
    TestEndpoint<> endpoint(port, machine.table);
    for (uint64_t i = 0; i < kPuts; ++i) {
      const uint64_t begun = port.Now();
      BOOST_TEST(endpoint.Wait(endpoint.PutInline(machine.remote.Remote(64 * i), &i, 8)).Ok());
      times.push_back(port.Now() - begun);
    }
  });
  BOOST_TEST(run.ok, run.error);
  return times;
}

sim::FaultRule DelayOf(sim::FaultWhere where, uint64_t wqe, double ns) {
  sim::FaultRule rule;
  rule.where = where;
  rule.node = 0;
  rule.wqe = wqe;
  rule.amount = sim::Duration::Ns(ns);
  return rule;
}

void ExpectOnlyThirdIsLate(sim::FaultWhere where) {
  const std::vector<uint64_t> usual = CompletionTimes({});
  const std::vector<uint64_t> delayed = CompletionTimes({DelayOf(where, 2, 7000)});
  BOOST_REQUIRE_EQUAL(usual.size(), kPuts);
  BOOST_REQUIRE_EQUAL(delayed.size(), kPuts);
  // A poller meets the completion on its own beat: up to one turn of its loop off.
  constexpr int64_t kTurn = 200'000;
  for (uint64_t i = 0; i < kPuts; ++i) {
    const int64_t moved = static_cast<int64_t>(delayed[i]) - static_cast<int64_t>(usual[i]);
    const int64_t expected = i == 2 ? 7'000'000 : 0;
    BOOST_TEST(std::abs(moved - expected) <= kTurn, "put " << i << " moved by " << moved << " ps");
  }
}

BOOST_AUTO_TEST_CASE(ADelayAtTheRequesterMovesThatPutAlone) {
  ExpectOnlyThirdIsLate(sim::FaultWhere::kRequester);
}

BOOST_AUTO_TEST_CASE(ADelayAtTheResponderMovesThatPutAlone) {
  ExpectOnlyThirdIsLate(sim::FaultWhere::kResponder);
}

BOOST_AUTO_TEST_CASE(ADelayOnTheWireMovesThatPutAlone) {
  ExpectOnlyThirdIsLate(sim::FaultWhere::kWire);
}

BOOST_AUTO_TEST_CASE(ADelayedDoorbellMovesThatPutAlone) {
  ExpectOnlyThirdIsLate(sim::FaultWhere::kDoorbell);
}

BOOST_AUTO_TEST_CASE(ADelayedCqeMovesTheWaitForItAlone) {
  ExpectOnlyThirdIsLate(sim::FaultWhere::kCqe);
}

BOOST_AUTO_TEST_CASE(APauseOfTheFetchMovesThatPutAlone) {
  ExpectOnlyThirdIsLate(sim::FaultWhere::kFetch);
}

BOOST_AUTO_TEST_CASE(RulesThatMatchTheSamePutAddUp) {
  const std::vector<uint64_t> usual = CompletionTimes({});
  const std::vector<uint64_t> delayed =
      CompletionTimes({DelayOf(sim::FaultWhere::kRequester, 2, 7000),
                       DelayOf(sim::FaultWhere::kResponder, 2, 5000)});
  const int64_t moved = static_cast<int64_t>(delayed[2]) - static_cast<int64_t>(usual[2]);
  BOOST_TEST(std::abs(moved - 12'000'000) <= 200'000, "it moved by " << moved << " ps");
}

}  // namespace
}  // namespace ringpost

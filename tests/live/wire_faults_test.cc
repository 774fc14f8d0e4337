// What goes wrong on a live NIC's wire on purpose.
#include "sim/service/wire_faults.h"

#include <boost/test/unit_test.hpp>

namespace ringpost::sim::service {
namespace {

using std::chrono::milliseconds;

struct Wire {
  explicit Wire(const FaultRule& rule) : faults({.rules = {rule}, .node = 0, .seed = 1}) {}
  // Whether a packet of WQE `wqe` leaves at once.
  bool Leaves(uint64_t wqe) {
    faults.Put({0, 0, wqe, wqe + 1}, now, free, {}, wire::Packet());
    if (faults.Due(now) == nullptr) return false;
    faults.Pop();
    return true;
  }
  WireFaults faults;
  // Long after the machine has started, where picoseconds would not fit.
  WireFaults::Time now{std::chrono::hours(24 * 365)};
  WireFaults::Time free{};
};

BOOST_AUTO_TEST_SUITE(WireFaultsTest)

BOOST_AUTO_TEST_CASE(WhileALinkIsDownNothingLeavesOrComes) {
  FaultRule rule;
  rule.where = FaultWhere::kWire;
  rule.kind = FaultKind::kLinkDown;
  rule.wqe = 5;
  rule.amount = Duration::Ns(2e9);
  Wire wire(rule);
  BOOST_TEST(wire.faults.Any());
  BOOST_TEST(wire.Leaves(4));
  BOOST_TEST(wire.faults.Takes(wire.now));
  BOOST_TEST(!wire.Leaves(5));
  wire.now += milliseconds(1999);
  BOOST_TEST(!wire.Leaves(6));
  BOOST_TEST(!wire.faults.Takes(wire.now));
  wire.now += milliseconds(2);
  BOOST_TEST(wire.faults.Takes(wire.now));
  BOOST_TEST(wire.Leaves(5));  // once, as no count is given
  BOOST_TEST(wire.faults.Count().link_down == 3u);
}

BOOST_AUTO_TEST_CASE(ADropIsNoLinkThatIsDown) {
  FaultRule rule;
  rule.where = FaultWhere::kWire;
  rule.kind = FaultKind::kDrop;
  rule.count = 1;
  Wire wire(rule);
  BOOST_TEST(!wire.Leaves(0));
  BOOST_TEST(wire.faults.Takes(wire.now));
  BOOST_TEST(wire.Leaves(1));
  BOOST_TEST(wire.faults.Count().dropped == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace ringpost::sim::service

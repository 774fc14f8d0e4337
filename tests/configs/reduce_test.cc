#include "tools/ringpost/reduce.h"

#include <boost/test/unit_test.hpp>
#include <cmath>

#include "configs/schema/config_error.h"

namespace ringpost::tools {
namespace {

namespace tt = boost::test_tools;

const Series kLine = {{0, 1}, {1, 3}, {2, 5}, {4, 9}};  // y = 2 x + 1

BOOST_AUTO_TEST_CASE(ALineIsFitted) {
  BOOST_TEST(Reduce(kLine, "slope", 1) == 2.0, tt::tolerance(1e-12));
  BOOST_TEST(Reduce(kLine, "slope", 16) == 32.0, tt::tolerance(1e-12));
  BOOST_TEST(Reduce(kLine, "intercept", 1) == 1.0, tt::tolerance(1e-12));
  BOOST_TEST(Reduce(kLine, "r2", 1) == 1.0, tt::tolerance(1e-12));
  BOOST_TEST(Reduce({{0, 1}, {1, -1}, {2, 1}, {3, -1}}, "r2", 1) < 0.5);
}

BOOST_AUTO_TEST_CASE(ExtremesAndTheFirstPointThatReachesAShare) {
  BOOST_TEST(Reduce(kLine, "max", 1) == 9.0);
  BOOST_TEST(Reduce(kLine, "min", 1) == 1.0);
  BOOST_TEST(Reduce(kLine, "first_reaching(50 %)", 1) == 2.0);
}

BOOST_AUTO_TEST_CASE(NamedRunsAndNumbersAreCombined) {
  BOOST_TEST(Combine({{"a", 6}, {"b", 4}}, "a - b") == 2.0);
  BOOST_TEST(Combine({{"a", 6}, {"b", 4}}, "a / b") == 1.5);
  BOOST_TEST(Combine({{"a", 6}}, "a / 16") == 0.375);
}

BOOST_AUTO_TEST_CASE(AShareAndALossAreInPercent) {
  BOOST_TEST(Combine({{"a", 3}, {"b", 4}}, "share(a, b)") == 75.0);
  BOOST_TEST(Combine({{"a", 3}, {"b", 4}}, "loss(a, b)") == 25.0);
}

// Flat up to 300, then by the power of -1.5.
BOOST_AUTO_TEST_CASE(TheOnsetIsWhereAPowerLawLeavesThePlateau) {
  Series series;
  for (const double x : {50.0, 100.0, 200.0, 400.0, 800.0, 1600.0}) {
    series.push_back({x, x < 300 ? 80 : 80 * std::pow(x / 300, -1.5)});
  }
  BOOST_TEST(Reduce(series, "onset", 1) == 300.0, tt::tolerance(0.01));
}

BOOST_AUTO_TEST_CASE(OtherTextsAreRefused) {
  BOOST_CHECK_THROW(Reduce(kLine, "median", 1), config::ValueError);
  BOOST_CHECK_THROW(Combine({{"a", 6}}, "a"), config::ValueError);
  BOOST_CHECK_THROW(Combine({{"a", 6}}, "a - c"), config::ValueError);
}

}  // namespace
}  // namespace ringpost::tools

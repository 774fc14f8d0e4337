// Fails, passes, skips and dies, so that main_test can look at what each leaves behind.
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <cstdlib>

#include "tests/seed.h"

BOOST_AUTO_TEST_SUITE(Planted)

BOOST_AUTO_TEST_CASE(Passes) { BOOST_TEST_MESSAGE("seed is " << ringpost::TestSeed()); }

BOOST_AUTO_TEST_CASE(Fails) { BOOST_TEST(1 == 2); }

BOOST_AUTO_TEST_CASE(Dies) {
  if (std::getenv("PLANTED_DEATH") != nullptr) std::raise(SIGABRT);
}

bool Never(boost::unit_test::test_unit_id) { return false; }

BOOST_AUTO_TEST_CASE(IsSkipped, *boost::unit_test::precondition(Never)) { BOOST_TEST(false); }

BOOST_AUTO_TEST_SUITE_END()

#include "sim/uverbs/fail_once.h"

#include <boost/test/unit_test.hpp>
#include <cerrno>

namespace ringpost::sim::uverbs {
namespace {

BOOST_AUTO_TEST_SUITE(FailOnceTest)

FailOnce Plan(const char* text) { return FailOnce(FailOnce::Parse(text).Value()); }

BOOST_AUTO_TEST_CASE(ACommandFailsOnceByItsName) {
  FailOnce plan = Plan("CREATE_QP=ENOMEM,CREATE_CQ#2=EOPNOTSUPP");
  BOOST_TEST(plan.Next("CREATE_CQ") == 0);
  BOOST_TEST(plan.Next("CREATE_QP") == ENOMEM);
  BOOST_TEST(plan.Next("CREATE_QP") == 0);
  BOOST_TEST(plan.Next("CREATE_CQ") == EOPNOTSUPP);
  BOOST_TEST(plan.Next("CREATE_CQ") == 0);
}

BOOST_AUTO_TEST_CASE(ACommandFailsOnceByItsOrdinal) {
  FailOnce plan = Plan("#3=EINVAL");
  BOOST_TEST(plan.Next("A") == 0);
  BOOST_TEST(plan.Next("B") == 0);
  BOOST_TEST(plan.Next("C") == EINVAL);
  BOOST_TEST(plan.Next("C") == 0);
}

BOOST_AUTO_TEST_CASE(WithoutAPlanNothingFails) {
  FailOnce plan = Plan("");
  for (int i = 0; i < 100; ++i) BOOST_TEST(plan.Next("A") == 0);
}

BOOST_AUTO_TEST_CASE(APlanThatCannotBeReadIsRefusedInOneLine) {
  for (const char* text : {"CREATE_QP", "=EINVAL", "CREATE_QP=EWHAT", "#0=EINVAL", "#x=EINVAL",
                           "#1x=EINVAL", "A=EINVAL,,"}) {
    const auto plan = FailOnce::Parse(text);
    BOOST_TEST_REQUIRE(!plan.Ok(), text);
    BOOST_TEST(plan.Message().find("RINGPOST_UVERBS_FAIL") == 0u);
    BOOST_TEST(plan.Message().find("ENOMEM") != std::string::npos);
    BOOST_TEST(plan.Message().find('\n') == std::string::npos);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace ringpost::sim::uverbs

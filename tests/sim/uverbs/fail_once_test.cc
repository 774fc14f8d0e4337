#include "sim/uverbs/fail_once.h"

#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <set>
#include <string>

namespace ringpost::sim::uverbs {
namespace {

BOOST_AUTO_TEST_SUITE(FailOnceTest)

const std::set<std::string> kKnown = {"A", "CREATE_QP", "CREATE_CQ", "QP_CREATE"};

FailOnce Plan(const char* text) { return FailOnce(FailOnce::Parse(text, kKnown).Value()); }

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
    const auto plan = FailOnce::Parse(text, kKnown);
    BOOST_TEST_REQUIRE(!plan.Ok(), text);
    BOOST_TEST(plan.Message().find("RINGPOST_UVERBS_FAIL") == 0u);
    BOOST_TEST(plan.Message().find("ENOMEM") != std::string::npos);
    BOOST_TEST(plan.Message().find('\n') == std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(ACommandThatIsPlannedTwiceIsRefusedInOneLine) {
  for (const char* text :
       {"A=EIO,A=EINVAL", "A=EIO,A#1=EIO", "#3=EIO,A=EIO,#3=EIO", "A#2=EIO,A#2=EIO"}) {
    const auto plan = FailOnce::Parse(text, kKnown);
    BOOST_TEST_REQUIRE(!plan.Ok(), text);
    BOOST_TEST(plan.Message().find("RINGPOST_UVERBS_FAIL: '") == 0u);
    BOOST_TEST(plan.Message().find('\n') == std::string::npos);
  }
  BOOST_TEST(FailOnce::Parse("A=EIO,A#2=EIO,#1=EIO,#2=EIO,CREATE_QP=EIO", kKnown).Ok());
}

BOOST_AUTO_TEST_CASE(ANameThatNoCommandHasIsRefusedWithOneLikeIt) {
  for (const char* text : {"QP_CRATE=ENOMEM", "#3=EINVAL,CREATE_QPS#2=EIO", "create_qp=EIO"}) {
    const auto plan = FailOnce::Parse(text, kKnown);
    BOOST_TEST_REQUIRE(!plan.Ok(), text);
    BOOST_TEST(plan.Message().find("RINGPOST_UVERBS_FAIL: there is no command '") == 0u);
    BOOST_TEST(plan.Message().find('\n') == std::string::npos);
  }
  BOOST_TEST(FailOnce::Parse("QP_CRATE=EIO", kKnown).Message().find("such as QP_CREATE") !=
             std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace ringpost::sim::uverbs

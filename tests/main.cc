// The main() of every test program. It reports each test case to Bazel, and says how to repeat
// one that failed.
#define BOOST_TEST_MODULE ringpost
#include <boost/test/framework.hpp>
#include <boost/test/results_collector.hpp>
#include <boost/test/tree/observer.hpp>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <iostream>
#include <string>

#include "tests/seed.h"

// Only a sanitizer's runtime defines it; elsewhere its address is null.
extern "C" void __sanitizer_set_death_callback(void (*callback)()) __attribute__((weak));

namespace {

namespace unit_test = boost::unit_test;

void PrintRepeatCommand(const std::string& test_case) {
  std::cout << "seed " << ringpost::TestSeed() << "; to repeat this failure:\n  "
            << ringpost::RepeatCommand(test_case) << std::endl;
}

// A sanitizer ends the program in the middle of a case, before Boost.Test can say anything.
void PrintRepeatCommandOfCurrentCase() {
  PrintRepeatCommand(unit_test::framework::current_test_unit().full_name());
}

class FailureObserver final : public unit_test::test_observer {
 public:
  void test_unit_finish(const unit_test::test_unit& unit, unsigned long) override {
    if (unit.p_type != unit_test::TUT_CASE) return;
    const unit_test::test_results& results = unit_test::results_collector.results(unit.p_id);
    if (!results.passed() && !results.p_skipped) PrintRepeatCommand(unit.full_name());
  }
  // After the results collector, whose verdict this one reads.
  int priority() override { return 100; }
};

struct ReportFailures {
  ReportFailures() {
    unit_test::framework::register_observer(observer_);
    if (__sanitizer_set_death_callback != nullptr) {
      __sanitizer_set_death_callback(PrintRepeatCommandOfCurrentCase);
    }
  }
  ~ReportFailures() { unit_test::framework::deregister_observer(observer_); }

 private:
  FailureObserver observer_;
};

BOOST_TEST_GLOBAL_FIXTURE(ReportFailures);

// Bazel's own report has one entry for a whole program; Boost.Test writes one for each case. It
// reads its settings before main() could set them.
[[maybe_unused]] const bool cases_reported = [] {
  const char* file = std::getenv("XML_OUTPUT_FILE");
  if (file == nullptr) return false;
  const std::string loggers = "HRF,error,stdout:JUNIT,error," + std::string(file);
  return setenv("BOOST_TEST_LOGGER", loggers.c_str(), /*overwrite=*/0) == 0;
}();

}  // namespace

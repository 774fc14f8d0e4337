// The main() of every test program. It reports each test case to Bazel, and says how to repeat
// one that failed.
#define BOOST_TEST_MODULE ringpost
#include <unistd.h>

#include <boost/test/framework.hpp>
#include <boost/test/results_collector.hpp>
#include <boost/test/tree/observer.hpp>
#include <boost/test/unit_test.hpp>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <string>

#include "tests/seed.h"

// Only a sanitizer's runtime defines it; elsewhere its address is null.
extern "C" void __sanitizer_set_death_callback(void (*callback)()) __attribute__((weak));

namespace {

namespace unit_test = boost::unit_test;

// How to repeat the case that runs: made when it starts, as a program that dies can only print.
std::string g_repeat_message;

// Safe in a signal handler. Once for each case, whatever notices its failure first.
void PrintRepeatMessage() {
  size_t printed = 0;
  while (printed < g_repeat_message.size()) {
    const ssize_t count =
        write(STDOUT_FILENO, g_repeat_message.data() + printed, g_repeat_message.size() - printed);
    if (count <= 0) break;
    printed += static_cast<size_t>(count);
  }
  g_repeat_message.clear();
}

// For builds in which Boost.Test leaves signals alone.
void OnAbort(int) {
  PrintRepeatMessage();
  std::signal(SIGABRT, SIG_DFL);
  std::raise(SIGABRT);
}

class FailureObserver final : public unit_test::test_observer {
 public:
  void test_unit_start(const unit_test::test_unit& unit) override {
    if (unit.p_type != unit_test::TUT_CASE) return;
    g_repeat_message = "seed " + std::to_string(ringpost::TestSeed()) +
                       "; to repeat this failure:\n  " + ringpost::RepeatCommand(unit.full_name()) +
                       "\n";
  }
  void test_unit_finish(const unit_test::test_unit& unit, unsigned long) override {
    if (unit.p_type != unit_test::TUT_CASE) return;
    if (!unit_test::results_collector.results(unit.p_id).passed()) {
      std::cout.flush();
      PrintRepeatMessage();
    }
  }
  // After the results collector, whose verdict this one reads.
  int priority() override { return 100; }
};

struct ReportFailures {
  ReportFailures() {
    unit_test::framework::register_observer(observer_);
    std::signal(SIGABRT, OnAbort);
    if (__sanitizer_set_death_callback != nullptr) {
      __sanitizer_set_death_callback(PrintRepeatMessage);
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

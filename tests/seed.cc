#include "tests/seed.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace ringpost {
namespace {

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

uint64_t ReadSeed() {
  const std::string text = Environment("RINGPOST_TEST_SEED");
  if (text.empty()) return 1;
  char* end = nullptr;
  errno = 0;
  const uint64_t seed = std::strtoull(text.c_str(), &end, 10);
  if (errno != 0 || *end != '\0' || text[0] == '-') {
    std::fprintf(stderr, "RINGPOST_TEST_SEED: '%s' is no 64-bit decimal number\n", text.c_str());
    // Not exit(): that would tear down Boost.Test in the middle of a test case.
    std::_Exit(2);
  }
  return seed;
}

}  // namespace

uint64_t TestSeed() {
  static const uint64_t seed = ReadSeed();
  return seed;
}

std::string RepeatCommand(const std::string& test_case) {
  const std::string target = Environment("TEST_TARGET");
  const std::string config = Environment("RINGPOST_TEST_CONFIG");
  const std::string filter = "--run_test='" + test_case + "'";
  std::string command = "RINGPOST_TEST_SEED=" + std::to_string(TestSeed()) + " ";
  if (target.empty()) return command + "PROGRAM " + filter;
  command += "bazel test ";
  if (!config.empty()) command += "--config=" + config + " ";
  return command + "--test_arg=" + filter + " " + target;
}

}  // namespace ringpost

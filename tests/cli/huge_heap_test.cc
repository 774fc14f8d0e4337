#include "tools/ringpost/huge_heap.h"

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

namespace ringpost::tools {
namespace {

// What /proc/self/smaps says of the mapping that holds this address, on its line `name`.
std::string LineOfMapping(uintptr_t address, const std::string& name) {
  std::ifstream maps("/proc/self/smaps");
  bool inside = false;
  for (std::string line; std::getline(maps, line);) {
    uintptr_t begin = 0;
    uintptr_t end = 0;
    char dash = 0;
    std::istringstream head(line);
    if (head >> std::hex >> begin >> dash >> end && dash == '-') {
      inside = begin <= address && address < end;
    } else if (inside && line.rfind(name, 0) == 0) {
      return line;
    }
  }
  return "";
}

struct SystemHasHugePages {
  boost::test_tools::assertion_result operator()(boost::unit_test::test_unit_id) const {
    boost::test_tools::assertion_result has(
        std::filesystem::exists("/sys/kernel/mm/transparent_hugepage"));
    has.message() << "this kernel has no transparent huge pages";
    return has;
  }
};

BOOST_AUTO_TEST_CASE(WhatIsAllocatedAfterwardsLiesWhereHugePagesAreAskedFor,
                     *boost::unit_test::precondition(SystemHasHugePages())) {
  UseHugePagesForHeap();
  // More than what may lie before the first whole huge page.
  std::unique_ptr<char[]> blocks[64];
  for (auto& block : blocks) block = std::make_unique<char[]>(64 << 10);
  const std::string flags =
      LineOfMapping(reinterpret_cast<uintptr_t>(blocks[63].get()), "VmFlags:");
  BOOST_TEST_MESSAGE(flags);
  BOOST_TEST(flags.find(" hg") != std::string::npos);
}

}  // namespace
}  // namespace ringpost::tools

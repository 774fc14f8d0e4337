// Random walks over a wire that loses, repeats and reorders: exactly-once placement, PSN order, and
// an account of every WQE.
#include "tests/sim/nic/walk.h"

#include <boost/test/unit_test.hpp>

#include "tests/seed.h"

namespace ringpost::sim {
namespace {

void WalkMany(QpType type, uint32_t walks, Coverage& coverage) {
  for (uint64_t i = 0; i < walks; ++i) {
    const uint64_t seed = TestSeed() * 100003 + i;
    Walk walk(seed, type, coverage);
    const std::string wrong = walk.Run(120);
    BOOST_TEST_REQUIRE(wrong == "", "walk " << i << " of seed " << TestSeed() << ": " << wrong);
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(ARandomWalkOverRcEndsAsItsModelDoes) {
  Coverage coverage;
  WalkMany(QpType::kRc, 150, coverage);
}

BOOST_AUTO_TEST_CASE(ARandomWalkOverDcEndsAsItsModelDoes) {
  Coverage coverage;
  WalkMany(QpType::kDci, 150, coverage);
}

}  // namespace ringpost::sim

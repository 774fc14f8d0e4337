// sim/memory against a view machine written as plainly as possible, on random programs.
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <string>

#include "tests/properties/random_program.h"
#include "tests/seed.h"

namespace ringpost::sim {
namespace {

constexpr uint64_t kPrograms = 1500;
constexpr uint32_t kSteps = 50;

void RunPrograms(VisibilityMode mode, bool nic_reads_l2) {
  for (uint64_t i = 0; i < kPrograms; ++i) {
    RandomProgram program(mode, nic_reads_l2, Mix(TestSeed()) + i);
    const std::string difference = program.Run(kSteps);
    BOOST_REQUIRE_MESSAGE(difference.empty(), "seed " << TestSeed() << ", program " << i
                                                      << ", nic_reads_l2 " << nic_reads_l2 << ": "
                                                      << difference << "\n"
                                                      << program.Log());
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(EveryAgentMayReadExactlyWhatTheNaiveViewMachineAllows) {
  RunPrograms(VisibilityMode::kAdversarial, true);
}

BOOST_AUTO_TEST_CASE(TheSameHoldsWhereTheNicDoesNotReadThroughL2) {
  RunPrograms(VisibilityMode::kAdversarial, false);
}

BOOST_AUTO_TEST_CASE(TimedReadsReturnTheNewestThatHasArrivedOrMustBeKnown) {
  RunPrograms(VisibilityMode::kTimed, true);
}

BOOST_AUTO_TEST_CASE(StrictReadsReturnTheNewest) { RunPrograms(VisibilityMode::kStrict, true); }

}  // namespace ringpost::sim

// Takes out or weakens each ordered operation of the transport, one at a time, and sees who
// notices.
#include <fmt/format.h>

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "tests/mutation/plan.h"
#include "tests/mutation/program.h"
#include "tests/mutation/redundant.h"

namespace ringpost::mutation {
namespace {

constexpr uint64_t kSeeds = 8;
// What the checker reports without an error depends on few seeds: it does not look at values.
constexpr uint64_t kSeedsWithoutError = 2;

std::string NameOf(const PairUnderTest& pair) {
  return fmt::format("{} with {}", pair.publication, pair.ordering);
}

bool Contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// Every point that some scenario of the pair executes.
std::vector<Point> PointsOf(const PairUnderTest& pair) {
  Plan recording;
  for (const Scenario& scenario : ScenariosOf(pair)) pair.run(scenario, recording);
  return recording.Points();
}

// The first run that shows the mutant, or a clean verdict if none does.
Verdict Hunt(const PairUnderTest& pair, const Point& point, Mutation mutation) {
  bool applied = false;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    for (Scenario scenario : ScenariosOf(pair)) {
      if (!scenario.fails && seed > kSeedsWithoutError) continue;
      scenario.seed = seed;
      Plan plan(point, mutation);
      const Verdict verdict = pair.run(scenario, plan);
      applied = applied || plan.Applied();
      if (!verdict.Clean()) return verdict;
    }
  }
  BOOST_TEST(applied, NameOf(pair) << ": " << Describe(point) << " never ran");
  return {};
}

struct Tally {
  int tried = 0;
  int by_checker = 0;
  int by_result = 0;
  int listed = 0;
};

void Try(const PairUnderTest& pair, const Point& point, Mutation mutation,
         std::vector<int>& survivors_of, Tally& tally) {
  const std::string name =
      fmt::format("{}: {}: {}", NameOf(pair), Describe(point), NameOf(mutation));
  const std::vector<Redundant>& redundant = RedundantOperations();
  size_t entry = 0;
  while (entry < redundant.size() && !redundant[entry].Covers(pair, point, mutation)) ++entry;
  const bool listed = entry < redundant.size();
  const Verdict verdict = Hunt(pair, point, mutation);
  ++tally.tried;
  if (verdict.Clean()) {
    BOOST_TEST(listed, name << " was not caught, and no entry says why");
    if (listed) ++survivors_of[entry];
    ++tally.listed;
    return;
  }
  BOOST_TEST(!listed, name << " was caught though listed as redundant: " << verdict.What());
  ++(verdict.reports.empty() ? tally.by_result : tally.by_checker);
  for (const std::string& report : verdict.reports) {
    BOOST_TEST(Contains(report, " at "), name << ": " << report);
    BOOST_TEST(Contains(report, "; missing: "), name << ": " << report);
  }
}

BOOST_AUTO_TEST_CASE(ProgramsAsTheyStandAreCleanInEveryMode) {
  for (const PairUnderTest& pair : AllPairs()) {
    if (pair.Unordered()) continue;
    for (Scenario scenario : ScenariosOf(pair)) {
      for (const auto mode : {sim::VisibilityMode::kStrict, sim::VisibilityMode::kTimed,
                              sim::VisibilityMode::kAdversarial}) {
        scenario.mode = mode;
        for (scenario.seed = 1; scenario.seed <= kSeeds; ++scenario.seed) {
          Plan plan;
          const Verdict verdict = pair.run(scenario, plan);
          BOOST_TEST(verdict.Clean(), NameOf(pair)
                                          << ", " << scenario.name << ", mode "
                                          << static_cast<int>(mode) << ": " << verdict.What());
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(EachOperationTakenOutOrWeakenedIsCaughtOrListed) {
  Tally tally;
  std::vector<int> survivors_of(RedundantOperations().size());
  for (const PairUnderTest& pair : AllPairs()) {
    if (pair.Unordered()) continue;
    for (const Point& point : PointsOf(pair)) {
      for (const Mutation mutation : MutationsOf(point)) {
        Try(pair, point, mutation, survivors_of, tally);
      }
    }
  }
  for (size_t i = 0; i < survivors_of.size(); ++i) {
    BOOST_TEST(survivors_of[i] > 0,
               "no mutant is left under the entry that says: " << RedundantOperations()[i].reason);
  }
  BOOST_TEST_MESSAGE(
      fmt::format("{} mutants: {} caught by the checker, {} by wrong results, {} "
                  "redundant",
                  tally.tried, tally.by_checker, tally.by_result, tally.listed));
}

// Whether the checker reports the pair in some scenario that has no error.
std::string ReportOf(const PairUnderTest& pair, Placement placement, bool nic_reads_l2) {
  for (Scenario scenario : ScenariosOf(pair)) {
    if (scenario.fails) continue;
    scenario.placement = placement;
    scenario.nic_reads_l2 = nic_reads_l2;
    Plan plan;
    const Verdict verdict = pair.run(scenario, plan);
    if (!verdict.reports.empty()) return verdict.reports.front();
  }
  return "";
}

BOOST_AUTO_TEST_CASE(TheCheckerCatchesEachOrderingWhereItIsNotSafe) {
  for (const PairUnderTest& pair : AllPairs()) {
    const bool system = !pair.Unordered() && pair.scope == Scope::kSystem;
    const std::string in_gpu = ReportOf(pair, Placement::kGpu, true);
    const std::string in_host = ReportOf(pair, Placement::kHost, true);
    const std::string ptx = ReportOf(pair, Placement::kGpu, false);
    BOOST_TEST(in_gpu.empty() == !pair.Unordered(), NameOf(pair) << ", GPU: " << in_gpu);
    BOOST_TEST(in_host.empty() == system, NameOf(pair) << ", host: " << in_host);
    BOOST_TEST(ptx.empty() == system, NameOf(pair) << ", GPU by PTX alone: " << ptx);
  }
}

BOOST_AUTO_TEST_CASE(AQpInErrorMayMissTheRecordThatGpuFenceLeavesUnordered) {
  for (const PairUnderTest& pair : AllPairs()) {
    if (pair.ordering != "gpu_fence") continue;
    Scenario scenario = ScenariosOf(pair).front();
    scenario.fails = true;
    Plan plan;
    const Verdict verdict = pair.run(scenario, plan);
    BOOST_TEST(Contains(verdict.What(), "took an index from the doorbell record"),
               NameOf(pair) << ": " << verdict.What());
  }
}

}  // namespace
}  // namespace ringpost::mutation

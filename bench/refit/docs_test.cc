// docs/fidelity.md says what the simulator now says.
#include <fmt/format.h>

#include <boost/test/unit_test.hpp>

#include "bench/refit/covered.h"
#include "bench/refit/report.h"
#include "configs/schema/platform_loader.h"
#include "configs/schema/root.h"
#include "configs/schema/yaml_file.h"

namespace ringpost::bench {
namespace {

std::string Document() { return config::ReadText(config::FindRoot() + "/docs/fidelity.md"); }

Plan ThePlan() { return ReadPlan(config::FindRoot() + "/configs/fit.yaml"); }

BOOST_AUTO_TEST_CASE(TheRowsAreThoseOfTheSimulator) {
  const auto rows = tools::ReadFigures(config::FindRoot() + "/configs/reference/figures.yaml");
  const auto verdicts = JudgeCovered(ThePlan(), rows, tools::RealRunner());
  const std::string text = RowSummary(verdicts) + "\n" + RowTable(verdicts);
  BOOST_TEST((WithSection(Document(), "rows", text) == Document()),
             "docs/fidelity.md is old: bazel run //bench/refit -- --rows-only --docs "
             "docs/fidelity.md");
}

BOOST_AUTO_TEST_CASE(TheFittedNumbersAreThoseOfThePlatformFiles) {
  const std::string document = Document();
  for (const Stage& stage : ThePlan().stages) {
    for (const Move& move : stage.moves) {
      const sim::Platform platform = config::LoadPlatform(move.platform);
      for (const sim::ParameterInfo& info : sim::Parameters()) {
        if (info.key != move.parameters[0]) continue;
        const sim::Parameter& parameter = platform.*(info.member);
        const double value = move.in_cycles ? parameter.cycles : parameter.ns;
        const std::string cells = fmt::format("` | {} | {:.4g} {} |", move.platform, value,
                                              move.in_cycles ? "cycles" : "ns");
        BOOST_TEST((document.find(cells) != std::string::npos), info.key << cells);
      }
    }
  }
}

}  // namespace
}  // namespace ringpost::bench

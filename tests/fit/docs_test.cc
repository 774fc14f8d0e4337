// docs/fidelity.md says what the simulator now says.
#include <fmt/format.h>

#include <boost/test/unit_test.hpp>

#include "configs/schema/platform_loader.h"
#include "configs/schema/root.h"
#include "configs/schema/yaml_file.h"
#include "tools/ringpost/fit/covered.h"
#include "tools/ringpost/fit/report.h"

namespace ringpost::tools {
namespace {

std::string Document() { return config::ReadText(config::FindRoot() + "/docs/fidelity.md"); }

FitPlan ThePlan() { return ReadFitPlan(config::FindRoot() + "/configs/fit.yaml"); }

BOOST_AUTO_TEST_CASE(TheRowsAreThoseOfTheSimulator) {
  const auto rows = ReadFigures(config::FindRoot() + "/configs/reference/figures.yaml");
  const auto verdicts = JudgeCovered(ThePlan(), rows, RealRunner());
  const std::string text = RowSummary(verdicts) + "\n" + RowTable(verdicts);
  BOOST_TEST((WithSection(Document(), "rows", text) == Document()),
             "docs/fidelity.md is old: ringpost fit configs/fit.yaml --rows-only --docs "
             "docs/fidelity.md");
}

BOOST_AUTO_TEST_CASE(TheFittedNumbersAreThoseOfThePlatformFiles) {
  const std::string document = Document();
  for (const FitStage& stage : ThePlan().stages) {
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
}  // namespace ringpost::tools

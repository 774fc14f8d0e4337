#include "tools/ringpost/fit/fit_command.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "configs/schema/config_error.h"
#include "configs/schema/platform_loader.h"
#include "configs/schema/root.h"
#include "configs/schema/yaml_file.h"
#include "tools/ringpost/exit_status.h"
#include "tools/ringpost/experiment.h"
#include "tools/ringpost/figures.h"
#include "tools/ringpost/fit/covered.h"
#include "tools/ringpost/fit/fitter.h"
#include "tools/ringpost/fit/report.h"
#include "tools/ringpost/output_file.h"
#include "tools/ringpost/progress.h"
#include "tools/ringpost/version.h"

namespace ringpost::tools {
namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void Refuse(const char* option, const std::string& wrong, const std::string& right) {
  throw config::ConfigError({"command line", 1, 1}, option, {wrong, right});
}

// A number is written where it stands.
void CheckOwned(const FitPlan& plan) {
  for (const FitStage& stage : plan.stages) {
    for (const Move& move : stage.moves) {
      const config::PlatformSource source = config::SourceOf(move.platform);
      for (const std::string& key : move.parameters) {
        if (source.own.contains(key)) continue;
        throw config::ConfigError(
            move.position, key,
            {fmt::format("does not stand in the file of {}, which has it from {}", move.platform,
                         source.base),
             fmt::format("move that of {}, or use --out", source.base)});
      }
    }
  }
}

void CheckArguments(const FitArguments& arguments, const FitPlan& plan) {
  if (arguments.rows_only && (arguments.write || !arguments.out.empty())) {
    Refuse("--rows-only", "fits nothing that could be written", "leave it out");
  }
  if (arguments.rows_only && !arguments.json.empty()) {
    Refuse("--json", "writes what is fitted, and --rows-only fits nothing",
           "use reproduce --json for rows");
  }
  if (!arguments.docs.empty() && !arguments.write && !arguments.rows_only) {
    Refuse("--docs", "has rows of the platform files as they are", "use --write or --rows-only");
  }
  if (arguments.write) CheckOwned(plan);
  const std::vector<std::string> moved = MovedPlatforms(plan);
  if (!arguments.out.empty() && moved.size() > 1) {
    Refuse("--out", fmt::format("is one platform, and {} and {} are moved", moved[0], moved[1]),
           "make a configuration for each, or use --write");
  }
}

std::string JsonOf(const std::vector<FittedNumber>& numbers,
                   const std::vector<Residual>& residuals) {
  Json json;
  json["version"] = kVersion;
  json["source"] = "fitted";
  constexpr const char* kBounds[] = {"from", "none", "to"};
  json["numbers"] = Json::array();
  for (const FittedNumber& number : numbers) {
    json["numbers"].push_back({{"platform", number.move.platform},
                               {"parameters", number.move.parameters},
                               {"value", number.value},
                               {"unit", number.move.in_cycles ? "cycles" : "ns"},
                               {"from", number.move.from},
                               {"to", number.move.to},
                               {"rows", number.rows},
                               {"at_bound", kBounds[number.at_bound + 1]}});
  }
  json["residuals"] = Json::array();
  for (const Residual& residual : residuals) {
    json["residuals"].push_back({{"row", residual.row},
                                 {"published", residual.published},
                                 {"simulated", residual.simulated},
                                 {"unit", residual.unit},
                                 {"relative_error", residual.error}});
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void WritePlatforms(const std::vector<FittedNumber>& numbers) {
  for (const std::string& name : config::PlatformNames()) {
    const std::string path = config::PlatformPath(name);
    const std::string text = config::ReadText(path);
    const std::string fitted = WithNumbers(text, name, numbers);
    if (fitted != text) OutputFile("--write", path).Write(fitted);
  }
}

}  // namespace

int RunFitCommand(const FitArguments& arguments, std::ostream& out) {
  const FitPlan plan = ReadFitPlan(arguments.config);
  CheckArguments(arguments, plan);
  const std::string figures = arguments.figures.empty()
                                  ? config::FindRoot() + "/configs/reference/figures.yaml"
                                  : arguments.figures;
  const std::vector<FigureRow> rows = ReadFigures(figures);
  std::vector<std::string> taken = {arguments.config, figures};
  for (const std::string& name : config::PlatformNames()) {
    taken.push_back(config::PlatformPath(name));
  }
  const auto open = [&taken](std::optional<OutputFile>& file, const char* option,
                             const std::string& path) {
    if (path.empty()) return;
    file.emplace(option, path, taken);
    taken.push_back(path);
  };
  std::optional<OutputFile> fragment, json, docs;
  open(fragment, "--out", arguments.out);
  open(json, "--json", arguments.json);
  open(docs, "--docs", arguments.docs);
  std::string document = docs ? config::ReadText(arguments.docs) : "";
  if (!arguments.rows_only) {
    Fitter fitter(plan, rows);
    std::vector<FittedNumber> numbers;
    {
      Progress progress(plan.stages.size());
      numbers = fitter.FitAll([&progress](const std::string& name) { progress.Next(name); });
    }
    const std::vector<Residual> residuals = fitter.Residuals();
    out << FitSummary(numbers, residuals);
    if (fragment) fragment->Write(FragmentOf(numbers, residuals));
    if (json) json->Write(JsonOf(numbers, residuals));
    if (arguments.write) WritePlatforms(numbers);
    if (docs) document = WithSection(document, "numbers", NumberTable(numbers));
  }
  if (!docs && !arguments.rows_only) return kClean;
  // Of the platform files as they now are.
  const std::vector<Verdict> verdicts = JudgeCovered(plan, rows, RealRunner());
  const std::string rows_text = RowSummary(verdicts) + "\n" + RowTable(verdicts);
  if (arguments.rows_only) out << rows_text;
  if (docs) docs->Write(WithSection(document, "rows", rows_text));
  return kClean;
}

}  // namespace ringpost::tools

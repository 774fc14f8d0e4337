#include "tools/ringpost/reproduce_command.h"

#include <optional>
#include <regex>
#include <vector>

#include "configs/schema/config_error.h"
#include "configs/schema/root.h"
#include "tools/ringpost/exit_status.h"
#include "tools/ringpost/figure_report.h"
#include "tools/ringpost/figures.h"
#include "tools/ringpost/output_file.h"
#include "tools/ringpost/progress.h"
#include "tools/ringpost/verdict.h"

namespace ringpost::tools {
namespace {

// Experiments leave the seed at its default, and `set:` cannot name it.
constexpr uint64_t kSeed = 1;

std::vector<FigureRow> Selected(std::vector<FigureRow> rows, const std::string& only) {
  if (only.empty()) return rows;
  const config::Position place{"command line", 1, 1};
  std::regex expression;
  try {
    expression = std::regex(only);
  } catch (const std::regex_error&) {
    throw config::ConfigError(
        place, "--only",
        {"'" + only + "' is not a regular expression", "give one, such as ^rate_"});
  }
  std::erase_if(rows, [&expression](const FigureRow& row) {
    return !std::regex_search(row.id, expression) && !std::regex_search(row.system, expression) &&
           !std::regex_search(row.platform, expression);
  });
  if (rows.empty()) {
    throw config::ConfigError(place, "--only",
                              {"no row matches '" + only + "'", "match an id, system or platform"});
  }
  return rows;
}

}  // namespace

int RunReproduceCommand(const ReproduceArguments& arguments, const Runner& runner,
                        std::ostream& out) {
  const std::string path = arguments.figures.empty()
                               ? config::FindRoot() + "/configs/reference/figures.yaml"
                               : arguments.figures;
  const std::vector<FigureRow> rows = Selected(ReadFigures(path), arguments.only);
  std::optional<OutputFile> json;
  if (!arguments.json.empty()) json.emplace("--json", arguments.json, std::vector{path});
  Runs runs(runner);
  std::vector<Verdict> verdicts;
  {
    Progress progress(rows.size());
    for (const FigureRow& row : rows) {
      progress.Next(row.id);
      verdicts.push_back(Judge(row, runs));
    }
  }
  MarkCounted(verdicts);
  out << FigureTable(verdicts, kSeed);
  if (json) json->Write(FigureJson(verdicts, kSeed));
  return Summarize(verdicts).miss > 0 ? kFound : kClean;
}

}  // namespace ringpost::tools

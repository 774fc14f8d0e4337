#include "tools/ringpost/quickstart_command.h"

#include <fmt/format.h>

#include "configs/schema/config_error.h"
#include "configs/schema/root.h"
#include "tools/ringpost/error_line.h"
#include "tools/ringpost/exit_status.h"
#include "tools/ringpost/figure_report.h"
#include "tools/ringpost/figures.h"
#include "tools/ringpost/progress.h"
#include "tools/ringpost/verdict.h"

namespace ringpost::tools {
namespace {

struct Line {
  const char* label;
  const char* figure;
  bool from_quickstart;  // the file that a user is told to edit
};

// Put latency is what quickstart.yaml says; the other two show the other ends of the same path.
constexpr Line kLines[] = {
    {"issue of one put", "mini_gda_inline_issue_pib", true},
    {"put and completion", "mini_gda_inline_putc_pib", true},
    {"round trip", "mini_gda_inline_rtt_pib", false},
    {"message rate, 64 QPs", "rate_64t_64qp_64sm_b16", false},
};

FigureRow RowOf(const std::vector<FigureRow>& rows, const std::string& id,
                const std::string& path) {
  for (const FigureRow& row : rows) {
    if (row.id == id && !row.runs.empty()) return row;
  }
  throw config::ConfigError({path, 1, 1}, id, {"is not in this file", "add the row"});
}

}  // namespace

int RunQuickstartCommand(const Runner& runner, std::ostream& out) {
  const std::string configs = config::FindRoot() + "/configs/";
  const std::string quickstart = configs + "quickstart.yaml";
  const std::string figures = configs + "reference/figures.yaml";
  const std::vector<FigureRow> rows = ReadFigures(figures);
  const Experiment experiment = LoadExperiment({quickstart, {}});
  const config::Config& config = experiment.loaded.config;
  Runs runs(runner);
  std::string text = fmt::format("{:<24}{:>16}{:>16}{:>10}\n", "8-byte messages, P-IB", "published",
                                 "simulated", "error");
  int failed = 0;
  {
    Progress progress(std::size(kLines));
    for (const Line& line : kLines) {
      progress.Next(line.label);
      FigureRow row = RowOf(rows, line.figure, figures);
      if (line.from_quickstart) row.runs[0].experiment = quickstart;
      const Verdict verdict = Judge(row, runs);
      if (!verdict.simulated) {
        PrintError(fmt::format("ringpost: {}: {}", line.label, verdict.reason));
        ++failed;
        continue;
      }
      text +=
          fmt::format("{:<24}{:>16}{:>16}{:>+8.1f} %\n", line.label, row.published + " " + row.unit,
                      ValueText(*verdict.simulated, row.unit), *verdict.relative_error * 100);
    }
  }
  out << text << IdentityLine(config.platform, experiment.hash, config.seed) << "\n"
      << "next: ringpost run configs/quickstart.yaml, ringpost reproduce, ringpost --help\n";
  return failed > 0 ? kFailed : kClean;
}

}  // namespace ringpost::tools

#include "tools/ringpost/fit/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <map>
#include <sstream>
#include <stdexcept>

#include "tools/ringpost/figure_report.h"
#include "tools/ringpost/text_table.h"
#include "tools/ringpost/version.h"

namespace ringpost::tools {
namespace {

std::string ValueOf(const FittedNumber& number) {
  return fmt::format("{:.4g} {}", number.value, number.move.in_cycles ? "cycles" : "ns");
}

// "at its lower bound"; empty: at none. What the rows ask for may lie beyond.
std::string BoundText(const FittedNumber& number) {
  if (number.at_bound == 0) return "";
  return fmt::format("at its {} bound", number.at_bound < 0 ? "lower" : "upper");
}

std::string MovementOf(const FittedNumber& number) {
  if (number.rows.size() == 1) return "fixed by this row alone";
  if (number.exact) return "as many rows as numbers";
  return fmt::format("{:.1f} % ({})", 100 * std::abs(number.row_movement), number.moved_row);
}

std::string LineFor(const std::string& name, const FittedNumber& number) {
  const std::string value = number.move.in_cycles ? fmt::format("cycles: {:.4g}", number.value)
                                                  : fmt::format("value: {:.4g} ns", number.value);
  return fmt::format("{}: {{{}, provenance: fitted, source: \"{}\"}}", name, value,
                     fmt::join(number.rows, ", "));
}

// Where `block:` starts at the left edge.
size_t BlockStart(const std::string& text, const std::string& block) {
  const std::string line = "\n" + block + ":";
  const size_t at = text.find(line);
  if (at == std::string::npos) throw std::runtime_error("there is no block " + block);
  return at + line.size();
}

std::string Published(const FigureRow& row) {
  const bool has_unit = (row.value || row.low) && row.unit != "-";
  return has_unit ? row.published + " " + row.unit : row.published;
}

std::string ResidualTable(const std::vector<Residual>& residuals) {
  std::vector<Cells> table = {{"row", "published", "simulated", "error"}};
  for (const Residual& residual : residuals) {
    table.push_back({residual.row, ValueText(residual.published, residual.unit),
                     ValueText(residual.simulated, residual.unit),
                     fmt::format("{:+.1f} %", 100 * residual.error)});
  }
  return Aligned(table);
}

}  // namespace

std::string FitSummary(const std::vector<FittedNumber>& numbers,
                       const std::vector<Residual>& residuals) {
  std::vector<Cells> table = {{"parameter", "platform", "value", "bounds", "rows that fix it"}};
  for (const FittedNumber& number : numbers) {
    const Move& move = number.move;
    const std::string at = BoundText(number);
    table.push_back(
        {fmt::format("{}", fmt::join(move.parameters, ", ")), move.platform, ValueOf(number),
         fmt::format("{:.4g} to {:.4g}{}", move.from, move.to, at.empty() ? "" : ": it is " + at),
         fmt::format("{}", fmt::join(number.rows, ", "))});
  }
  return Aligned(table) + "\n" + ResidualTable(residuals);
}

std::string FragmentOf(const std::vector<FittedNumber>& numbers,
                       const std::vector<Residual>& residuals) {
  const std::string& platform = numbers[0].move.platform;
  std::string text = fmt::format(
      "# {} with numbers that ringpost {} has fitted to these rows:\n#\n", platform, kVersion);
  std::istringstream rows(ResidualTable(residuals));
  for (std::string line; std::getline(rows, line);) text += "#   " + line + "\n";
  for (const FittedNumber& number : numbers) {
    if (number.at_bound == 0) continue;
    text += fmt::format("# {} is {}: what the rows ask for may lie beyond.\n",
                        fmt::join(number.move.parameters, ", "), BoundText(number));
  }
  text += "base: " + platform + "\n";
  std::map<std::string, std::string> blocks;
  for (const FittedNumber& number : numbers) {
    for (const std::string& key : number.move.parameters) {
      const size_t dot = key.find('.');
      blocks[key.substr(0, dot)] += "  " + LineFor(key.substr(dot + 1), number) + "\n";
    }
  }
  for (const auto& [block, lines] : blocks) text += "\n" + block + ":\n" + lines;
  return text;
}

std::string NumberTable(const std::vector<FittedNumber>& numbers) {
  std::string text =
      "| parameter | platform | value | rows that fix it | leaving one out moves it by |\n"
      "|---|---|---|---|---|\n";
  for (const FittedNumber& number : numbers) {
    text += fmt::format("| `{}` | {} | {} | {} | {} |\n", fmt::join(number.move.parameters, "`, `"),
                        number.move.platform, ValueOf(number), fmt::join(number.rows, ", "),
                        MovementOf(number));
  }
  return text;
}

std::string RowTable(const std::vector<Verdict>& verdicts) {
  std::string text =
      "| figure | platform | published | simulated | error | role | status |\n"
      "|---|---|---|---|---|---|---|\n";
  for (const Verdict& verdict : verdicts) {
    const FigureRow& row = verdict.row;
    std::string simulated = verdict.simulated_text;
    if (simulated.empty() && verdict.simulated) {
      simulated = ValueText(*verdict.simulated, row.unit);
    }
    const std::string error =
        verdict.relative_error ? fmt::format("{:+.1f} %", 100 * *verdict.relative_error) : "";
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {}{} |\n", row.id, row.platform,
                        Published(row), simulated, error, row.role, NameOf(verdict.status),
                        verdict.reason.empty() ? "" : ": " + verdict.reason);
  }
  return text;
}

std::string RowSummary(const std::vector<Verdict>& verdicts) {
  int counted = 0, hit = 0, predicted = 0, predicted_hit = 0;
  for (const Verdict& verdict : verdicts) {
    if (!verdict.counted) continue;
    const bool is_hit = verdict.status == Status::kHit;
    const bool is_predicted = verdict.row.role == "predicted";
    ++counted;
    hit += is_hit;
    predicted += is_predicted;
    predicted_hit += is_predicted && is_hit;
  }
  return fmt::format(
      "{} rows, of which {} count: {} hit. Of the counted rows {} are predicted, and {} of these "
      "({:.0f} %) hit.\n",
      verdicts.size(), counted, hit, predicted, predicted_hit,
      predicted == 0 ? 0 : 100.0 * predicted_hit / predicted);
}

std::string WithNumbers(std::string text, const std::string& platform,
                        const std::vector<FittedNumber>& numbers) {
  for (const FittedNumber& number : numbers) {
    if (number.move.platform != platform) continue;
    for (const std::string& key : number.move.parameters) {
      const size_t dot = key.find('.');
      const std::string name = key.substr(dot + 1);
      const size_t at = text.find("\n  " + name + ": {", BlockStart(text, key.substr(0, dot)));
      const size_t end = at == std::string::npos ? at : text.find('}', at);
      if (end == std::string::npos) {
        throw std::runtime_error(platform + " has no line for " + key);
      }
      text.replace(at + 3, end + 1 - (at + 3), LineFor(name, number));
    }
  }
  return text;
}

std::string WithSection(const std::string& document, const std::string& name,
                        const std::string& text) {
  const std::string begin = "<!-- fit: " + name + " -->\n";
  const size_t at = document.find(begin);
  const size_t end = document.find("<!-- fit: end -->", at);
  if (at == std::string::npos || end == std::string::npos) {
    throw std::runtime_error("the document has no place for " + name);
  }
  const size_t start = at + begin.size();
  return document.substr(0, start) + text + document.substr(end);
}

}  // namespace ringpost::tools

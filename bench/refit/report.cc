#include "bench/refit/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <stdexcept>

#include "tools/ringpost/figure_report.h"

namespace ringpost::bench {
namespace {

std::string ValueOf(const FittedNumber& number) {
  return fmt::format("{:.4g} {}", number.value, number.move.in_cycles ? "cycles" : "ns");
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

std::string Published(const tools::FigureRow& row) {
  const bool has_unit = (row.value || row.low) && row.unit != "-";
  return has_unit ? row.published + " " + row.unit : row.published;
}

}  // namespace

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

std::string RowTable(const std::vector<tools::Verdict>& verdicts) {
  std::string text =
      "| figure | platform | published | simulated | error | role | status |\n"
      "|---|---|---|---|---|---|---|\n";
  for (const tools::Verdict& verdict : verdicts) {
    const tools::FigureRow& row = verdict.row;
    std::string simulated = verdict.simulated_text;
    if (simulated.empty() && verdict.simulated) {
      simulated = tools::ValueText(*verdict.simulated, row.unit);
    }
    const std::string error =
        verdict.relative_error ? fmt::format("{:+.1f} %", 100 * *verdict.relative_error) : "";
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {}{} |\n", row.id, row.platform,
                        Published(row), simulated, error, row.role, tools::NameOf(verdict.status),
                        verdict.reason.empty() ? "" : ": " + verdict.reason);
  }
  return text;
}

std::string RowSummary(const std::vector<tools::Verdict>& verdicts) {
  int counted = 0, hit = 0, predicted = 0, predicted_hit = 0;
  for (const tools::Verdict& verdict : verdicts) {
    if (!verdict.counted) continue;
    const bool is_hit = verdict.status == tools::Status::kHit;
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
  const std::string begin = "<!-- refit: " + name + " -->\n";
  const size_t at = document.find(begin);
  const size_t end = document.find("<!-- refit: end -->", at);
  if (at == std::string::npos || end == std::string::npos) {
    throw std::runtime_error("the document has no place for " + name);
  }
  const size_t start = at + begin.size();
  return document.substr(0, start) + text + document.substr(end);
}

}  // namespace ringpost::bench

#include "tools/ringpost/figure_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "configs/schema/config_hash.h"
#include "configs/schema/platform_loader.h"
#include "tools/ringpost/text_table.h"
#include "tools/ringpost/version.h"

namespace ringpost::tools {
namespace {

using Json = nlohmann::ordered_json;

std::set<std::string> PlatformsOf(const std::vector<Verdict>& verdicts) {
  std::set<std::string> platforms;
  for (const Verdict& verdict : verdicts) {
    if (!verdict.hash.empty()) platforms.insert(PlatformOf(verdict.row));
  }
  return platforms;
}

// One number over the configurations of all rows.
std::string HashOfAll(const std::vector<Verdict>& verdicts) {
  std::string hashes;
  for (const Verdict& verdict : verdicts) hashes += verdict.hash + " ";
  return fmt::format("{:016x}", config::HashOf(hashes));
}

std::string PublishedText(const FigureRow& row) {
  if (!row.value && !row.low) return row.published;
  return row.unit == "-" ? row.published : row.published + " " + row.unit;
}

std::string SimulatedText(const Verdict& verdict) {
  if (!verdict.simulated_text.empty()) return verdict.simulated_text;
  return verdict.simulated ? ValueText(*verdict.simulated, verdict.row.unit) : "-";
}

std::string ErrorText(const Verdict& verdict) {
  if (!verdict.relative_error) return "-";
  return fmt::format("{:+.1f} %", *verdict.relative_error * 100);
}

std::string StatusText(const Verdict& verdict) {
  std::string text = NameOf(verdict.status);
  if (!verdict.reason.empty()) text += ": " + verdict.reason;
  return text;
}

std::string TableSummary(const std::vector<Verdict>& verdicts) {
  std::map<std::string, std::pair<int, int>> tables;
  for (const Verdict& verdict : verdicts) {
    if (!verdict.counted) continue;
    auto& [hit, all] = tables[verdict.row.table];
    hit += verdict.status == Status::kHit ? 1 : 0;
    ++all;
  }
  std::string text;
  for (const auto& [table, counts] : tables) {
    text += fmt::format("{}: {} of {} hit\n", table, counts.first, counts.second);
  }
  return text;
}

Json OrNull(const std::optional<double>& number) { return number ? Json(*number) : Json(); }

Json RowJson(const Verdict& verdict) {
  const FigureRow& row = verdict.row;
  Json json;
  json["id"] = row.id;
  json["table"] = row.table;
  json["platform"] = row.platform;
  if (row.value) {
    json["published"] = *row.value;
  } else if (row.low) {
    json["published"] = {*row.low, *row.high};
  } else {
    json["published"] = row.published;
  }
  json["simulated"] =
      verdict.simulated_text.empty() ? OrNull(verdict.simulated) : Json(verdict.simulated_text);
  json["relative_error"] = OrNull(verdict.relative_error);
  json["tolerance"] = verdict.tolerance;
  json["role"] = row.role;
  json["status"] = NameOf(verdict.status);
  json["reason"] = verdict.reason;
  json["counted"] = verdict.counted;
  json["config_hash"] = verdict.hash;
  return json;
}

}  // namespace

std::string ValueText(double value, const std::string& unit) {
  const std::string number = fmt::format("{:.4g}", value);
  return unit.empty() || unit == "-" ? number : number + " " + unit;
}

Summary Summarize(const std::vector<Verdict>& verdicts) {
  Summary summary;
  for (const Verdict& verdict : verdicts) {
    if (verdict.status == Status::kUncovered) {
      ++summary.uncovered;
    } else if (!verdict.counted) {
      ++summary.shown;
    } else {
      ++(verdict.status == Status::kHit ? summary.hit : summary.miss);
    }
  }
  std::vector<sim::Platform> platforms;
  for (const std::string& name : PlatformsOf(verdicts)) {
    platforms.push_back(config::LoadPlatform(name));
  }
  summary.fitted_parameters =
      static_cast<int>(config::ParametersOf(platforms, sim::Provenance::kFitted).size());
  return summary;
}

std::string FigureTable(const std::vector<Verdict>& verdicts, uint64_t seed) {
  std::vector<Cells> rows = {
      {"figure", "platform", "published", "simulated", "error", "role", "status"}};
  for (const Verdict& verdict : verdicts) {
    rows.push_back({verdict.row.id, verdict.row.platform, PublishedText(verdict.row),
                    SimulatedText(verdict), ErrorText(verdict), verdict.row.role,
                    StatusText(verdict)});
  }
  std::string platforms;
  for (const std::string& name : PlatformsOf(verdicts)) {
    platforms += (platforms.empty() ? "" : ",") + name;
  }
  const Summary summary = Summarize(verdicts);
  return Aligned(rows) + "\n" + TableSummary(verdicts) +
         fmt::format(
             "{} hit, {} miss, {} shown beside them, {} uncovered; "
             "{} fitted parameters\n",
             summary.hit, summary.miss, summary.shown, summary.uncovered,
             summary.fitted_parameters) +
         IdentityLine(platforms, HashOfAll(verdicts), seed) + "\n";
}

std::string FigureJson(const std::vector<Verdict>& verdicts, uint64_t seed) {
  const Summary summary = Summarize(verdicts);
  Json json;
  json["version"] = kVersion;
  json["backend"] = "sim";
  json["source"] = "simulated";
  json["config_hash"] = HashOfAll(verdicts);
  json["seed"] = seed;
  json["rows"] = Json::array();
  for (const Verdict& verdict : verdicts) json["rows"].push_back(RowJson(verdict));
  json["summary"] = {{"hit", summary.hit},
                     {"miss", summary.miss},
                     {"shown", summary.shown},
                     {"uncovered", summary.uncovered},
                     {"fitted_parameters", summary.fitted_parameters}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace ringpost::tools

#include "tools/ringpost/sweep/row.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

namespace ringpost::tools {
namespace {

using Json = nlohmann::ordered_json;

// Of all NICs together, "requester_context_hits" and "..._misses" make a rate; in percent.
std::vector<Measure> HitRates(const Json& counters) {
  struct Lookups {
    uint64_t hits = 0;
    uint64_t misses = 0;
    bool counted = false;  // both: hits alone are a part of another cache's
  };
  std::map<std::string, Lookups> caches;
  for (const auto& [name, value] : counters.items()) {
    const std::string counter = name.substr(name.find('.') + 1);
    if (counter.ends_with("_hits")) {
      caches[counter.substr(0, counter.size() - 5)].hits += value.get<uint64_t>();
    } else if (counter.ends_with("_misses")) {
      Lookups& cache = caches[counter.substr(0, counter.size() - 7)];
      cache.misses += value.get<uint64_t>();
      cache.counted = true;
    }
  }
  std::vector<Measure> rates;
  for (const auto& [cache, lookups] : caches) {
    const uint64_t all = lookups.hits + lookups.misses;
    if (all == 0 || !lookups.counted) continue;
    const double percent = 100.0 * static_cast<double>(lookups.hits) / static_cast<double>(all);
    rates.push_back({cache + "_hit_rate", Json(percent).dump(), "%"});
  }
  return rates;
}

std::string OneLine(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

Row RowWith(const SweepPoint& point, const std::string& limited_by, const std::string& violations,
            const std::string& error) {
  Row row{point.index, {std::to_string(point.index)}, {}};
  row.cells.insert(row.cells.end(), point.values.begin(), point.values.end());
  for (const std::string& cell : {point.seed, point.backend, std::string(SourceOf(point)),
                                  point.hash, OneLine(limited_by), violations, OneLine(error)}) {
    row.cells.push_back(cell);
  }
  return row;
}

}  // namespace

const char* SourceOf(const SweepPoint& point) {
  return point.backend == "sim" ? "simulated" : "measured";
}

std::vector<std::string> CellNames(const Plan& plan) {
  std::vector<std::string> names = {"index"};
  names.insert(names.end(), plan.keys.begin(), plan.keys.end());
  for (const char* name :
       {"seed", "backend", "source", "config_hash", "limited_by", "violations", "error"}) {
    names.push_back(name);
  }
  return names;
}

bool IsOf(const Row& row, const SweepPoint& point) {
  // What the point says of itself: index, values, seed, backend and source, and its hash.
  const Row its = FailedRow(point, "");
  const size_t said = 1 + point.values.size() + 3;
  return row.cells.size() == its.cells.size() && row.hash() == its.hash() &&
         std::equal(its.cells.begin(), its.cells.begin() + static_cast<int64_t>(said),
                    row.cells.begin());
}

Row FailedRow(const SweepPoint& point, const std::string& error) {
  return RowWith(point, "", "", error);
}

Row RowOf(const SweepPoint& point, const std::string& json) {
  try {
    const Json result = Json::parse(json);
    if (result.at("config_hash") != point.hash || result.at("source") != SourceOf(point)) {
      return FailedRow(point, "its configuration or platform has changed since the sweep began");
    }
    const bool simulated = result.contains("violations");
    Row row = RowWith(point, simulated ? result.at("limited_by").get<std::string>() : "",
                      simulated ? result.at("violations").at("count").dump() : "", "");
    for (const auto& [name, metric] : result.at("metrics").items()) {
      // JSON's word for what is no number: a rate over no time, say.
      if (metric.at("value").is_null()) continue;
      row.measures.push_back({name, metric.at("value").dump(), metric.at("unit")});
    }
    for (Measure& rate : HitRates(result.at("counters"))) row.measures.push_back(std::move(rate));
    return row;
  } catch (const Json::exception&) {
    return FailedRow(point, "what its run printed is no result");
  }
}

std::string CsvLine(const std::vector<std::string>& fields) {
  std::string line;
  for (const std::string& field : fields) {
    if (!line.empty() || &field != fields.data()) line += ',';
    if (field.find_first_of(",\"\r\n") == std::string::npos) {
      line += field;
      continue;
    }
    line += '"';
    for (const char c : field) line += c == '"' ? std::string(2, c) : std::string(1, c);
    line += '"';
  }
  return line + "\n";
}

std::string ToJsonLine(const Row& row) {
  Json json;
  json["point"] = row.point;
  json["cells"] = row.cells;
  json["measures"] = Json::array();
  for (const Measure& measure : row.measures) {
    json["measures"].push_back({measure.name, measure.value, measure.unit});
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Row FromJsonLine(const std::string& line) {
  try {
    const Json json = Json::parse(line);
    Row row{json.at("point").get<uint64_t>(), json.at("cells"), {}};
    for (const Json& measure : json.at("measures")) {
      row.measures.push_back({measure.at(0), measure.at(1), measure.at(2)});
    }
    return row;
  } catch (const Json::exception& error) {
    throw std::runtime_error(error.what());
  }
}

}  // namespace ringpost::tools

#include "tools/ringpost/compare_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>
#include <vector>

#include "configs/schema/config_error.h"
#include "tools/ringpost/exit_status.h"

namespace ringpost::tools {
namespace {

using Json = nlohmann::ordered_json;
using Texts = std::vector<std::pair<std::string, std::string>>;

constexpr char kRemedy[] = "give a file that `ringpost run --json FILE` wrote";
constexpr char kAbsent[] = "-";

// A result is three deep; the parser's own functions may take a frame of the stack for each level.
constexpr size_t kDeepest = 32;

// Goes through a text as the parser does, and keeps where it cannot go on. Throws nothing.
class Scan final : public nlohmann::json_sax<Json> {
 public:
  size_t At() const { return at_; }
  const std::string& Wrong() const { return wrong_; }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(size_t) override { return true; }
  bool key(string_t&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(size_t position, const std::string& token,
                   const nlohmann::detail::exception& error) override {
    const bool number = dynamic_cast<const Json::out_of_range*>(&error) != nullptr;
    wrong_ = number ? token + " is a number that is too large" : "is cut off, or no JSON";
    const size_t back = number ? token.size() : 1;  // where it begins
    at_ = position < back ? 0 : position - back;
    return false;
  }

 private:
  size_t at_ = 0;
  std::string wrong_;
};

// Where the text goes deeper than any result, or npos.
size_t TooDeep(const std::string& text) {
  size_t depth = 0;
  bool quoted = false;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted && c == '\\') {
      ++at;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && (c == '[' || c == '{')) {
      if (++depth > kDeepest) return at;
    } else if (!quoted && (c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return std::string::npos;
}

[[noreturn]] void Refuse(const config::Position& place, const std::string& key,
                         const std::string& wrong) {
  throw config::ConfigError(place, key, {wrong, kRemedy});
}

struct Metric {
  std::string name;
  double value = 0;
  std::string unit;
};

// What a file says of its run.
struct Outcome {
  std::string path;
  std::string identity;
  std::string source;  // simulated or measured
  std::string hash;
  std::vector<Metric> metrics;
  Texts config;
  Texts measured_on;
};

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {
    std::ifstream file(path);
    std::ostringstream read;
    read << file.rdbuf();  // fails, and does not throw, for a folder
    const std::string text = read.str();
    if (!file.is_open() || text.empty()) {
      Refuse({path, 1, 1}, "file", "is not there, or cannot be read");
    }
    if (const size_t at = TooDeep(text); at != std::string::npos) {
      Refuse(PlaceOf(text, at), "JSON", "has more levels than a result");
    }
    Scan scan;
    if (!Json::sax_parse(text, &scan)) Refuse(PlaceOf(text, scan.At()), "JSON", scan.Wrong());
    json_ = Json::parse(text);
  }

  Outcome Read() const {
    Outcome outcome;
    outcome.path = path_;
    outcome.source = Text("source");
    if (outcome.source != "simulated" && outcome.source != "measured") {
      Refuse(Place(), "source",
             fmt::format("'{}' is neither simulated nor measured", outcome.source));
    }
    outcome.hash = Text("config_hash");
    outcome.identity = fmt::format(
        "ringpost {} | {} | backend {} | platform {} | config {} | seed {}", Text("version"),
        outcome.source, Text("backend"), Text("platform"), outcome.hash, Field("seed").dump());
    for (const auto& [name, metric] : Object("metrics").items()) {
      const std::string key = "metrics." + name;
      if (!metric.is_object() || !metric.contains("value") || !metric["value"].is_number() ||
          !metric.contains("unit") || !metric["unit"].is_string()) {
        Refuse(Place(), key, "has no number `value` with a `unit`");
      }
      outcome.metrics.push_back({name, metric["value"].get<double>(), metric["unit"]});
    }
    outcome.config = TextsOf("config");
    if (json_.contains("measured_on")) outcome.measured_on = TextsOf("measured_on");
    return outcome;
  }

 private:
  config::Position Place() const { return {path_, 1, 1}; }
  config::Position PlaceOf(const std::string& text, size_t at) const {
    at = std::min(at, text.size());
    const int line = 1 + static_cast<int>(std::count(text.begin(), text.begin() + at, '\n'));
    const size_t newline = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
    const size_t first = newline == std::string::npos ? 0 : newline + 1;
    return {path_, line, 1 + static_cast<int>(at - first)};
  }
  const Json& Field(const std::string& key) const {
    if (!json_.is_object() || !json_.contains(key)) Refuse(Place(), key, "is missing");
    return json_[key];
  }
  std::string Text(const std::string& key) const {
    const Json& field = Field(key);
    if (!field.is_string()) Refuse(Place(), key, "is no text");
    return field;
  }
  const Json& Object(const std::string& key) const {
    const Json& field = Field(key);
    if (!field.is_object()) Refuse(Place(), key, "is no object");
    return field;
  }
  Texts TextsOf(const std::string& key) const {
    Texts texts;
    for (const auto& [name, value] : Object(key).items()) {
      texts.emplace_back(name, value.is_string() ? value.get<std::string>() : value.dump());
    }
    return texts;
  }

  const std::string path_;
  Json json_;
};

const Metric* Find(const std::vector<Metric>& metrics, const std::string& name) {
  const auto found = std::find_if(metrics.begin(), metrics.end(),
                                  [&](const Metric& metric) { return metric.name == name; });
  return found == metrics.end() ? nullptr : &*found;
}

std::string ErrorText(double value, double reference) {
  if (value == reference) return "+0.0 %";
  if (reference == 0) return "of 0";
  return fmt::format("{:+.1f} %", 100 * (value - reference) / std::abs(reference));
}

// Rows in the order of A, then what B has besides.
std::string DifferencesText(const char* title, const Texts& a, const Texts& b) {
  const std::map<std::string, std::string> in_a(a.begin(), a.end()), in_b(b.begin(), b.end());
  const auto value = [](const std::map<std::string, std::string>& texts, const std::string& key) {
    const auto found = texts.find(key);
    return found == texts.end() ? std::string(kAbsent) : found->second;
  };
  std::vector<std::string> keys;
  for (const auto& [key, text] : a) keys.push_back(key);
  for (const auto& [key, text] : b) {
    if (!in_a.contains(key)) keys.push_back(key);
  }
  std::string rows;
  for (const std::string& key : keys) {
    const std::string of_a = value(in_a, key), of_b = value(in_b, key);
    if (of_a != of_b) rows += fmt::format("  {:<28} {:<24} {}\n", key, of_a, of_b);
  }
  if (rows.empty()) return {};
  return fmt::format("\n{:<30} {:<24} {}\n", title, "A", "B") + rows;
}

std::string MetricsText(const Outcome& a, const Outcome& b) {
  // What was measured is what is right.
  const bool of_a = a.source == "simulated" && b.source == "measured";
  std::string text =
      fmt::format("{:<28} {:>16} {:>16}  {:<10} {:>12}\n", "metric", "A, " + a.source,
                  "B, " + b.source, "unit", of_a ? "error of A" : "error of B");
  std::string apart;
  bool any = false;
  for (const Metric& metric : a.metrics) {
    const Metric* other = Find(b.metrics, metric.name);
    if (other == nullptr) {
      apart += fmt::format("in A alone: {}\n", metric.name);
    } else if (other->unit != metric.unit) {
      apart +=
          fmt::format("{} is in {} in A, and in {} in B\n", metric.name, metric.unit, other->unit);
    } else {
      any = true;
      const double value = of_a ? metric.value : other->value;
      const double reference = of_a ? other->value : metric.value;
      text += fmt::format("{:<28} {:>16.4f} {:>16.4f}  {:<10} {:>12}\n", metric.name, metric.value,
                          other->value, metric.unit, ErrorText(value, reference));
    }
  }
  for (const Metric& metric : b.metrics) {
    if (Find(a.metrics, metric.name) == nullptr) {
      apart += fmt::format("in B alone: {}\n", metric.name);
    }
  }
  if (!any) {
    throw config::ConfigError({b.path, 1, 1}, "metrics",
                              {"none is also in " + a.path, "compare runs of one workload"});
  }
  return text + apart;
}

}  // namespace

int RunCompareCommand(const CompareArguments& arguments, std::ostream& out) {
  const Outcome a = Reader(arguments.a).Read();
  const Outcome b = Reader(arguments.b).Read();
  const std::string metrics = MetricsText(a, b);
  std::string differences = DifferencesText("configuration", a.config, b.config);
  if (differences.empty()) {
    // The hash covers the numbers of the platform too.
    differences = a.hash == b.hash
                      ? "\nthe same configuration\n"
                      : "\nthe same configuration, but for the numbers of its platform\n";
  }
  out << "A: " << a.path << ": " << a.identity << "\n"
      << "B: " << b.path << ": " << b.identity << "\n\n"
      << metrics << differences << DifferencesText("measured on", a.measured_on, b.measured_on);
  return kClean;
}

}  // namespace ringpost::tools

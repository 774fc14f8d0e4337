#include "configs/schema/parameter_reader.h"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "configs/schema/config_error.h"
#include "configs/schema/quantity.h"

namespace ringpost::config {
namespace {

using sim::Parameter;
using sim::ParameterInfo;
using sim::Provenance;
using sim::Unit;

[[noreturn]] void Fail(const YamlText& yaml, const YAML::Node& node, const std::string& key,
                       const ValueError& error) {
  throw ConfigError(yaml.At(node), key, error);
}

QuantityKind KindOf(Unit unit) {
  switch (unit) {
    case Unit::kMegahertz:
      return QuantityKind::kFrequency;
    case Unit::kGigabitsPerSecond:
      return QuantityKind::kBandwidth;
    case Unit::kBytes:
      return QuantityKind::kBytes;
    default:
      return QuantityKind::kTime;
  }
}

Provenance ParseProvenance(const std::string& text) {
  constexpr Provenance kAll[] = {Provenance::kPaper, Provenance::kDatasheet, Provenance::kMeasured,
                                 Provenance::kFitted, Provenance::kAssumed};
  for (const Provenance provenance : kAll) {
    if (text == sim::NameOf(provenance)) return provenance;
  }
  throw ValueError{fmt::format("'{}' is not known", text),
                   "use paper, datasheet, measured, fitted or assumed"};
}

// "1 to 256" in its unit.
std::string RangeOf(const ParameterInfo& info) {
  const sim::Bounds bounds = BoundsOf(info);
  const auto text = [&info](double value) {
    if (info.unit == Unit::kCount) return fmt::format("{}", value);
    return FormatQuantity(value, KindOf(info.unit));
  };
  return fmt::format("{} to {}", text(bounds.least), text(bounds.most));
}

void CheckBounds(const std::string& text, double value, const ParameterInfo& info) {
  const sim::Bounds bounds = BoundsOf(info);
  if (value == 0 && bounds.least > 0) throw ValueError{"is zero", "give " + RangeOf(info)};
  if (value < bounds.least) {
    throw ValueError{fmt::format("{} is too small", text), "give " + RangeOf(info)};
  }
  if (value > bounds.most) {
    throw ValueError{fmt::format("{} is too large", text), "give " + RangeOf(info)};
  }
}

void ParseTime(const std::string& text, const ParameterInfo& info, Parameter& parameter) {
  parameter.ns = ParseQuantity(text, QuantityKind::kTime);
  CheckBounds(text, parameter.ns, info);
}

void ParseCycles(const std::string& text, const ParameterInfo& info, Parameter& parameter) {
  if (!ParseNumber(text, parameter.cycles)) {
    throw ValueError{fmt::format("'{}' is not a number", text), "give SM cycles, such as 120"};
  }
  const double most = BoundsOf(info).most;
  if (parameter.cycles <= most) return;
  throw ValueError{fmt::format("{} cycles are too many", text), fmt::format("give 0 to {}", most)};
}

void ParseNumberOf(const std::string& text, const ParameterInfo& info, Parameter& parameter) {
  if (info.unit == Unit::kTime) return ParseTime(text, info, parameter);
  if (info.unit != Unit::kCount) {
    parameter.value = ParseQuantity(text, KindOf(info.unit));
    const bool whole = parameter.value == std::floor(parameter.value);
    if (info.unit == Unit::kBytes && !whole) {
      throw ValueError{fmt::format("{} is not a whole number of bytes", text), "give whole bytes"};
    }
  } else {
    uint64_t count = 0;
    if (!ParseWholeNumber(text, count)) {
      throw ValueError{fmt::format("'{}' is not a whole number", text), FormOf(info)};
    }
    parameter.value = static_cast<double>(count);
  }
  CheckBounds(text, parameter.value, info);
}

void ReadField(const YamlText& yaml, const MapItem& item, const ParameterInfo& info,
               Parameter& parameter) {
  const std::string path = std::string(info.key) + "." + item.key;
  const std::string text = ScalarOf(yaml, item.value, path, FormOf(info));
  try {
    if (item.key == "provenance") {
      parameter.provenance = ParseProvenance(text);
    } else if (item.key == "source") {
      parameter.source = text;
      if (text.empty()) throw ValueError{"is empty", "say where the number comes from"};
    } else if (item.key == "value") {
      ParseNumberOf(text, info, parameter);
    } else if (item.key == "time" && info.unit == Unit::kTime) {
      ParseTime(text, info, parameter);
    } else if (item.key == "cycles" && info.unit == Unit::kTime) {
      ParseCycles(text, info, parameter);
    } else {
      Fail(yaml, item.key_node, path, {"there is no such key", FormOf(info)});
    }
  } catch (const ValueError& error) {
    Fail(yaml, item.value, path, error);
  }
}

}  // namespace

std::string FormOf(const ParameterInfo& info) {
  switch (info.unit) {
    case Unit::kTime:
      return "give {value: 369 ns, provenance: ..., source: ...} or {cycles: 120, time: 40 ns, "
             "...}";
    case Unit::kCount:
      return fmt::format("give {{value: N, provenance: ..., source: ...}}, N {}", RangeOf(info));
    default:
      return fmt::format("give {{value: {}, provenance: ..., source: ...}}",
                         ExampleOf(KindOf(info.unit)));
  }
}

Parameter ReadParameter(const YamlText& yaml, const YAML::Node& node, const ParameterInfo& info) {
  if (!node.IsMap()) Fail(yaml, node, info.key, {"is not a map", FormOf(info)});
  Parameter parameter;
  std::set<std::string> given;
  for (const MapItem& item : ItemsOf(yaml, node, info.key)) {
    given.insert(item.key);
    ReadField(yaml, item, info, parameter);
  }
  const bool in_parts = given.contains("cycles") || given.contains("time");
  if (given.contains("value") == in_parts) {
    Fail(yaml, node, info.key,
         {in_parts ? "has a value beside cycles or time" : "has no value", FormOf(info)});
  }
  for (const char* key : {"provenance", "source"}) {
    if (!given.contains(key)) {
      Fail(yaml, node, info.key, {fmt::format("has no {}", key), FormOf(info)});
    }
  }
  return parameter;
}

std::string NumberText(const ParameterInfo& info, const Parameter& parameter) {
  if (info.unit == Unit::kTime) {
    return fmt::format("{} cycles {} ns", parameter.cycles, parameter.ns);
  }
  return fmt::format("{}", parameter.value);
}

}  // namespace ringpost::config

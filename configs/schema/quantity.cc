#include "configs/schema/quantity.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <vector>

#include "configs/schema/config_error.h"

namespace ringpost::config {
namespace {

struct UnitOf {
  const char* name;
  double factor;  // base units in one of these
};

struct KindInfo {
  std::vector<UnitOf> units;  // the first is the base unit; factors ascend
  const char* noun;
  const char* example;
};

const KindInfo& InfoOf(QuantityKind kind) {
  static const std::vector<KindInfo> infos = {
      {{{"ns", 1}, {"us", 1e3}, {"ms", 1e6}}, "a time", "50 us"},
      {{{"cycles", 1}}, "a number of cycles", "120 cycles"},
      {{{"B", 1}, {"KiB", 1024}, {"MiB", 1048576}, {"GiB", 1073741824}}, "a size", "8 B"},
      {{{"Gb/s", 1}, {"GB/s", 8}}, "a bandwidth", "200 Gb/s"},
      {{{"M/s", 1}}, "a rate", "20 M/s"},
      {{{"MHz", 1}}, "a frequency", "1980 MHz"},
      {{{"%", 1}}, "a share", "10 %"},
  };
  return infos[static_cast<size_t>(kind)];
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

}  // namespace

bool ParseNumber(std::string_view text, double& number) {
  double parsed = 0;
  // from_chars alone would also take "-1", "inf" and "nan".
  if (text.empty() || text.front() < '0' || text.front() > '9') return false;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), parsed);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size()) return false;
  number = parsed;
  return true;
}

bool ParseWholeNumber(std::string_view text, uint64_t& number) {
  uint64_t parsed = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), parsed);
  if (text.empty() || result.ec != std::errc() || result.ptr != text.data() + text.size()) {
    return false;
  }
  number = parsed;
  return true;
}

double ParseQuantity(std::string_view text, QuantityKind kind) {
  const KindInfo& info = InfoOf(kind);
  const std::string right =
      fmt::format("give {} in {}, such as {}", info.noun, UnitsOf(kind), info.example);
  text = Trim(text);
  const size_t digits = text.find_first_not_of("0123456789.");
  double number = 0;
  if (!ParseNumber(text.substr(0, digits), number)) {
    throw ValueError{fmt::format("'{}' is not {}", text, info.noun), right};
  }
  if (digits == std::string_view::npos) {
    throw ValueError{fmt::format("'{}' has no unit", text), right};
  }
  const std::string_view name = Trim(text.substr(digits));
  for (const UnitOf& unit : info.units) {
    if (name == unit.name) return number * unit.factor;
  }
  throw ValueError{fmt::format("'{}' is not a unit of {}", name, info.noun), right};
}

std::string FormatQuantity(double value, QuantityKind kind) {
  const std::vector<UnitOf>& units = InfoOf(kind).units;
  // A bandwidth stays in its base unit: 25 GB/s and 200 Gb/s both say what they are, but the
  // second is how links are sold.
  const size_t largest = kind == QuantityKind::kBandwidth ? 1 : units.size();
  for (size_t i = largest; i-- > 1;) {
    const double number = value / units[i].factor;
    if (number >= 1 && number == std::floor(number)) {
      return fmt::format("{} {}", number, units[i].name);
    }
  }
  return fmt::format("{} {}", value, units[0].name);
}

std::string UnitsOf(QuantityKind kind) {
  const std::vector<UnitOf>& units = InfoOf(kind).units;
  std::string text = units[0].name;
  for (size_t i = 1; i < units.size(); ++i) {
    text += (i + 1 == units.size() ? " or " : ", ") + std::string(units[i].name);
  }
  return text;
}

std::string ExampleOf(QuantityKind kind) { return InfoOf(kind).example; }

}  // namespace ringpost::config

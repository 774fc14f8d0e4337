#include "tools/ringpost/metric_unit.h"

#include <algorithm>
#include <vector>

#include "configs/schema/schema.h"

namespace ringpost::tools {
namespace {

struct KnownUnit {
  const char* name;
  double size;  // in the first one of its kind
};

using Kind = std::vector<KnownUnit>;

const std::vector<Kind>& Kinds() {
  static const std::vector<Kind> kinds = {
      {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}},
      {{"msg/s", 1}, {"k msg/s", 1e3}, {"M msg/s", 1e6}, {"G msg/s", 1e9}},
      {{"MB/s", 8e6}, {"GB/s", 8e9}, {"Mb/s", 1e6}, {"Gb/s", 1e9}},
  };
  return kinds;
}

Kind::const_iterator Find(const Kind& kind, const std::string& unit) {
  return std::find_if(kind.begin(), kind.end(),
                      [&unit](const KnownUnit& one) { return unit == one.name; });
}

}  // namespace

std::optional<double> FactorBetween(const std::string& from, const std::string& to) {
  if (from == to) return 1;
  for (const Kind& kind : Kinds()) {
    const auto its = Find(kind, from), other = Find(kind, to);
    if (its != kind.end() && other != kind.end()) return its->size / other->size;
  }
  return std::nullopt;
}

std::string UnitsLike(const std::string& unit) {
  for (const Kind& kind : Kinds()) {
    if (Find(kind, unit) == kind.end()) continue;
    std::vector<std::string> names;
    for (const KnownUnit& one : kind) names.emplace_back(one.name);
    return config::Join(names);
  }
  return unit;
}

bool IsMeasure(const std::string& unit) {
  return std::any_of(Kinds().begin(), Kinds().end(),
                     [&unit](const Kind& kind) { return Find(kind, unit) != kind.end(); });
}

}  // namespace ringpost::tools

// metric_unit.h: the unit of a published row, beside that of what a run reports.
#pragma once

#include <optional>
#include <string>

namespace ringpost::tools {

// How many `to` one `from` is: FactorBetween("us", "ns") is 1000. None for units of two kinds;
// equal texts are always of one.
std::optional<double> FactorBetween(const std::string& from, const std::string& to);

// "ns, us, ms or s": those of its kind, itself among them.
std::string UnitsLike(const std::string& unit);

// Whether it is of a kind that FactorBetween knows, so that it measures something.
bool IsMeasure(const std::string& unit);

}  // namespace ringpost::tools

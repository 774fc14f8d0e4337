#include "tools/ringpost/tolerance.h"

#include <algorithm>

#include "configs/schema/config_error.h"
#include "configs/schema/quantity.h"

namespace ringpost::tools {
namespace {

constexpr double kIdle = 0.10;
constexpr double kOther = 0.15;

bool IsIdleMetric(const std::string& metric) {
  return metric == "issue_latency" || metric == "put_completion_latency" ||
         metric == "round_trip_p50" || metric == "message_rate";
}

}  // namespace

double TableTolerance(const FigureRow& row) {
  const bool listed = row.platform == "P-IB" || row.platform == "P-GB200";
  const bool is_fit = row.sweep.has_value();
  const bool idle = std::all_of(row.runs.begin(), row.runs.end(),
                                [](const FigureRun& run) { return IsIdleMetric(run.metric); });
  return listed && idle && !is_fit ? kIdle : kOther;
}

std::optional<double> AxisNumber(const std::string& text) {
  double number = 0;
  if (config::ParseNumber(text, number)) return number;
  constexpr config::QuantityKind kKinds[] = {
      config::QuantityKind::kBytes, config::QuantityKind::kTime, config::QuantityKind::kFrequency};
  for (const config::QuantityKind kind : kKinds) {
    try {
      return config::ParseQuantity(text, kind);
    } catch (const config::ValueError&) {
      // Another kind's unit; the next one may be it.
    }
  }
  return std::nullopt;
}

}  // namespace ringpost::tools

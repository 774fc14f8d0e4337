#include "tools/ringpost/sweep/fits.h"

#include <fmt/format.h>

namespace ringpost::tools {
namespace {

std::string Short(double value) { return fmt::format("{:.4g}", value); }
std::string Long(double value) { return fmt::format("{:.6g}", value); }

}  // namespace

void FitCurves(Plot& plot) {
  if (plot.x_scale == Scale::kWords) return;
  for (Series& series : plot.series) {
    std::vector<double> x, y;
    for (const PlotPoint& point : series.points) {
      x.push_back(plot.x_values[point.x]);
      y.push_back(point.median);
    }
    series.decline = FitDecline(x, y);
    series.fitted_count = x.size();
  }
}

std::string FitsCsv(const std::vector<Plot>& plots, const std::string& identity) {
  std::string lines;
  for (const Plot& plot : plots) {
    for (const Series& series : plot.series) {
      if (!series.decline) continue;
      const Decline& fit = *series.decline;
      lines += CsvLine({plot.metric, plot.unit, plot.x_key, series.name,
                        std::to_string(series.fitted_count), Long(fit.plateau), Long(fit.onset),
                        Long(fit.exponent), Long(100 * fit.rms), Long(fit.r2)});
    }
  }
  if (lines.empty()) return "";
  return fmt::format(
      "# {}\n# metric = plateau up to x = onset, then plateau * (x / onset)^-exponent; over "
      "logarithms\nmetric,unit,x,curve,points,plateau,onset,exponent,rms_percent,r2\n{}",
      identity, lines);
}

std::string FitText(const Plot& plot, const Series& series) {
  if (!series.decline) return "";
  const Decline& fit = *series.decline;
  return fmt::format("{} {} up to {} {}, then as its power {} (rms {} %, R2 {:.3f})",
                     Short(fit.plateau), plot.unit, plot.x_key, Short(fit.onset),
                     Short(-fit.exponent), Short(100 * fit.rms), fit.r2);
}

}  // namespace ringpost::tools

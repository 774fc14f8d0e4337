// report.h: the curves of a sweep as pictures, and as one page that needs nothing else.
#pragma once

#include <string>
#include <vector>

#include "tools/ringpost/sweep/gnuplot.h"
#include "tools/ringpost/sweep/plan.h"
#include "tools/ringpost/sweep/row.h"

namespace ringpost::tools {

// Writes plots.gp, METRIC.svg and report.html, and fits.csv where a curve has a fit, in place of
// those that are there. Throws std::runtime_error where a file cannot be written, and
// config::ConfigError for a metric of the plan that no row has.
Drawn WriteReport(const std::string& folder, const std::string& identity, const Plan& plan,
                  const std::vector<SweepPoint>& points, const std::vector<Row>& rows);

// Removes what an earlier WriteReport() wrote there, and nothing else.
void RemoveReport(const std::string& folder);

}  // namespace ringpost::tools

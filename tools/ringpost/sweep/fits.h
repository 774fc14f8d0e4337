// fits.h: what FitDecline() says of the curves of a sweep, as a table and as sentences.
#pragma once

#include <string>
#include <vector>

#include "tools/ringpost/sweep/plots.h"

namespace ringpost::tools {

// Fits each curve of a plot whose axis has numbers. Before Thin(): all points count.
void FitCurves(Plot& plot);

// A line for each curve that has the shape, after two lines as those of results.csv; empty where
// none has.
std::string FitsCsv(const std::vector<Plot>& plots, const std::string& identity);

// "260 M msg/s up to transport.qps_per_peer 512, then as its power -0.98 (rms 0.4 %, R2 0.999)";
// empty where it has not the shape.
std::string FitText(const Plot& plot, const Series& series);

}  // namespace ringpost::tools

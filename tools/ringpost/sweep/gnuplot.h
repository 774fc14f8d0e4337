// gnuplot.h: plots as SVG, drawn by the gnuplot of this machine.
#pragma once

#include <string>
#include <vector>

#include "tools/ringpost/sweep/plots.h"

namespace ringpost::tools {

// "message_rate.svg"
std::string SvgName(const Plot& plot);

// What gnuplot is to do, in the folder of the files. `identity` stands in each picture.
std::string GnuplotScript(const std::vector<Plot>& plots, const std::string& identity);

// Runs gnuplot with FOLDER/plots.gp. Empty, or why there are no pictures.
std::string RunGnuplot(const std::string& folder);

}  // namespace ringpost::tools

// gnuplot.h: plots as SVG, drawn by the gnuplot of this machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/ringpost/sweep/plots.h"

namespace ringpost::tools {

// "message_rate.svg"
std::string SvgName(const Plot& plot);

// What gnuplot is to do, in the folder of the files. `identity` stands in each picture.
std::string GnuplotScript(const std::vector<Plot>& plots, const std::string& identity);

// The names of the files that such a script makes.
std::vector<std::string> PicturesOf(const std::string& script);

// kNone: what draws is not installed, or there is nothing to draw.
enum class Drawing : uint8_t { kDone, kNone, kFailed };

struct Drawn {
  Drawing drawing = Drawing::kDone;
  std::string why;  // there are no pictures
};

// Runs gnuplot with FOLDER/plots.gp.
Drawn RunGnuplot(const std::string& folder);

}  // namespace ringpost::tools

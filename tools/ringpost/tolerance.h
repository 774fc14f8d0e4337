// tolerance.h: how far a simulated value may be from the published one.
#pragma once

#include <optional>
#include <string>

#include "tools/ringpost/figures.h"

namespace ringpost::tools {

// By metric and platform: 0.10 for issue, put+completion, round trip and message rate of idle
// systems on P-IB and P-GB200; 0.15 for everything else, fits of a line included.
double TableTolerance(const FigureRow& row);

// A value of a sweep's axis as a number: a count, or bytes, ns or MHz. Nothing for a word.
std::optional<double> AxisNumber(const std::string& text);

}  // namespace ringpost::tools

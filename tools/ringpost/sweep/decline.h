// decline.h: a curve that is level up to an onset and falls by a power law beyond it:
//
//   y = plateau                            for x up to the onset
//   y = plateau * (x / onset)^-exponent    beyond
//
// Of a quantity that grows beyond its onset, such as a latency, the exponent is negative.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace ringpost::tools {

constexpr size_t kLeastFitted = 6;  // points: the shape has three numbers

struct Decline {
  double plateau = 0;
  double onset = 0;
  double exponent = 0;
  double rms = 0;  // of the differences of logarithms: 0.01 is about 1 %
  double r2 = 0;   // of the logarithms
};

// Least squares over logarithms. `x` ascends; none where it has fewer than kLeastFitted values, a
// value is not above zero, or the curve has not this shape: fewer than two points lie up to the
// onset or beyond it, the level changes by less than 5 %, or R2 is below 0.9.
std::optional<Decline> FitDecline(const std::vector<double>& x, const std::vector<double>& y);

}  // namespace ringpost::tools

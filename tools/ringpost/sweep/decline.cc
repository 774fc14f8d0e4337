#include "tools/ringpost/sweep/decline.h"

#include <algorithm>
#include <boost/math/tools/minima.hpp>
#include <cmath>
#include <limits>
#include <numeric>

namespace ringpost::tools {
namespace {

using Numbers = std::vector<double>;

constexpr double kLeastR2 = 0.9;
constexpr double kLeastChange = 0.05;

double MeanOf(const Numbers& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0) / static_cast<double>(numbers.size());
}

// The best line for one onset: with it given, logarithms are linear in how far x lies beyond it.
struct Line {
  double level = 0;
  double exponent = 0;
  double squares = 0;  // what is left
};

// All are logarithms.
Line LineAt(const Numbers& x, const Numbers& y, double onset) {
  Numbers beyond;
  for (const double value : x) beyond.push_back(std::max(0.0, value - onset));
  const double mean_beyond = MeanOf(beyond), mean_y = MeanOf(y);
  double spread = 0, together = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    spread += std::pow(beyond[i] - mean_beyond, 2);
    together += (beyond[i] - mean_beyond) * (y[i] - mean_y);
  }
  Line line;
  line.exponent = spread > 0 ? -together / spread : 0;
  line.level = mean_y + line.exponent * mean_beyond;
  for (size_t i = 0; i < x.size(); ++i) {
    line.squares += std::pow(y[i] - (line.level - line.exponent * beyond[i]), 2);
  }
  return line;
}

// Sums over the points beyond each gap, so that the squares at an onset in it cost no loop.
class Gaps {
 public:
  Gaps(const Numbers& x, const Numbers& y) : sums_(x.size()) {
    count_ = static_cast<double>(x.size());
    const double mean_y = MeanOf(y);
    Sums beyond;
    for (size_t i = x.size(); i-- > 0;) {
      sums_[i] = beyond;
      const double dy = y[i] - mean_y;
      beyond.count += 1;
      beyond.x += x[i];
      beyond.xx += x[i] * x[i];
      beyond.y += dy;
      beyond.xy += x[i] * dy;
      squares_ += dy * dy;
    }
  }

  // What the best line leaves, for an onset between point `gap` and the next one.
  double Squares(size_t gap, double onset) const {
    const Sums& sums = sums_[gap];
    const double beyond = sums.x - sums.count * onset;
    const double spread =
        sums.xx - 2 * onset * sums.x + sums.count * onset * onset - beyond * beyond / count_;
    const double together = sums.xy - onset * sums.y;
    return spread > 0 ? squares_ - together * together / spread : squares_;
  }

 private:
  struct Sums {
    double count = 0, x = 0, xx = 0, y = 0, xy = 0;  // y less its mean over all points
  };
  std::vector<Sums> sums_;
  double count_ = 0;
  double squares_ = 0;
};

// The onset with the least squares. Between two neighbours the sum is smooth, but over all of them
// it may have several minima, so each gap is searched.
double BestOnset(const Numbers& x, const Numbers& y) {
  const Gaps gaps(x, y);
  constexpr int kBits = std::numeric_limits<double>::digits / 2;
  double best = x[0];
  double least = gaps.Squares(0, best);
  const auto take = [&](double onset, double squares) {
    if (squares >= least) return;
    least = squares;
    best = onset;
  };
  for (size_t i = 0; i + 1 < x.size(); ++i) {
    const auto squares = [&gaps, i](double onset) { return gaps.Squares(i, onset); };
    const auto [onset, its] = boost::math::tools::brent_find_minima(squares, x[i], x[i + 1], kBits);
    take(onset, its);
    take(x[i + 1], squares(x[i + 1]));
  }
  return best;
}

bool HasShape(const Numbers& x, double onset, const Line& line, double r2) {
  constexpr double kNear = 1e-3;  // an onset on a point may come out a little beside it
  const bool two_before = onset >= x[1] - kNear;
  const bool two_beyond = onset <= x[x.size() - 2] - kNear;
  const double change = std::abs(line.exponent) * (x.back() - onset);
  return two_before && two_beyond && change >= std::log1p(kLeastChange) && r2 >= kLeastR2;
}

}  // namespace

std::optional<Decline> FitDecline(const std::vector<double>& x, const std::vector<double>& y) {
  const auto positive = [](double value) { return value > 0; };
  if (x.size() < kLeastFitted || !std::all_of(x.begin(), x.end(), positive) ||
      !std::all_of(y.begin(), y.end(), positive)) {
    return std::nullopt;
  }
  Numbers log_x, log_y;
  for (const double value : x) log_x.push_back(std::log(value));
  for (const double value : y) log_y.push_back(std::log(value));
  const double onset = BestOnset(log_x, log_y);
  const Line line = LineAt(log_x, log_y, onset);
  const double mean = MeanOf(log_y);
  double spread = 0;
  for (const double value : log_y) spread += std::pow(value - mean, 2);
  const double r2 = spread > 0 ? 1 - line.squares / spread : 0;
  if (!HasShape(log_x, onset, line, r2)) return std::nullopt;
  return Decline{std::exp(line.level), std::exp(onset), line.exponent,
                 std::sqrt(line.squares / static_cast<double>(x.size())), r2};
}

}  // namespace ringpost::tools

#include "tools/ringpost/reduce.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "configs/schema/config_error.h"
#include "configs/schema/quantity.h"

namespace ringpost::tools {
namespace {

struct Line {
  double slope = 0;
  double intercept = 0;
  double r2 = 1;
};

Line Fit(const Series& series) {
  double mean_x = 0;
  double mean_y = 0;
  for (const Point& point : series) {
    mean_x += point.x / static_cast<double>(series.size());
    mean_y += point.y / static_cast<double>(series.size());
  }
  double xx = 0;
  double xy = 0;
  double yy = 0;
  for (const Point& point : series) {
    xx += (point.x - mean_x) * (point.x - mean_x);
    xy += (point.x - mean_x) * (point.y - mean_y);
    yy += (point.y - mean_y) * (point.y - mean_y);
  }
  Line line;
  if (xx > 0) line.slope = xy / xx;
  line.intercept = mean_y - line.slope * mean_x;
  if (xx > 0 && yy > 0) line.r2 = xy * xy / (xx * yy);
  return line;
}

// The sum of squares that a plateau up to `onset` and a power law behind it leave in logarithms.
double RestOf(const Series& series, double onset) {
  Series bent;
  for (const Point& point : series) {
    bent.push_back({std::max(0.0, std::log(point.x / onset)), std::log(point.y)});
  }
  const Line line = Fit(bent);
  double rest = 0;
  for (const Point& point : bent) {
    const double off = point.y - line.intercept - line.slope * point.x;
    rest += off * off;
  }
  return rest;
}

double Onset(const Series& series) {
  constexpr int kSteps = 2000;
  const double first = series.front().x, range = series.back().x / first;
  double best = first;
  double least = RestOf(series, best);
  for (int step = 1; step < kSteps; ++step) {
    const double onset = first * std::pow(range, static_cast<double>(step) / kSteps);
    const double rest = RestOf(series, onset);
    if (rest >= least) continue;
    least = rest;
    best = onset;
  }
  return best;
}

double Operand(const std::map<std::string, double>& values, const std::string& text) {
  const auto found = values.find(text);
  if (found != values.end()) return found->second;
  double number = 0;
  if (config::ParseNumber(text, number)) return number;
  throw config::ValueError{fmt::format("'{}' is no run and no number", text), "name one of runs"};
}

}  // namespace

double Reduce(const Series& series, const std::string& value_of, double per) {
  const auto by_y = [](const Point& a, const Point& b) { return a.y < b.y; };
  const double most = std::max_element(series.begin(), series.end(), by_y)->y;
  if (value_of == "slope") return Fit(series).slope * per;
  if (value_of == "intercept") return Fit(series).intercept;
  if (value_of == "r2") return Fit(series).r2;
  if (value_of == "onset") return Onset(series);
  if (value_of == "max") return most;
  if (value_of == "min") return std::min_element(series.begin(), series.end(), by_y)->y;
  constexpr char kReaching[] = "first_reaching(";
  if (value_of.starts_with(kReaching) && value_of.ends_with(')')) {
    const size_t start = sizeof kReaching - 1;
    const double share = config::ParseQuantity(value_of.substr(start, value_of.size() - start - 1),
                                               config::QuantityKind::kPercent) /
                         100;
    for (const Point& point : series) {
      if (point.y >= share * most) return point.x;
    }
  }
  throw config::ValueError{fmt::format("'{}' is not known", value_of),
                           "use slope, intercept, r2, max, min, onset or first_reaching(90 %)"};
}

double Combine(const std::map<std::string, double>& values, const std::string& value_of) {
  const size_t open = value_of.find('(');
  const size_t comma = value_of.find(", ");
  if (value_of.ends_with(')') && open < comma && comma != std::string::npos) {
    const std::string what = value_of.substr(0, open);
    const double left = Operand(values, value_of.substr(open + 1, comma - open - 1));
    const double right = Operand(values, value_of.substr(comma + 2, value_of.size() - comma - 3));
    if (what == "loss") return 100 * (1 - left / right);
    if (what == "share") return 100 * left / right;
  }
  for (const char* sign : {" - ", " / ", " * "}) {
    const size_t at = value_of.find(sign);
    if (at == std::string::npos) continue;
    const double left = Operand(values, value_of.substr(0, at));
    const double right = Operand(values, value_of.substr(at + 3));
    if (sign[1] == '*') return left * right;
    return sign[1] == '-' ? left - right : left / right;
  }
  throw config::ValueError{fmt::format("'{}' is not known", value_of),
                           "use a - b, a / b, a * b, share(a, b) or loss(a, b)"};
}

}  // namespace ringpost::tools

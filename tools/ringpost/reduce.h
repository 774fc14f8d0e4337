// reduce.h: one number from several runs.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace ringpost::tools {

struct Point {
  double x;
  double y;
};
using Series = std::vector<Point>;

// slope, intercept or r2 of the least-squares line, max or min of y, or the first x at which y
// reaches a share of its maximum: "first_reaching(90 %)"; or the onset: the x up to which y is
// flat, where from there on it falls by a power of x, as fits best in logarithms. A slope is per
// `per` units of x. Throws config::ValueError for any other text.
double Reduce(const Series& series, const std::string& value_of, double per);

// "a - b", "a / b" or "a * b" over named values, b may be a number; "share(a, b)": a in percent of
// b; or "loss(a, b)": by how many percent a is below b. Throws config::ValueError.
double Combine(const std::map<std::string, double>& values, const std::string& value_of);

}  // namespace ringpost::tools

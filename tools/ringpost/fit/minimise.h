// minimise.h: searches for the numbers that make a loss small, by NLopt.
//
// The program knows NLopt by this interface alone: libringpost_nlopt.so, which implements it, is
// loaded when something is to be fitted, so that the program runs where NLopt is not installed.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ringpost::tools {

enum class Method : uint8_t {
  kDirect,   // DIRECT-L: over the whole range
  kSubplex,  // from a point
  kBobyqa,   // from a point, by a quadratic model
};

struct Search {
  Method method = Method::kSubplex;
  uint32_t evaluations = 100;  // at most
  double step = 0.1;           // first step, and precision
  double precision = 1e-4;
};

struct Task {
  std::function<double(const std::vector<double>&)> loss;
  std::vector<double> low, high;
  double enough = 0;  // a loss that ends the search
};

// Moves `x` to the best point that it finds between the bounds; what `loss` throws comes through.
// Deterministic: equal tasks move it alike. Throws std::runtime_error where the library is not
// there.
void Minimise(const Task& task, const Search& search, std::vector<double>& x);

// What the library exports.
constexpr char kMinimise[] = "ringpost_minimise";
using MinimiseFunction = void (*)(const Task& task, const Search& search, std::vector<double>& x);

}  // namespace ringpost::tools

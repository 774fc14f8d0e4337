// time.h: simulated time as integer picoseconds in strong types.
//
// A Time is a point, a Duration a distance; both are 64-bit and signed, which spans 106 days.
// Nothing in the simulator holds time as a floating-point number.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

namespace ringpost::sim {

struct Duration {
  int64_t ps = 0;

  static constexpr Duration Ns(double ns) {
    return {static_cast<int64_t>(ns * 1000.0 + (ns < 0 ? -0.5 : 0.5))};
  }
  constexpr auto operator<=>(const Duration&) const = default;
  constexpr Duration operator+(Duration other) const { return {ps + other.ps}; }
  constexpr Duration operator-(Duration other) const { return {ps - other.ps}; }
  constexpr Duration operator*(int64_t n) const { return {ps * n}; }
  constexpr Duration operator/(int64_t n) const { return {ps / n}; }
  constexpr Duration& operator+=(Duration other) { return ps += other.ps, *this; }
};

struct Time {
  int64_t ps = 0;

  static constexpr Time Never() { return {std::numeric_limits<int64_t>::max()}; }
  constexpr auto operator<=>(const Time&) const = default;
  constexpr Time operator+(Duration d) const { return {ps + d.ps}; }
  constexpr Time operator-(Duration d) const { return {ps - d.ps}; }
  constexpr Duration operator-(Time other) const { return {ps - other.ps}; }
  constexpr Time& operator+=(Duration d) { return ps += d.ps, *this; }
};

constexpr Time Later(Time a, Time b) { return a < b ? b : a; }
constexpr Time Earlier(Time a, Time b) { return a < b ? a : b; }

}  // namespace ringpost::sim

// The onset and the exponent of curves that are known.
#include "tools/ringpost/sweep/decline.h"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <random>

#include "tests/seed.h"

namespace ringpost::tools {
namespace {

namespace tt = boost::test_tools;

std::vector<double> Doubling(size_t count) {
  std::vector<double> x;
  for (size_t i = 0; i < count; ++i) x.push_back(std::ldexp(1.0, static_cast<int>(i)));
  return x;
}

double Shape(double x, const Decline& of) {
  return x <= of.onset ? of.plateau : of.plateau * std::pow(x / of.onset, -of.exponent);
}

std::vector<double> Curve(const std::vector<double>& x, const Decline& of) {
  std::vector<double> y;
  for (const double value : x) y.push_back(Shape(value, of));
  return y;
}

BOOST_AUTO_TEST_CASE(AKnownOnsetIsFoundOnPointsAndBetweenThem) {
  for (const size_t count : {6, 9, 14, 40}) {
    const std::vector<double> x = Doubling(count);
    for (const double onset : {2.0, 3.0, 5.5, 8.0}) {
      if (onset > x[count - 3]) continue;
      for (const double exponent : {0.1, 1.0, 2.5, -0.5}) {
        const Decline known{.plateau = 260, .onset = onset, .exponent = exponent};
        const auto found = FitDecline(x, Curve(x, known));
        BOOST_TEST_CONTEXT(count << " points, onset " << onset << ", exponent " << exponent) {
          BOOST_TEST_REQUIRE(found.has_value());
          BOOST_TEST(found->plateau == 260, tt::tolerance(1e-4));
          BOOST_TEST(found->onset == onset, tt::tolerance(1e-3));
          BOOST_TEST(found->exponent == exponent, tt::tolerance(1e-3));
          BOOST_TEST(found->rms < 1e-4);
          BOOST_TEST(found->r2 > 0.9999);
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(NoiseOfAPercentMovesTheFitByLittle) {
  std::mt19937_64 random(TestSeed());
  std::uniform_real_distribution<double> noise(-0.01, 0.01);
  const std::vector<double> x = Doubling(12);
  const Decline known{.plateau = 40, .onset = 48, .exponent = 0.8};
  for (int round = 0; round < 20; ++round) {
    std::vector<double> y = Curve(x, known);
    for (double& value : y) value *= 1 + noise(random);
    const auto found = FitDecline(x, y);
    BOOST_TEST_CONTEXT("round " << round) {
      BOOST_TEST_REQUIRE(found.has_value());
      BOOST_TEST(found->plateau == 40, tt::tolerance(0.02));
      BOOST_TEST(found->onset == 48, tt::tolerance(0.1));
      BOOST_TEST(found->exponent == 0.8, tt::tolerance(0.05));
      BOOST_TEST(found->rms < 0.01);
    }
  }
}

BOOST_AUTO_TEST_CASE(ACurveOfAnotherShapeHasNoFit) {
  const std::vector<double> x = Doubling(8);
  const auto none = [&x](const std::vector<double>& y) { return !FitDecline(x, y).has_value(); };
  BOOST_TEST(none({7, 7, 7, 7, 7, 7, 7, 7}));       // level
  BOOST_TEST(none({7, 7, 7, 7, 7, 7, 6.9, 6.8}));   // falls by less than 5 %
  BOOST_TEST(none({128, 64, 32, 16, 8, 4, 2, 1}));  // falls from its first point
  BOOST_TEST(none({7, 7, 7, 7, 7, 7, 7, 3}));       // one point beyond any onset
  BOOST_TEST(none({1, 9, 2, 8, 1, 9, 2, 8}));       // goes up and down
  BOOST_TEST(none({7, 7, 7, 7, 0, 3, 2, 1}));       // has no logarithm
  BOOST_TEST(!FitDecline({1, 2, 4, 8, 16}, {7, 7, 7, 3, 1}).has_value());  // is too short
  BOOST_TEST(!FitDecline({0, 2, 4, 8, 16, 32}, {7, 7, 7, 3, 2, 1}).has_value());
}

}  // namespace
}  // namespace ringpost::tools

// Curves of sweeps too large to run here.
#include "tools/ringpost/sweep/plots.h"

#include <fmt/format.h>

#include <boost/test/unit_test.hpp>
#include <cmath>

#include "tools/ringpost/sweep/fits.h"
#include "tools/ringpost/sweep/key_name.h"

namespace ringpost::tools {
namespace {

Row RowAt(uint64_t point, const std::string& qps, const std::string& batch, double rate) {
  Row row{point, {std::to_string(point), qps, batch}, {}};
  for (const char* cell : {"1", "sim", "simulated", "hash", "stage", "0", ""}) {
    row.cells.push_back(cell);
  }
  row.measures.push_back({"message_rate", fmt::format("{}", rate), "M msg/s"});
  return row;
}

Plan ThePlan() {
  Plan plan;
  plan.keys = {"transport.qps_per_peer", "transport.batch"};
  return plan;
}

size_t DrawnOf(const Plot& plot) {
  size_t drawn = 0;
  for (const Series& series : plot.series) drawn += series.points.size();
  return drawn;
}

std::vector<Row> Grid(uint64_t qps_count, uint64_t batches_count) {
  std::vector<Row> rows;
  for (uint64_t qps = 1; qps <= qps_count; ++qps) {
    for (uint64_t batch = 1; batch <= batches_count; ++batch) {
      const double rate = qps <= 100 ? 200 : 200 * std::pow(static_cast<double>(qps) / 100, -0.5);
      rows.push_back(RowAt(rows.size(), std::to_string(qps), std::to_string(batch), rate));
    }
  }
  return rows;
}

BOOST_AUTO_TEST_CASE(APlotOfFiftyThousandPointsShowsSomeOfThemAndSaysHowManyThereAre) {
  const std::vector<Row> rows = Grid(25'000, 2);
  std::vector<Plot> plots = MakePlots(ThePlan(), rows);
  BOOST_TEST_REQUIRE(plots.size() == 1u);
  Plot& plot = plots[0];
  FitCurves(plot);
  BOOST_TEST(DrawnOf(plot) == 50'000u);
  Thin(plot);
  BOOST_TEST(DrawnOf(plot) == kMostDrawn);
  BOOST_TEST(plot.points_count == 50'000u);
  BOOST_TEST(plot.curves_count == 2u);
  for (const Series& series : plot.series) {
    BOOST_TEST(series.points.front().x == 0u);
    BOOST_TEST(series.points.back().x == 24'999u);
    // Of all points, not of those that are shown.
    BOOST_TEST_REQUIRE(series.decline.has_value());
    BOOST_TEST(series.fitted_count == 25'000u);
    BOOST_TEST(series.decline->onset == 100, boost::test_tools::tolerance(0.01));
    BOOST_TEST(series.decline->exponent == 0.5, boost::test_tools::tolerance(0.01));
  }
}

BOOST_AUTO_TEST_CASE(APlotOfManyCurvesShowsTheFirstTheLastAndSomeBetween) {
  std::vector<Plot> plots = MakePlots(ThePlan(), Grid(101, 100));
  BOOST_TEST(plots[0].series.size() == 100u);
  Thin(plots[0]);
  BOOST_TEST(plots[0].series.size() == kMostCurves);
  BOOST_TEST(plots[0].series.front().name == "transport.batch 1");
  BOOST_TEST(plots[0].series.back().name == "transport.batch 100");
  BOOST_TEST(DrawnOf(plots[0]) <= kMostDrawn);
}

BOOST_AUTO_TEST_CASE(FewPointsAreAllShown) {
  std::vector<Plot> plots = MakePlots(ThePlan(), Grid(63, 63));
  Thin(plots[0]);
  BOOST_TEST(DrawnOf(plots[0]) == 63u * 63u);
}

BOOST_AUTO_TEST_CASE(AFitIsALineOfTheTable) {
  std::vector<Plot> plots = MakePlots(ThePlan(), Grid(400, 1));
  FitCurves(plots[0]);
  const std::string csv = FitsCsv(plots, "which sweep");
  BOOST_TEST(csv.starts_with("# which sweep\n# "));
  BOOST_TEST(
      csv.find("\nmetric,unit,x,curve,points,plateau,onset,exponent,rms_percent,r2\n"
               "message_rate,M msg/s,transport.qps_per_peer,,400,200,100") != std::string::npos,
      csv);
  plots = MakePlots(ThePlan(), Grid(100, 1));
  FitCurves(plots[0]);
  BOOST_TEST(FitsCsv(plots, "which sweep") == "");
}

BOOST_AUTO_TEST_CASE(AKeyIsNamedByTheShortestEndThatNoOtherHas) {
  BOOST_TEST(ShortName("transport.batch") == "transport.batch");  // proxy.batch is another
  BOOST_TEST(ShortName("transport.placement") == "transport.placement");
  BOOST_TEST(ShortName("workload.placement") == "workload.placement");
  BOOST_TEST(ShortName("nic.limits.qps_count") == "qps_count");
  BOOST_TEST(ShortName("platform") == "platform");
}

}  // namespace
}  // namespace ringpost::tools

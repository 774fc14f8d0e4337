// More queue pairs in use than a NIC has room for their contexts.
#include <boost/test/unit_test.hpp>
#include <string>

#include "configs/schema/loader.h"
#include "configs/schema/platform_loader.h"
#include "workloads/runner.h"

namespace ringpost {
namespace {

constexpr uint64_t kEntries = 450;
constexpr double kMissNs = 500;

struct Found {
  double rate = 0;  // M msg/s
  double hit_rate = 0;
  std::vector<std::pair<std::string, uint64_t>> counters;
};

double MetricOf(const workloads::RunResult& result, const std::string& name) {
  for (const workloads::Metric& metric : result.metrics) {
    if (metric.name == name) return metric.value;
  }
  BOOST_TEST_REQUIRE(false, "there is no metric " << name);
  return 0;
}

// 64 B writes over `qps` queue pairs, one to each in turn, to a NIC that holds 450 contexts.
Found WriteOver(uint64_t qps, const std::string& order) {
  config::Sources sources;
  sources.assignments = config::ParseEnvironment(
      "workload.kind=connection_scaling workload.direction=send workload.payload=64 B "
      "workload.writes_per_visit=1 workload.threads=64 workload.sms_count=64 "
      "transport.sq_depth_wqebbs=16 workload.visit_order=" +
      order + " transport.qps_per_peer=" + std::to_string(qps));
  const config::Config config = config::Load(sources).config;
  sim::Platform platform = config::LoadPlatform("p_ib");
  platform.responder_context = {.model = "lru", .entries_count = kEntries};
  platform.context_miss.ns = kMissNs;
  const workloads::RunResult result = workloads::Run(config, platform, {});
  BOOST_TEST_REQUIRE(result.ok, result.error);
  return {MetricOf(result, "message_rate"), MetricOf(result, "responder_hit_rate"),
          result.counters};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(ContextCacheTest)

// O-46. Access in a circle defeats LRU: what is needed next has just gone.
BOOST_AUTO_TEST_CASE(TheRateFallsByWhatIsMissedOnceQpsExceedTheCache) {
  const double base_ns = 1e3 / WriteOver(64, "round_robin").rate;
  for (const uint64_t qps : {1, 64, 256, 450, 512, 1024, 4096}) {
    BOOST_TEST_CONTEXT(qps << " queue pairs") {
      const Found found = WriteOver(qps, "round_robin");
      if (qps <= kEntries) {
        BOOST_TEST(found.hit_rate > 0.99);
      } else {
        BOOST_TEST(found.hit_rate < 0.01);
      }
      if (qps == 1) continue;  // limited by the one queue
      const double expected = 1e3 / (base_ns + (1 - found.hit_rate) * kMissNs);
      BOOST_TEST(found.rate == expected, boost::test_tools::tolerance(0.1));
    }
  }
}

BOOST_AUTO_TEST_CASE(FavouritesStayInTheCache) {
  const double base_ns = 1e3 / WriteOver(64, "round_robin").rate;
  const Found found = WriteOver(4096, "zipf");
  BOOST_TEST(found.hit_rate > 0.3);
  BOOST_TEST(found.hit_rate < 0.95);
  const double expected = 1e3 / (base_ns + (1 - found.hit_rate) * kMissNs);
  BOOST_TEST(found.rate == expected, boost::test_tools::tolerance(0.1));
}

BOOST_AUTO_TEST_CASE(TwoRunsAreIdentical) {
  const Found one = WriteOver(512, "zipf");
  const Found other = WriteOver(512, "zipf");
  BOOST_TEST(one.rate == other.rate);
  BOOST_TEST((one.counters == other.counters));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace ringpost

// The dispatch of a mixture of experts: the workload itself looks at each token and byte that has
// arrived, so that a run which ends well has delivered; here is what its numbers are of.
#include <boost/test/unit_test.hpp>
#include <string>

#include "configs/schema/loader.h"
#include "configs/schema/platform_loader.h"
#include "workloads/runner.h"

namespace ringpost::workloads {
namespace {

constexpr char kSmall[] =
    "workload.kind=moe_dispatch transport.publication=ordered_handoff "
    "transport.ordering=gpu_release transport.qps_per_peer=4 transport.batch=4 ranks=4 "
    "workload.tokens=32 workload.hidden_elements=256 workload.experts=16 workload.top_k=4 "
    "workload.sms_count=8 workload.rounds=2 ";
constexpr double kMessageBytes = 16 + 256 + 2 * 4;  // header, elements, scales
constexpr double kFlags = 4 * 12;                   // of each rank for the experts of others
constexpr char kNormal[] = "workload.pattern=normal ";

RunResult RunWith(const std::string& settings, const sim::Platform* platform = nullptr) {
  config::Sources sources;
  sources.assignments = config::ParseEnvironment(kSmall + settings);
  const config::Config config = config::Load(sources).config;
  return Run(config, platform == nullptr ? config::LoadPlatform(config.platform) : *platform, {});
}

double MetricOf(const RunResult& result, const std::string& name) {
  BOOST_TEST_REQUIRE(result.ok, result.error);
  for (const Metric& metric : result.metrics) {
    if (metric.name == name) return metric.value;
  }
  BOOST_TEST_REQUIRE(false, "there is no metric " << name);
  return 0;
}

void ExpectDelivered(const std::string& settings) {
  const RunResult result = RunWith(settings);
  BOOST_TEST(result.ok, settings << ": " << result.error);
  BOOST_TEST(result.violation_count == 0u,
             settings << ": " << (result.violations.empty() ? "" : result.violations[0]));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(MoeDispatchTest)

BOOST_AUTO_TEST_CASE(EveryPublicationDeliversEachTokenOnce) {
  for (const std::string pattern : {"", kNormal}) {
    for (const std::string publication :
         {"ordered_handoff", "ordered_handoff transport.ordering=gpu_fence",
          "last_writer "
          "transport.ordering=threadfence",
          "locked transport.batch=1", "locked transport.batch=1 transport.ordering=gpu_fence"}) {
      ExpectDelivered(pattern + "transport.publication=" + publication);
    }
  }
}

BOOST_AUTO_TEST_CASE(SoDoInitiatorsThatAllPeersShare) {
  for (const std::string pattern : {"", kNormal}) ExpectDelivered(pattern + "transport.kind=dc");
}

BOOST_AUTO_TEST_CASE(SoDoLoadsThatReadWhatIsOldAsLongAsTheyMay) {
  for (const std::string pattern : {"", kNormal}) {
    ExpectDelivered(pattern + "visibility.mode=adversarial");
  }
}

BOOST_AUTO_TEST_CASE(SoDoesADispatchOfManyRanks) {
  for (const std::string pattern : {"", kNormal}) {
    ExpectDelivered(pattern +
                    "ranks=32 workload.experts=64 workload.tokens=8 workload.sms_count=2 "
                    "transport.qps_per_peer=2 workload.rounds=1");
  }
}

// Rings of two tokens turn many times, and end in the middle of a chunk.
BOOST_AUTO_TEST_CASE(SoDoRingsThatAreShorterThanWhatGoesThroughThem) {
  ExpectDelivered(std::string(kNormal) +
                  "workload.chunk_tokens=2 workload.ring_tokens=3 workload.sms_count=1");
}

BOOST_AUTO_TEST_CASE(QueuesThatAreShorterThanWhatGoesThroughThemAreWaitedFor) {
  ExpectDelivered("transport.sq_depth_wqebbs=16 transport.qps_per_peer=1");
}

// Of the chosen experts, those of a rank itself cost no put. Where all are chosen that is a
// quarter.
BOOST_AUTO_TEST_CASE(PutsAreTheTokensOfExpertsElsewhere) {
  const RunResult all = RunWith("workload.experts=16 workload.top_k=16");
  BOOST_TEST(MetricOf(all, "messages") == 4 * 32 * 12);
  BOOST_TEST(MetricOf(RunWith(""), "messages") < 4 * 32 * 4);
}

BOOST_AUTO_TEST_CASE(TheNicsSendThePutsAndTheFlagsAndNothingElse) {
  for (const std::string routing : {"uniform", "zipf"}) {
    const RunResult result = RunWith("workload.routing=" + routing);
    BOOST_TEST(MetricOf(result, "bytes") ==
               MetricOf(result, "messages") * kMessageBytes + kFlags * 8);
  }
}

BOOST_AUTO_TEST_CASE(TheHottestReceiverIsTheLast) {
  const std::string heavy = "workload.tokens=128 workload.hidden_elements=4096 ";
  const RunResult skewed = RunWith(heavy + "workload.routing=zipf");
  BOOST_TEST(MetricOf(skewed, "hottest_rank") == 0);
  BOOST_TEST(MetricOf(skewed, "last_rank") == 0);
  const RunResult even = RunWith(heavy);
  BOOST_TEST(MetricOf(skewed, "dispatch_time_max") > 1.3 * MetricOf(even, "dispatch_time_max"));
}

// What a NIC writes is seen 30 us later; the senders do not wait for it.
BOOST_AUTO_TEST_CASE(ADelayAtTheReceiversMovesTheWaitAndNotTheIssue) {
  sim::Platform platform = config::LoadPlatform("p_ib");
  const RunResult before = RunWith("", &platform);
  platform.write_gpu.ns += 30000;
  const RunResult after = RunWith("", &platform);
  BOOST_TEST(MetricOf(after, "issue_time") == MetricOf(before, "issue_time"));
  BOOST_TEST(MetricOf(after, "wait_time") - MetricOf(before, "wait_time") == 30,
             boost::test_tools::tolerance(0.02));
}

BOOST_AUTO_TEST_CASE(TheBandwidthOfGpuMemoryMovesTheCopies) {
  sim::Platform platform = config::LoadPlatform("p_ib");
  const std::string heavy = "workload.tokens=128 workload.hidden_elements=8192 ";
  const RunResult before = RunWith(heavy, &platform);
  platform.memory_bandwidth.value /= 100;
  const RunResult after = RunWith(heavy, &platform);
  BOOST_TEST(MetricOf(after, "issue_time") > 1.5 * MetricOf(before, "issue_time"));
  BOOST_TEST(MetricOf(after, "copy_time") > 2 * MetricOf(before, "copy_time"));
}

BOOST_AUTO_TEST_CASE(ChunksAreFewerAndLargerPuts) {
  const RunResult single = RunWith(""), chunks = RunWith(kNormal);
  BOOST_TEST(MetricOf(chunks, "messages") < MetricOf(single, "messages") / 2);
  // A token that has two experts on one rank goes there once.
  BOOST_TEST(MetricOf(chunks, "bytes") < MetricOf(single, "bytes"));
}

BOOST_AUTO_TEST_CASE(ThreadsOfOneQueueShareItsDoorbells) {
  const std::string one = "transport.qps_per_peer=1 workload.sms_count=32 ";
  BOOST_TEST(MetricOf(RunWith(one), "doorbells_per_wqe") < 0.9);
  BOOST_TEST(MetricOf(RunWith(one + "transport.publication=locked transport.batch=1"),
                      "doorbells_per_wqe") == 1);
}

BOOST_AUTO_TEST_CASE(EqualSeedsGiveEqualRuns) {
  for (const std::string pattern : {"", kNormal}) {
    const RunResult a = RunWith(pattern), b = RunWith(pattern), c = RunWith(pattern + "seed=2");
    for (const Metric& metric : a.metrics) BOOST_TEST(MetricOf(b, metric.name) == metric.value);
    BOOST_TEST((a.counters == b.counters));
    BOOST_TEST((a.counters != c.counters));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace ringpost::workloads

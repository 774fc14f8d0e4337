// A NIC under many connections: each mechanism of the shared engine moves a figure of its own, and
// without it that figure is gone. On P-H100 with an eighth of its cache, so that sets are small.
#include <boost/test/unit_test.hpp>
#include <string>

#include "configs/schema/loader.h"
#include "configs/schema/platform_loader.h"
#include "workloads/runner.h"

namespace ringpost::workloads {
namespace {

sim::Platform SmallPlatform() {
  sim::Platform platform = config::LoadPlatform("p_h100");
  platform.context.entries_count /= 8;
  return platform;
}

constexpr uint64_t kFew = 64;    // QPs whose contexts all fit
constexpr uint64_t kMany = 768;  // of which most miss where both roles are in use

config::Config ConfigOf(uint64_t qps, const std::string& settings) {
  config::Sources sources;
  sources.assignments = config::ParseEnvironment(
      "platform=p_h100 workload.kind=connection_scaling transport.publication=cooperative "
      "transport.sq_depth_wqebbs=64 workload.threads=512 workload.threads_per_qp=32 "
      "workload.sms_count=16 transport.qps_per_peer=" +
      std::to_string(qps) + " " + settings);
  return config::Load(sources).config;
}

RunResult RunOn(const sim::Platform& platform, uint64_t qps, const std::string& settings = "") {
  const RunResult result = Run(ConfigOf(qps, settings), platform, {});
  BOOST_TEST_REQUIRE(result.ok, result.error);
  BOOST_TEST(result.violation_count == 0u);
  return result;
}

double MetricOf(const RunResult& result, const std::string& name) {
  for (const Metric& metric : result.metrics) {
    if (metric.name == name) return metric.value;
  }
  BOOST_TEST_REQUIRE(false, "there is no metric " << name);
  return 0;
}

double RateOn(const sim::Platform& platform, uint64_t qps, const std::string& settings = "") {
  return MetricOf(RunOn(platform, qps, settings), "message_rate");
}

const char kSend[] = "workload.direction=send";
const char kReceive[] = "workload.direction=receive";

}  // namespace

BOOST_AUTO_TEST_SUITE(ConnectionScalingTest)

// 4.13 ns a packet sent; 3.29 ns of the engine for each packet either way.
BOOST_AUTO_TEST_CASE(SendingAndReceivingShareTheEngine) {
  sim::Platform platform = SmallPlatform();
  platform.transmit.ns = 4;
  platform.engine_service.ns = 3;
  BOOST_TEST(RateOn(platform, kFew, kSend) == 250, boost::test_tools::tolerance(0.02));
  BOOST_TEST(RateOn(platform, kFew) == 1e3 / 6, boost::test_tools::tolerance(0.02));
  platform.engine_service.ns = 1;
  BOOST_TEST(RateOn(platform, kFew) == 250, boost::test_tools::tolerance(0.02));
}

BOOST_AUTO_TEST_CASE(ManyConnectionsCostWhoReceivesAndNotWhoSends) {
  const sim::Platform platform = SmallPlatform();
  const RunResult both = RunOn(platform, kMany);
  BOOST_TEST(MetricOf(both, "responder_hit_rate") < 0.999);
  BOOST_TEST(MetricOf(both, "message_rate") < 0.6 * RateOn(platform, kFew));
  const RunResult send = RunOn(platform, 2 * kMany, kSend);
  BOOST_TEST(MetricOf(send, "requester_hit_rate") < 0.05);
  BOOST_TEST(MetricOf(send, "message_rate") > 0.98 * RateOn(platform, kFew, kSend));
}

// What a requester's miss costs is hidden by contexts that are fetched ahead.
BOOST_AUTO_TEST_CASE(WithoutContextsAheadTheSenderWaitsForEach) {
  sim::Platform platform = SmallPlatform();
  platform.contexts_ahead.value = 1;
  BOOST_TEST(RateOn(platform, 2 * kMany, kSend) < 0.5 * RateOn(platform, kFew, kSend));
}

// A miss costs as much for a turn of one packet as for one of many.
BOOST_AUTO_TEST_CASE(TheQuantumSetsHowManyPacketsShareAMiss) {
  sim::Platform platform = SmallPlatform();
  const double few = RateOn(platform, kFew);
  const double many = RateOn(platform, kMany);
  platform.transmit_quantum.value /= 3;
  BOOST_TEST(RateOn(platform, kFew) == few, boost::test_tools::tolerance(0.02));
  BOOST_TEST(RateOn(platform, kMany) < 0.6 * many);
}

// A requester takes nine times the lines of a responder: alone, responders fit where both do not.
BOOST_AUTO_TEST_CASE(FootprintsSetHowMuchLaterReceivingAloneDeclines) {
  sim::Platform platform = SmallPlatform();
  const double few = RateOn(platform, kFew, kReceive);
  BOOST_TEST(RateOn(platform, kMany, kReceive) > 0.98 * few);
  std::swap(platform.requester_lines, platform.responder_lines);
  BOOST_TEST(RateOn(platform, kMany, kReceive) < 0.6 * few);
}

BOOST_AUTO_TEST_CASE(QueuesInHostMemoryTakeMoreOfTheCache) {
  sim::Platform platform = SmallPlatform();
  const std::string host = "transport.placement=host transport.ordering=system_fence";
  const uint64_t qps = 200;
  const double with = RateOn(platform, qps, host);
  platform.host_queue_lines.value = 0;
  BOOST_TEST(with < 0.85 * RateOn(platform, qps, host));
}

// Of contexts that would just fit, some are in sets that are too full; of a few more than fit some
// are in sets that are not. Fully associative, all are there or none is.
BOOST_AUTO_TEST_CASE(AssociativitySetsHowGraduallyTheRateDeclines) {
  sim::Platform platform = SmallPlatform();
  const double few = RateOn(platform, kFew);
  const double before = RateOn(platform, 240), after = RateOn(platform, 320);
  BOOST_TEST(before < 0.95 * few);
  BOOST_TEST(after < 0.9 * before);
  platform.context = {.model = "lru", .entries_count = platform.context.entries_count};
  const double lru_before = RateOn(platform, 240), lru_after = RateOn(platform, 320);
  BOOST_TEST(lru_before > 0.98 * few);
  BOOST_TEST(lru_after < 0.9 * after);
}

// Room for less than is on its way at the full rate.
BOOST_AUTO_TEST_CASE(AFullReceiverHoldsUpItsSenders) {
  sim::Platform platform = SmallPlatform();
  platform.receive_buffer.value = 2048;
  const std::string receive = std::string(kReceive) + " ranks=3";
  const double held_up = RateOn(platform, kFew, receive);
  BOOST_TEST(held_up < 0.5 * RateOn(SmallPlatform(), kFew, receive));
  BOOST_TEST(held_up > 10);
}

// Packets of others that have arrived behind a sender's do not keep its answer back.
BOOST_AUTO_TEST_CASE(ADctAnswersEachSenderByItself) {
  const auto rate = [](const std::string& kind) {
    return RateOn(
        SmallPlatform(), 32,
        "ranks=3 workload.direction=receive workload.revisit=completed transport.kind=" + kind);
  };
  BOOST_TEST(rate("dc") > 0.97 * rate("rc"));
}

BOOST_AUTO_TEST_CASE(EachTurnToAnotherTargetCostsADciTheSame) {
  sim::Platform platform = SmallPlatform();
  const std::string dc =
      "transport.kind=dc ranks=3 workload.direction=send workload.threads=64 "
      "workload.sms_count=2 transport.sq_depth_wqebbs=512 ";
  const auto rate = [&](int writes) {
    return RateOn(platform, 64,
                  dc +
                      "transport.publication=per_thread workload.threads_per_qp=1 "
                      "workload.writes_per_visit=" +
                      std::to_string(writes));
  };
  const double turn_ns = platform.dc_switch.ns + platform.transmit.ns;
  BOOST_TEST(rate(1) == 1e3 / turn_ns, boost::test_tools::tolerance(0.1));
  BOOST_TEST(rate(8) > 4 * rate(1));
}

// At first each context is missed and rings fill; then the NIC drains them in long turns, faster
// than anybody posts.
BOOST_AUTO_TEST_CASE(WhileRingsDrainNothingIsSettled) {
  const sim::Platform platform = config::LoadPlatform("p_h100");
  const auto rate = [&](uint64_t qps) {
    return RateOn(platform, qps,
                  "workload.direction=send transport.publication=batched transport.batch=1 "
                  "workload.writes_per_visit=1 workload.threads=64 workload.threads_per_qp=1");
  };
  BOOST_TEST(rate(4096) < 1.05 * rate(kFew));
}

// Each is within 1 % of what it would be for ever.
BOOST_AUTO_TEST_CASE(ASampleOfAPassSaysWhatWholePassesSay) {
  const struct {
    const char* direction;
    uint64_t qps;
  } kCases[] = {{"send", 1536}, {"receive", 1536}, {"both", 640}};
  for (const auto& [direction, qps] : kCases) {
    const std::string settings =
        "workload.writes_per_visit=256 workload.direction=" + std::string(direction);
    const RunResult whole = RunOn(SmallPlatform(), qps, settings);
    const RunResult sample =
        RunOn(SmallPlatform(), qps, settings + " workload.whole_pass_messages=131072");
    BOOST_TEST_CONTEXT(direction << ", " << qps << " QPs") {
      BOOST_TEST(MetricOf(whole, "sampled_visits") == MetricOf(whole, "pass_visits"));
      BOOST_TEST(MetricOf(sample, "sampled_visits") < MetricOf(sample, "pass_visits"));
      BOOST_TEST(MetricOf(sample, "pass_visits") == MetricOf(whole, "pass_visits"));
      for (const char* metric : {"message_rate", "requester_hit_rate", "responder_hit_rate"}) {
        BOOST_TEST(MetricOf(sample, metric) == MetricOf(whole, metric),
                   boost::test_tools::tolerance(0.02));
      }
    }
  }
}

// Which come to a queue by chance have no pass after which all have been visited.
BOOST_AUTO_TEST_CASE(VisitsByChanceAreNotSampled) {
  for (const std::string order : {"random", "zipf"}) {
    const RunResult result = RunOn(
        SmallPlatform(), 200, "workload.whole_pass_messages=1024 workload.visit_order=" + order);
    BOOST_TEST(MetricOf(result, "sampled_visits") == MetricOf(result, "pass_visits"), order);
  }
}

BOOST_AUTO_TEST_CASE(AResultTellsHowManyThreadsFoundAQueue) {
  BOOST_TEST(MetricOf(RunOn(SmallPlatform(), 8), "posting_threads") == 8 * 32);
  BOOST_TEST(MetricOf(RunOn(SmallPlatform(), 200), "posting_threads") == 512);
}

// What a poller finds may be a WQE that was flushed behind the one that failed.
BOOST_AUTO_TEST_CASE(AFailureIsToldWithItsCause) {
  const config::Config config =
      ConfigOf(8, "faults.rules=[{where: responder, kind: error, at: {rank: 0, qp: 2, wqe: 5}}]");
  const RunResult result = Run(config, SmallPlatform(), {});
  BOOST_TEST(!result.ok);
  BOOST_TEST(
      result.error.find("NIC 0 had failed QP 0x102, WQE 5, syndrome 0x02") != std::string::npos,
      result.error);
}

BOOST_AUTO_TEST_CASE(EveryOrderOfVisitsEnds) {
  for (const std::string order : {"round_robin", "strided", "random", "zipf"}) {
    const RunResult result = RunOn(SmallPlatform(), 200, "workload.visit_order=" + order);
    BOOST_TEST(MetricOf(result, "message_rate") > 0, order);
  }
}

BOOST_AUTO_TEST_CASE(RunsOfAnyLengthAreTheSame) {
  const RunResult a = RunOn(SmallPlatform(), 200, "nic.run_length=1");
  const RunResult b = RunOn(SmallPlatform(), 200, "nic.run_length=64");
  BOOST_TEST(MetricOf(a, "message_rate") == MetricOf(b, "message_rate"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace ringpost::workloads

// The workloads as kernels on a GPU, by the same YAML as on the simulator. Each run checks what
// arrived at its target.
#include <boost/test/unit_test.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "configs/schema/config.h"
#include "configs/schema/loader.h"
#include "configs/schema/platform_loader.h"
#include "configs/schema/root.h"
#include "tests/gpu/needs_gpu.h"
#include "transport/publication/pairs.h"
#include "workloads/runner.h"

namespace ringpost {
namespace {

using boost::unit_test::precondition;
using workloads::RunResult;

config::Config ConfigOf(const std::string& file, const std::string& settings) {
  config::Sources sources;
  if (!file.empty()) sources.file = config::FindRoot() + "/configs/gpu/" + file + ".yaml";
  sources.assignments = config::ParseEnvironment(settings);
  return config::Load(sources).config;
}

RunResult RunIt(const config::Config& config) {
  return workloads::Run(config, config::LoadPlatform(config.platform), {});
}

std::multiset<std::string> MetricsOf(const RunResult& result) {
  std::multiset<std::string> names;
  for (const workloads::Metric& metric : result.metrics) {
    names.insert(metric.name + " " + metric.unit);
  }
  return names;
}

uint64_t CounterOf(const RunResult& result, const std::string& name) {
  for (const auto& [each, value] : result.counters) {
    if (each == name) return value;
  }
  return ~uint64_t{0};
}

void CheckAsOnSim(const std::string& file, const std::string& settings) {
  const RunResult live = RunIt(ConfigOf(file, settings + " backend=live"));
  BOOST_TEST(live.ok, file << ": " << live.error);
  const RunResult simulated = RunIt(ConfigOf(file, settings + " backend=sim"));
  BOOST_TEST_REQUIRE(simulated.ok, file << ": " << simulated.error);
  BOOST_TEST(MetricsOf(live) == MetricsOf(simulated), file);
  for (const workloads::Metric& metric : live.metrics) {
    BOOST_TEST(metric.value > 0, file << ": " << metric.name);
    BOOST_TEST_MESSAGE(file << " " << settings << ": " << metric.name << " " << metric.value << " "
                            << metric.unit);
  }
  for (const char* name : {"nic0.wqes", "nic1.wqes"}) {
    BOOST_TEST(CounterOf(live, name) == CounterOf(simulated, name), file << ": " << name);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(GpuWorkloadTest, *precondition(NeedsGpu))

BOOST_AUTO_TEST_CASE(EachFileRunsAsOnTheSimulator) {
  for (const char* file : {"put_latency", "round_trip", "message_rate", "goodput"}) {
    CheckAsOnSim(file, "");
    CheckAsOnSim(file, "live.pace=off");
  }
}

// Kernels enqueue, and real workers post.
BOOST_AUTO_TEST_CASE(ProxiesServeKernelsAsOnTheSimulator) {
  for (const char* handoff : {"proxy.handoff=tuned", "proxy.handoff=baseline"}) {
    const std::string either = std::string(handoff) + " live.pace=off ";
    CheckAsOnSim("proxy_latency", either);
    CheckAsOnSim("proxy_latency", either + "workload.kind=round_trip workload.inline=never");
    CheckAsOnSim("proxy_rate", either);
    CheckAsOnSim("proxy_rate", either + "workload.payload=4 KiB workload.operations=6400");
  }
  CheckAsOnSim("proxy_rate", "proxy.handoff=baseline workload.threads_per_qp=8 live.pace=off");
}

BOOST_AUTO_TEST_CASE(QueuesAndPayloadInGpuMemoryAreReached) {
  const std::string there =
      "transport.placement=gpu workload.placement=gpu workload.operations=2000 "
      "workload.warm_up=200 live.pace=off ";
  for (const char* file : {"put_latency", "round_trip", "message_rate"}) {
    CheckAsOnSim(file, there + "workload.inline=never");
    CheckAsOnSim(file, there + "workload.inline=auto");
  }
  CheckAsOnSim("goodput", there + "workload.payload=512 B");
}

BOOST_AUTO_TEST_CASE(CallersTellWhatDormantCodeCosts) {
  for (const char* file : {"compute_caller", "streaming_caller"}) {
    const RunResult live = RunIt(
        ConfigOf(file, "backend=live live.pace=off workload.operations=2 workload.warm_up=1"));
    BOOST_TEST_REQUIRE(live.ok, file << ": " << live.error);
    BOOST_TEST(live.metrics.size() == 21u);
    for (const workloads::Metric& metric : live.metrics) {
      BOOST_TEST(metric.value > 0, file << ": " << metric.name);
      BOOST_TEST_MESSAGE(file << ": " << metric.name << " " << metric.value << " " << metric.unit);
    }
    // Four variants send 4 messages from each of 528 blocks, in three kernels.
    BOOST_TEST(CounterOf(live, "nic0.wqes") == 4u * 4 * 528 * 3);
  }
}

// Orderings of GPU scope are for GPU memory alone; the control `none` is for no machine.
BOOST_AUTO_TEST_CASE(EveryPairRunsAsInTheConfiguration) {
  ForEachPair([]<class Publication, class Ordering>() {
    if (Ordering::kScope == Scope::kThread) return;
    const bool system = Ordering::kScope == Scope::kSystem;
    const std::string place = system ? "host" : "gpu";
    const std::string publication = Publication::kName;
    const bool owned = publication == "per_thread" || publication == "batched";
    const bool single = publication == "per_thread" || publication == "locked";
    const std::string settings =
        "backend=live live.threads=gpu workload.kind=message_rate workload.threads=64 "
        "workload.operations=6400 workload.warm_up=640 workload.sms_count=2 "
        "transport.qps_per_peer=64 "
        "transport.publication=" +
        publication + " transport.ordering=" + Ordering::kName +
        " workload.threads_per_qp=" + (owned ? "1" : "32") +
        " transport.batch=" + (single ? "1" : "8") + " transport.placement=" + place +
        " workload.placement=" + place;
    const RunResult live = RunIt(ConfigOf("", settings));
    BOOST_TEST(live.ok, settings << ": " << live.error);
    BOOST_TEST(CounterOf(live, "nic0.wqes") >= 7040u, settings);
  });
}

BOOST_AUTO_TEST_CASE(AKernelThatDoesNotFitTheGpuIsRefused) {
  const RunResult live = RunIt(
      ConfigOf("",
               "backend=live live.threads=gpu workload.kind=message_rate workload.threads=524288 "
               "workload.sms_count=512 workload.threads_per_qp=524288 workload.operations=524288 "
               "transport.publication=locked"));
  BOOST_TEST(!live.ok);
  BOOST_TEST(live.error.find("do not run at once on this GPU") != std::string::npos, live.error);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace ringpost

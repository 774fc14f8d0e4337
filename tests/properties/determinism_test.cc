// Equal configuration, platform and seed give equal results, to the byte of the trace.
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "configs/schema/config.h"
#include "configs/schema/platform_loader.h"
#include "sim/engine/random.h"
#include "tests/seed.h"
#include "workloads/runner.h"

namespace ringpost::workloads {
namespace {

// All that a run says, as one text.
std::string TextOf(const config::Config& config, const sim::Platform& platform, bool traces) {
  std::string trace_file;
  if (traces) {
    const char* folder = std::getenv("TEST_TMPDIR");
    trace_file = std::string(folder == nullptr ? "/tmp" : folder) + "/determinism_trace.json";
  }
  const RunResult result = Run(config, platform, {.trace_file = trace_file, .pcap_file = ""});
  std::ostringstream text;
  text.precision(17);
  text << result.ok << ' ' << result.error << ' ' << result.limited_by << '\n';
  for (const Metric& metric : result.metrics) text << metric.name << ' ' << metric.value << '\n';
  for (const auto& [name, value] : result.counters) text << name << ' ' << value << '\n';
  for (const std::string& line : result.violations) text << line << '\n';
  if (traces) {
    text << std::ifstream(trace_file).rdbuf();
    std::filesystem::remove(trace_file);
  }
  return text.str();
}

config::Config Small(config::WorkloadKind kind) {
  config::Config config = config::DefaultConfig();
  config.seed = TestSeed();
  config.workload.kind = kind;
  config.workload.operations = 400;
  config.workload.warm_up = 20;
  return config;
}

std::vector<config::Config> SmallRuns() {
  std::vector<config::Config> runs = {Small(config::WorkloadKind::kPutLatency),
                                      Small(config::WorkloadKind::kRoundTrip)};
  using config::Publication;
  for (const Publication publication :
       {Publication::kPerThread, Publication::kBatched, Publication::kOrderedHandoff,
        Publication::kLocked, Publication::kCooperative}) {
    config::Config rate = Small(config::WorkloadKind::kMessageRate);
    const bool owned =
        publication == Publication::kPerThread || publication == Publication::kBatched;
    rate.transport.publication = publication;
    rate.workload.threads = 64;
    rate.workload.threads_per_qp = owned ? 1 : 32;
    rate.workload.sms_count = 2;  // whole warps share a QP
    rate.transport.batch = 4;
    runs.push_back(rate);
  }
  return runs;
}

}  // namespace

BOOST_AUTO_TEST_CASE(TheSameRunTwiceGivesTheSameMetricsCountersAndTrace) {
  const sim::Platform platform = config::LoadPlatform("p_ib");
  for (const config::Config& run : SmallRuns()) {
    const std::string first = TextOf(run, platform, true);
    BOOST_TEST(first.starts_with("1 "), first.substr(0, 200));
    BOOST_TEST(first.size() > 1000u);
    BOOST_TEST((first == TextOf(run, platform, true)),
               "seed " << TestSeed() << ", workload " << static_cast<int>(run.workload.kind)
                       << ", publication " << static_cast<int>(run.transport.publication));
  }
}

BOOST_AUTO_TEST_CASE(TheSameSeedGivesTheSameAdversary) {
  const sim::Platform platform = config::LoadPlatform("p_ib");
  config::Config run = Small(config::WorkloadKind::kPutLatency);
  run.visibility.mode = config::VisibilityMode::kAdversarial;
  const std::string first = TextOf(run, platform, true);
  BOOST_TEST((first == TextOf(run, platform, true)), "seed " << TestSeed());
  run.seed = sim::Mix(run.seed);
  BOOST_TEST((first != TextOf(run, platform, true)), "seed " << TestSeed());
}

BOOST_AUTO_TEST_CASE(ATraceChangesNothingElse) {
  const sim::Platform platform = config::LoadPlatform("p_ib");
  for (const config::Config& run : SmallRuns()) {
    const std::string without = TextOf(run, platform, false);
    BOOST_TEST(TextOf(run, platform, true).starts_with(without));
  }
}

}  // namespace ringpost::workloads

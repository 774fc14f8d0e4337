// Libraries on the simulator: what their operations cost, and that a choice of theirs moves a
// result the way in which the publication says it does.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "configs/schema/loader.h"
#include "configs/schema/platform_loader.h"
#include "configs/schema/root.h"
#include "sim/cost/cost_table.h"
#include "workloads/runner.h"

namespace ringpost::workloads {
namespace {

const sim::Platform& Pib() {
  static const sim::Platform platform = config::LoadPlatform("p_ib");
  return platform;
}

RunResult RunOnSim(const std::string& settings) {
  config::Sources sources;
  sources.file = config::FindRoot() + "/configs/experiments/library_put.yaml";
  sources.assignments =
      config::ParseEnvironment("workload.warm_up=64 workload.operations=200 " + settings);
  const config::Config config = config::Load(sources).config;
  const RunResult result = Run(config, config::LoadPlatform(config.platform), {});
  BOOST_TEST_REQUIRE(result.ok, result.error);
  BOOST_TEST(result.violation_count == 0u, settings);
  return result;
}

double MetricOf(const std::string& settings, const std::string& name) {
  for (const Metric& metric : RunOnSim(settings).metrics) {
    if (metric.name == name) return metric.value;
  }
  BOOST_TEST_REQUIRE(false, "there is no metric " << name);
  return 0;
}

double IssueOf(const std::string& settings) { return MetricOf(settings, "issue_latency"); }
double PutOf(const std::string& settings) { return MetricOf(settings, "put_completion_latency"); }

uint64_t CountOf(const RunResult& result, const std::string& name) {
  for (const auto& [counter, value] : result.counters) {
    if (counter == name) return value;
  }
  BOOST_TEST_REQUIRE(false, "there is no counter " << name);
  return 0;
}

// A library of one list.
std::string Library(const std::string& step, const std::string& operation, int count) {
  const std::string path = (std::filesystem::temp_directory_path() / "library_test.yaml").string();
  std::ofstream(path) << "repository: o/r\ncommit: 2d7d25f0816235e3c2b51779571ec032606ea0dd\n"
                      << "operations: {per_thread: {" << step << ": [{op: " << operation
                      << ", count: " << count << ", source: \"a: f\"}]}}\n";
  return "library=" + path + " ";
}

double In(sim::Duration duration) { return static_cast<double>(duration.ps) / 1e6; }

}  // namespace

BOOST_AUTO_TEST_SUITE(LibraryTest)

BOOST_AUTO_TEST_CASE(TheReferenceDoesNothingBeside) {
  const std::string plain =
      "library=none transport.publication=per_thread transport.indices=memory ";
  BOOST_TEST(IssueOf("library=mini_gda") == IssueOf(plain));
  BOOST_TEST(PutOf("library=mini_gda") == PutOf(plain));
}

BOOST_AUTO_TEST_CASE(AnOperationCostsWhatThePlatformSaysOfIt) {
  const sim::GpuCosts costs = sim::MakeCostTable(Pib(), 0).gpu;
  const double none = IssueOf("library=none");
  const auto added = [&](const std::string& operation, int count) {
    return IssueOf(Library("build", operation, count)) - none;
  };
  const auto near = boost::test_tools::tolerance(0.001);
  BOOST_TEST(added("load_gpu", 3) == 3 * In(costs.load_gpu), near);
  BOOST_TEST(added("load_local", 2) == 2 * In(costs.load_local), near);
  BOOST_TEST(added("store", 4) == 4 * In(costs.store_issue), near);
  BOOST_TEST(added("atomic_gpu", 2) == 2 * In(costs.atomic_gpu), near);
  BOOST_TEST(added("reduction_gpu", 2) == 2 * In(costs.store_issue), near);
  BOOST_TEST(added("fence_cta", 5) == 5 * In(costs.fence_cta), near);
  BOOST_TEST(added("fence_sc_gpu", 1) == In(costs.fence_sc_gpu), near);
  BOOST_TEST(added("fence_sc_system", 1) == In(costs.fence_sc_system), near);
  BOOST_TEST(added("shuffle", 1) == In(costs.shuffle), near);
}

BOOST_AUTO_TEST_CASE(AnOperationComesAtItsStep) {
  const double issue = IssueOf("library=none");
  const double put = PutOf("library=none");
  for (const std::string step : {"build", "built", "ring", "rung"}) {
    BOOST_TEST(IssueOf(Library(step, "atomic_gpu", 1)) > issue + 0.2, step);
  }
  // On the way to the NIC, and not behind it.
  BOOST_TEST(PutOf(Library("ring", "atomic_gpu", 4)) > put + 0.8);
  BOOST_TEST(PutOf(Library("rung", "atomic_gpu", 4)) < put + 0.2);
  // While the NIC is at work, and when it is done.
  BOOST_TEST(IssueOf(Library("wait", "atomic_gpu", 4)) == issue);
  BOOST_TEST(PutOf(Library("wait", "atomic_gpu", 4)) < put + 0.2);
  for (const std::string step : {"arrived", "quieted"}) {
    BOOST_TEST(PutOf(Library(step, "atomic_gpu", 4)) > put + 0.8, step);
  }
}

BOOST_AUTO_TEST_CASE(AnotherFenceMovesALibrary) {
  const std::string nvshmem = "library=nvshmem_internal ";
  BOOST_TEST(IssueOf(nvshmem + "transport.ordering=gpu_release") < IssueOf(nvshmem));
  BOOST_TEST(IssueOf(nvshmem + "transport.ordering=system_fence") > IssueOf(nvshmem) + 1);
  BOOST_TEST(IssueOf("library=gin_gdaki transport.ordering=threadfence") >
             IssueOf("library=gin_gdaki") + 0.3);
  BOOST_TEST(IssueOf("library=deepep transport.ordering=threadfence") >
             IssueOf("library=deepep") + 0.3);
}

// What is not in a fence's time is in cycles of the SM.
BOOST_AUTO_TEST_CASE(ASlowerClockMovesAnIssueByItsCycles) {
  const std::string nvshmem = "library=nvshmem_public gpu.sm_clock=";
  const double fast = IssueOf(nvshmem + "2000 MHz");
  const double slow = IssueOf(nvshmem + "1000 MHz");
  const sim::GpuCosts costs = sim::MakeCostTable(Pib(), 0).gpu;
  const double fences = 3 * In(costs.fence_sc_gpu) + 5 * In(costs.fence_cta);
  BOOST_TEST(slow - fast == fast - fences, boost::test_tools::tolerance(0.02));
}

BOOST_AUTO_TEST_CASE(AQuietOfAllGrowsWithTheQueuePairsAndOneOfTheUsedDoesNot) {
  const auto put = [](const std::string& library, const std::string& qps) {
    return PutOf("library=" + library + " transport.qps_per_peer=" + qps);
  };
  const double all = put("nvshmem_internal", "16") - put("nvshmem_internal", "1");
  BOOST_TEST(all > 15 * 0.4);
  BOOST_TEST(all < 15 * 0.7);
  for (const std::string library : {"nvshmem_ported_quiet", "deepep", "gin_gdaki"}) {
    BOOST_TEST(put(library, "16") == put(library, "1"), library);
  }
  const std::string own = "nvshmem_internal transport.completion=selected_qp";
  BOOST_TEST(put(own, "16") == put(own, "1"));
  BOOST_TEST(put("nvshmem_ported_quiet", "16") < put(own, "16") + 0.5);
}

BOOST_AUTO_TEST_CASE(IdleQueuePairsAreLookedAt) {
  const std::string nvshmem = "library=nvshmem_internal transport.idle_qps=";
  const double one = PutOf(nvshmem + "1");
  const double many = PutOf(nvshmem + "101");
  BOOST_TEST(many > one + 90 * 0.4);
  BOOST_TEST(IssueOf(nvshmem + "101") == IssueOf(nvshmem + "1"));
}

BOOST_AUTO_TEST_CASE(TheNicSeesALibraryThatRingsAgain) {
  const RunResult plain = RunOnSim("library=none");
  const RunResult twice = RunOnSim("library=gin_gdaki");
  BOOST_TEST(CountOf(twice, "nic0.doorbells") == 2 * CountOf(plain, "nic0.doorbells"));
  BOOST_TEST(CountOf(twice, "nic0.wqes") == CountOf(plain, "nic0.wqes"));
}

// Answers to a put with an add behind it come later than those to a put that writes the flag: the
// NIC reads the word before it writes it.
BOOST_AUTO_TEST_CASE(ASignalThatAddsTakesAReadMore) {
  const std::string trip = "library=none workload.kind=round_trip workload.signal=";
  const double writes = MetricOf(trip + "write", "round_trip_p50");
  const double adds = MetricOf(trip + "add", "round_trip_p50");
  BOOST_TEST(adds > writes + 2 * In(sim::MakeCostTable(Pib(), 0).path.read_gpu));
}

// Of the four ways to submit on the GPU.
BOOST_AUTO_TEST_CASE(LibrariesRankAsPublished) {
  for (const std::string platform : {"p_ib", "p_gb200"}) {
    double last = 0;
    for (const std::string library :
         {"mini_gda", "gin_gdaki", "nvshmem_internal", "nvshmem_public"}) {
      const double issue = IssueOf("library=" + library + " platform=" + platform);
      BOOST_TEST(issue > last, library << " on " << platform);
      last = issue;
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace ringpost::workloads

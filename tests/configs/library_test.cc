// Files of configs/libraries: what they preset, what they list, and what is refused.
#include <boost/test/unit_test.hpp>
#include <string>

#include "configs/schema/config_error.h"
#include "configs/schema/config_hash.h"
#include "configs/schema/library_loader.h"
#include "configs/schema/loader.h"
#include "configs/schema/platform_loader.h"
#include "configs/schema/root.h"
#include "sim/cost/operation_lists.h"
#include "tests/configs/scratch.h"
#include "transport/step.h"

namespace ringpost::config {
namespace {

const std::string kOrigin =
    "repository: NVIDIA/nvshmem\ncommit: 2d7d25f0816235e3c2b51779571ec032606ea0dd\n";
const std::string kLists =
    "operations:\n  per_thread:\n    build:\n"
    "      - {op: load_gpu, count: 3, source: \"a.cuh: f\"}\n";

std::string LibraryFile(const std::string& text) { return WriteScratch("l.yaml", text); }

Loaded LoadWith(const std::string& library, const std::string& experiment = "seed: 1\n") {
  return Load({WriteScratch("c.yaml", "library: " + LibraryFile(library) + "\n" + experiment), {}});
}

// The one line about a library, without its folder; empty when it loads.
std::string ErrorOf(const std::string& library, const std::string& experiment = "seed: 1\n") {
  try {
    LoadWith(library, experiment);
  } catch (const ConfigError& error) {
    std::string line = error.what();
    const std::string path = ScratchPath("l.yaml");
    const std::string folder = path.substr(0, path.size() - 6);
    for (size_t at; (at = line.find(folder)) != std::string::npos;) line.erase(at, folder.size());
    return line;
  }
  return "";
}

BOOST_AUTO_TEST_CASE(ALibraryPresetsWhatAnExperimentDoesNotSay) {
  const std::string library =
      "transport: {ordering: threadfence, qps_per_peer: 2}\nworkload: {inline: never}\n";
  const Loaded loaded = LoadWith(library, "transport: {qps_per_peer: 4}\n");
  BOOST_TEST((loaded.config.transport.ordering == Ordering::kThreadfence));
  BOOST_TEST((loaded.config.workload.inline_mode == InlineMode::kNever));
  BOOST_TEST(loaded.config.transport.qps_per_peer == 4u);
  BOOST_TEST(loaded.PositionOf("transport.ordering").file == ScratchPath("l.yaml"));
  BOOST_TEST(loaded.PositionOf("transport.ordering").line == 1);
}

BOOST_AUTO_TEST_CASE(WithoutALibraryThereAreNoOperations) {
  BOOST_TEST(Load({WriteScratch("c.yaml", "seed: 1\n"), {}}).config.operations.Empty());
  BOOST_TEST(LoadWith("transport: {ordering: threadfence}\n").config.operations.Empty());
}

BOOST_AUTO_TEST_CASE(ItsOperationsAreThoseOfThePublication) {
  const std::string library = kOrigin + kLists +
                              "  cooperative:\n    rung:\n"
                              "      - {op: ring, count: 1, source: \"a.cuh: g\"}\n";
  const sim::OperationLists one = LoadWith(library).config.operations;
  BOOST_TEST_REQUIRE(one.At(Step::kBuild).size() == 1u);
  BOOST_TEST((one.At(Step::kBuild)[0].kind == sim::OperationKind::kLoadGpu));
  BOOST_TEST(one.At(Step::kBuild)[0].count == 3u);
  BOOST_TEST(one.At(Step::kRung).empty());
  const std::string warps =
      "transport: {publication: cooperative}\nworkload: {threads: 32, threads_per_qp: 32}\n";
  const sim::OperationLists other = LoadWith(library, warps).config.operations;
  BOOST_TEST(other.At(Step::kBuild).empty());
  BOOST_TEST(other.At(Step::kRung).size() == 1u);
}

BOOST_AUTO_TEST_CASE(ThoseOfABaseComeFirst) {
  const std::string base = WriteScratch(
      "base.yaml", kOrigin + "transport: {ordering: threadfence, qps_per_peer: 2}\n" + kLists);
  const Loaded loaded =
      LoadWith("base: " + base + "\n" + kOrigin +
               "transport: {qps_per_peer: 3}\noperations:\n  per_thread:\n"
               "    build:\n      - {op: store, count: 1, source: \"b.cuh: h\"}\n");
  BOOST_TEST((loaded.config.transport.ordering == Ordering::kThreadfence));
  BOOST_TEST(loaded.config.transport.qps_per_peer == 3u);
  const auto& list = loaded.config.operations.At(Step::kBuild);
  BOOST_TEST_REQUIRE(list.size() == 2u);
  BOOST_TEST((list[0].kind == sim::OperationKind::kLoadGpu));
  BOOST_TEST((list[1].kind == sim::OperationKind::kStore));
}

BOOST_AUTO_TEST_CASE(TheHashCoversThem) {
  const sim::Platform platform = LoadPlatform("p_ib");
  const std::string library = kOrigin + kLists;
  const std::string hash = ConfigHash(LoadWith(library).effective, platform);
  std::string more = library;
  more.replace(more.find("count: 3"), 8, "count: 4");
  BOOST_TEST(ConfigHash(LoadWith(more).effective, platform) != hash);
  std::string elsewhere = library;
  elsewhere.replace(elsewhere.find("a.cuh: f"), 8, "z.cuh: k");
  BOOST_TEST(ConfigHash(LoadWith(elsewhere).effective, platform) == hash);
}

BOOST_AUTO_TEST_CASE(AnUnknownLibraryIsToldTheOthers) {
  std::string line;
  try {
    Load({WriteScratch("c.yaml", "library: nvshmen_public\n"), {}});
  } catch (const ConfigError& error) {
    line = error.what();
  }
  BOOST_TEST(line.ends_with("c.yaml:1:10: library: there is no library 'nvshmen_public'; "
                            "did you mean nvshmem_public?"),
             line);
  BOOST_TEST(ErrorOf("base: nothing_like_that\n")
                 .find("l.yaml:1:7: base: there is no library 'nothing_like_that'; use deepep, ") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(MistakesInALibraryAreOneLine) {
  const auto operation = [](const std::string& text) {
    return kOrigin + "operations:\n  per_thread:\n    build:\n      - " + text + "\n";
  };
  const std::string good = "{op: store, count: 1, source: \"a.cuh: f\"}";
  BOOST_TEST(ErrorOf(operation(good)) == "");
  BOOST_TEST(ErrorOf("transprot: {ordering: none}\n") ==
             "l.yaml:1:1: transprot: there is no such key; did you mean transport?");
  BOOST_TEST(ErrorOf("transport: {orderng: none}\n") ==
             "l.yaml:1:13: transport.orderng: there is no such key; did you mean ordering?");
  BOOST_TEST(ErrorOf("commit: HEAD\n").find("l.yaml:1:9: commit: 'HEAD' is not one; give the 40") ==
             0u);
  BOOST_TEST(ErrorOf(kLists).find("repository: is not there; say where the operations were") !=
             std::string::npos);
  BOOST_TEST(ErrorOf(kOrigin + "operations: {per_thred: {}}\n") ==
             "l.yaml:3:14: operations.per_thred: nobody is called so; did you mean per_thread?");
  BOOST_TEST(
      ErrorOf(kOrigin + "operations: {per_thread: {biuld: []}}\n") ==
      "l.yaml:3:27: operations.per_thread.biuld: there is no such step; did you mean build?");
  BOOST_TEST(ErrorOf(kOrigin + "operations: {per_thread: {build: 3}}\n").find("is not a list") !=
             std::string::npos);
  const std::string at = "l.yaml:6:";
  BOOST_TEST(ErrorOf(operation("{op: stroe, count: 1, source: \"a.cuh: f\"}")) ==
             at + "14: operations.per_thread.build[0].op: there is no such operation; did you mean "
                  "store?");
  BOOST_TEST(ErrorOf(operation("{op: store, count: 0, source: \"a.cuh: f\"}")) ==
             at + "28: operations.per_thread.build[0].count: '0' is no count; give a whole number "
                  "from 1 to 1000");
  BOOST_TEST(ErrorOf(operation("{op: store, count: 1.5, source: \"a.cuh: f\"}")).find("'1.5'") !=
             std::string::npos);
  BOOST_TEST(ErrorOf(operation("{op: store, count: 1, source: measured}")) ==
             at + "39: operations.per_thread.build[0].source: 'measured' names no file and "
                  "function; give file: function of the repository");
  BOOST_TEST(ErrorOf(operation("{op: store, count: 1}")) ==
             at + "9: operations.per_thread.build[0]: has no source; add it");
  BOOST_TEST(ErrorOf(operation("{op: store, cost: 4 ns}")).find("cost: there is no such key") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(AFileIsNoBaseOfItself) {
  const std::string path = ScratchPath("l.yaml");
  BOOST_TEST(ErrorOf("base: " + path + "\n").find("would be a base of itself") !=
             std::string::npos);
}

// Each turn of a loop that waits must be nothing but looks, or virtual time could not skip turns.
BOOST_AUTO_TEST_CASE(ALookAtCompletionsHasLoadsAlone) {
  const std::string poll = kOrigin +
                           "operations:\n  per_thread:\n    poll:\n"
                           "      - {op: atomic_gpu, count: 1, source: \"a.cuh: f\"}\n";
  BOOST_TEST(ErrorOf(poll) ==
             "l.yaml:6:9: operations.per_thread.poll[0]: is no load, and each look is one; use "
             "load_gpu or load_local");
}

BOOST_AUTO_TEST_CASE(APublicationWithoutOperationsIsRefused) {
  const std::string line =
      ErrorOf(kOrigin + kLists, "transport: {publication: batched, batch: 4}\n");
  BOOST_TEST(line == "c.yaml:1:10: library: l.yaml has no operations for batched; use per_thread");
}

BOOST_AUTO_TEST_CASE(OperationsAreSimulatedAlone) {
  const std::string line = ErrorOf(kOrigin + kLists, "backend: live\n");
  BOOST_TEST(line.find("c.yaml:1:10: library: l.yaml has operations beside the transport's") == 0u,
             line);
  BOOST_TEST(ErrorOf("transport: {ordering: system_fence, placement: host}\n"
                     "workload: {placement: host}\n",
                     "backend: live\n") == "");
}

BOOST_AUTO_TEST_CASE(EveryLibraryLoads) {
  BOOST_TEST_REQUIRE(LibraryNames().size() >= 5u);
  for (const std::string& name : LibraryNames()) {
    BOOST_TEST_CONTEXT(name) { BOOST_CHECK_NO_THROW(LoadLibrary(name)); }
  }
}

}  // namespace
}  // namespace ringpost::config

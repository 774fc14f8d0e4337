#include "sim/cost/platform.h"

#include <boost/test/unit_test.hpp>
#include <string>

#include "configs/schema/config_error.h"
#include "configs/schema/platform_loader.h"
#include "configs/schema/root.h"
#include "configs/schema/yaml_file.h"
#include "tests/configs/scratch.h"

namespace ringpost::config {
namespace {

// P-IB with one piece of its text replaced.
std::string Changed(const std::string& from, const std::string& to) {
  std::string text = ReadText(PlatformPath("p_ib"));
  const size_t at = text.find(from);
  BOOST_TEST_REQUIRE(at != std::string::npos, "no '" << from << "' in p_ib.yaml");
  return text.replace(at, from.size(), to);
}

// What is said about a platform, without file, line and column; empty when it loads.
std::string ErrorOf(const std::string& text) {
  const std::string path = WriteScratch("p.yaml", text);
  try {
    LoadPlatformFile(path);
  } catch (const ConfigError& error) {
    const std::string line = std::string(error.what()).substr(path.size());
    return line.substr(line.find(": ") + 2);
  }
  return "";
}

constexpr char kTimeForm[] =
    "give {value: 369 ns, provenance: ..., source: ...} or {cycles: 120, time: 40 ns, ...}";

BOOST_AUTO_TEST_CASE(ANumberMayHaveAPartInCyclesAndAPartInTime) {
  const std::string path = WriteScratch(
      "p.yaml", Changed("warp_sync: {cycles: 1,", "warp_sync: {cycles: 20, time: 5 ns,"));
  const sim::Platform platform = LoadPlatformFile(path);
  BOOST_TEST(platform.name == "p");
  BOOST_TEST(platform.warp_sync.cycles == 20.0);
  BOOST_TEST(platform.warp_sync.ns == 5.0);
  BOOST_TEST(platform.link_rate.value == 200.0);
  BOOST_TEST(platform.mtu.value == 4096.0);
  BOOST_TEST(platform.header_bytes.value == 42.0);
  BOOST_TEST((platform.link_rate.provenance == sim::Provenance::kPaper));
}

BOOST_AUTO_TEST_CASE(ACacheMayBeFinite) {
  const std::string path =
      WriteScratch("p.yaml", Changed("responder_context: {model: infinite}",
                                     "responder_context: {model: lru, entries_count: 1024}"));
  const sim::Platform platform = LoadPlatformFile(path);
  BOOST_TEST(platform.requester_context.model == "infinite");
  BOOST_TEST(platform.responder_context.model == "lru");
  BOOST_TEST(platform.responder_context.entries_count == 1024u);
}

BOOST_AUTO_TEST_CASE(EveryParameterIsRequired) {
  BOOST_TEST(ErrorOf(Changed("  spin: {", "  # spin: {")) ==
             std::string("gpu.spin: is not in this file; ") + kTimeForm);
}

BOOST_AUTO_TEST_CASE(AnUnknownParameterIsAnsweredWithTheNearestOne) {
  BOOST_TEST(ErrorOf(Changed("  spin: {", "  sping: {")) ==
             "gpu.sping: there is no such parameter; did you mean gpu.spin?");
  BOOST_TEST(ErrorOf(Changed("\nnic:", "\nnick:")) ==
             "nick: there is no such key; did you mean nic?");
}

BOOST_AUTO_TEST_CASE(ANumberSaysWhereItComesFrom) {
  BOOST_TEST(
      ErrorOf(Changed("rate: {value: 200 Gb/s, provenance: paper,", "rate: {value: 200 Gb/s,")) ==
      "link.rate: has no provenance; "
      "give {value: 200 Gb/s, provenance: ..., source: ...}");
  BOOST_TEST(ErrorOf(Changed("rate: {value: 200 Gb/s, provenance: paper",
                             "rate: {value: 200 Gb/s, provenance: guessed")) ==
             "link.rate.provenance: 'guessed' is not known; "
             "use paper, datasheet, measured, fitted or assumed");
}

BOOST_AUTO_TEST_CASE(ANumberWithoutUnitIsRefused) {
  BOOST_TEST(ErrorOf(Changed("hop_latency: {value: 130 ns", "hop_latency: {value: 270")) ==
             "link.hop_latency.value: '270' has no unit; "
             "give a time in ns, us or ms, such as 50 us");
}

BOOST_AUTO_TEST_CASE(ALruCacheNeedsItsSize) {
  BOOST_TEST(
      ErrorOf(Changed("requester_context: {model: infinite}", "requester_context: {model: lru}")) ==
      "caches.requester_context: only lru has entries_count, and needs it; "
      "give {model: infinite} or {model: lru, entries_count: 1024}");
}

BOOST_AUTO_TEST_CASE(AZeroLinkRateIsRefused) {
  BOOST_TEST(ErrorOf(Changed("value: 200 Gb/s", "value: 0 Gb/s")) ==
             "link.rate.value: is zero; give {value: 200 Gb/s, provenance: ..., source: ...}");
}

}  // namespace
}  // namespace ringpost::config

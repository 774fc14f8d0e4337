#include "sim/cost/platform.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <set>
#include <string>

#include "configs/schema/config_error.h"
#include "configs/schema/platform_loader.h"
#include "configs/schema/root.h"
#include "configs/schema/yaml_file.h"
#include "tests/configs/platform_text.h"
#include "tests/configs/scratch.h"

namespace ringpost::config {
namespace {

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

BOOST_AUTO_TEST_CASE(ANumberThatIsTooLargeForVirtualTimeIsToldTheLargest) {
  BOOST_TEST(ErrorOf(Changed("warp_sync: {cycles: 1,", "warp_sync: {cycles: 1000000000,")) == "");
  for (const std::string cycles : {"1e18", "9300000000000000000", "1000000001"}) {
    BOOST_TEST(ErrorOf(Changed("warp_sync: {cycles: 1,", "warp_sync: {cycles: " + cycles + ",")) ==
               "gpu.warp_sync.cycles: " + cycles + " cycles are too many; give 0 to 1000000000");
  }
  BOOST_TEST(ErrorOf(Changed("hop_latency: {value: 130 ns", "hop_latency: {value: 1001 ms")) ==
             "link.hop_latency.value: 1001 ms is too large; give 0 ns to 1000 ms");
  BOOST_TEST(ErrorOf(Changed("hop_latency: {value: 130 ns",
                             "hop_latency: {cycles: 1, time: 99999999999999999999 ms")) ==
             "link.hop_latency.time: 99999999999999999999 ms is too large; give 0 ns to 1000 ms");
  BOOST_TEST(ErrorOf(Changed("sm_clock: {value: 1970 MHz", "sm_clock: {value: 0.01 MHz")) ==
             "gpu.sm_clock.value: 0.01 MHz is too small; give 100 MHz to 10000 MHz");
}

BOOST_AUTO_TEST_CASE(ACountIsToldTheLimitsOfItsOwnKey) {
  const auto sms = [](const std::string& count) {
    return ErrorOf(Changed("sms_count: {value: 132", "sms_count: {value: " + count));
  };
  BOOST_TEST(sms("0") == "gpu.sms_count.value: is zero; give 1 to 4096");
  BOOST_TEST(sms("4097") == "gpu.sms_count.value: 4097 is too large; give 1 to 4096");
  BOOST_TEST(sms("4294967297") == "gpu.sms_count.value: 4294967297 is too large; give 1 to 4096");
  BOOST_TEST(sms("1.5") ==
             "gpu.sms_count.value: '1.5' is not a whole number; "
             "give {value: N, provenance: ..., source: ...}, N 1 to 4096");
}

std::string Shared(const std::string& key, const std::string& value) {
  return "shared_engine: {" + key + ": {value: " + value +
         ", provenance: assumed, source: a test}}\n";
}

BOOST_AUTO_TEST_CASE(ABaseMayHaveABaseAndIsNeverItself) {
  BOOST_TEST(OverH100("") == "");
  const sim::Platform platform = LoadPlatformFile(WriteScratch(
      "p.yaml", "base: p_gb200\ngpu: {spin: {cycles: 7, provenance: assumed, source: a test}}\n"));
  const sim::Platform gb200 = LoadPlatform("p_gb200");
  BOOST_TEST(platform.spin.cycles == 7.0);
  BOOST_TEST(platform.link_rate.value == gb200.link_rate.value);
  BOOST_TEST(platform.wqe_build.cycles == gb200.wqe_build.cycles);
  const std::string one = WriteScratch("one.yaml", "");
  const std::string two = WriteScratch("two.yaml", "base: " + one + "\n");
  WriteScratch("one.yaml", "base: " + two + "\n");
  BOOST_CHECK_EXCEPTION(LoadPlatformFile(one), ConfigError, [](const ConfigError& error) {
    return std::string(error.what())
        .ends_with("one.yaml would be a base of itself; name another platform");
  });
}

BOOST_AUTO_TEST_CASE(WhatRolesCannotShareIsToldAtTheKeyThatSaysIt) {
  const auto place_of = [](const std::string& text) {
    const std::string path = WriteScratch("p.yaml", "base: p_h100\n" + text);
    try {
      LoadPlatformFile(path);
    } catch (const ConfigError& error) {
      const std::string line = std::string(error.what()).substr(path.size());
      return line.substr(0, line.find("; "));
    }
    return std::string();
  };
  BOOST_TEST(place_of(Shared("responder_lines", "250")) ==
             ":2:34: shared_engine.responder_lines: "
             "makes 268 lines in all with those of the other roles");
  BOOST_TEST(place_of("link_layer: roce\n" + Shared("host_queue_lines", "247")) ==
             ":3:35: shared_engine.host_queue_lines: "
             "makes 257 lines in all with those of the other roles");
  BOOST_TEST(place_of("caches:\n  responder_context: {model: lru, entries_count: 8}\n") ==
             ":3:22: caches.responder_context: "
             "stands beside caches.context, which both roles share");
  BOOST_TEST(place_of(Shared("receive_buffer", "1 B")) ==
             ":2:33: shared_engine.receive_buffer: 1 B has no room for one packet");
  BOOST_TEST(OverH100(Shared("receive_buffer", "4138 B")) == "");
  BOOST_TEST(OverH100(Shared("contexts_ahead", "0")) ==
             "shared_engine.contexts_ahead.value: is zero; give 1 to 1048576");
}

BOOST_AUTO_TEST_CASE(AParameterThatIsNotThereIsMissedInItsBlock) {
  const std::string path = WriteScratch("p.yaml", Changed("  spin: {", "  # spin: {"));
  try {
    LoadPlatformFile(path);
    BOOST_TEST(false);
  } catch (const ConfigError& error) {
    const std::string text = ReadText(path);
    const auto line = 1 + std::count(text.begin(), text.begin() + text.find("\ngpu:") + 1, '\n');
    BOOST_TEST(std::string(error.what()).starts_with(path + ":" + std::to_string(line) + ":1: "));
  }
}

BOOST_AUTO_TEST_CASE(AZeroLinkRateIsRefused) {
  BOOST_TEST(ErrorOf(Changed("value: 200 Gb/s", "value: 0 Gb/s")) ==
             "link.rate.value: is zero; give 0.001 Gb/s to 1000000 Gb/s");
}

}  // namespace
}  // namespace ringpost::config

// The settings that `ringpost exec` hands to the preloaded library.
#include "sim/uverbs/settings.h"

#include <boost/test/unit_test.hpp>

namespace ringpost::sim::uverbs {
namespace {

Settings Overlaid() {
  Settings settings = DefaultSettings(2);
  settings.observing = {.counters = true, .steps = 4096, .packets = true};
  settings.seed = 77;
  settings.pace.emplace();
  service::PaceSpec& pace = *settings.pace;
  int64_t next = 1000;
  service::ForEachPaceCost(pace.costs, [&](const char*, auto& number) {
    number = static_cast<std::remove_reference_t<decltype(number)>>(++next);
  });
  pace.costs.link.ps_per_byte = 16.25;
  pace.payload_on_gpu = false;
  pace.doorbell_delivered = true;
  FaultRule loss;
  loss.where = FaultWhere::kWire;
  loss.kind = FaultKind::kDrop;
  loss.probability = 0.0125;
  FaultRule error;
  error.where = FaultWhere::kRequester;
  error.kind = FaultKind::kError;
  error.node = 1;
  error.qp = 2;
  error.wqe = 70'000'000'000;
  error.count = 3;
  error.amount = Duration::Ns(2e9);
  error.syndrome = abi::Syndrome::kRemoteAccess;
  settings.faults = {loss, error};
  return settings;
}

BOOST_AUTO_TEST_SUITE(SettingsTest)

BOOST_AUTO_TEST_CASE(WhatIsWrittenIsReadAgain) {
  const std::string text = ToText(Overlaid());
  const Result<Settings> read = ParseSettings(text);
  BOOST_REQUIRE_MESSAGE(read.Ok(), text);
  BOOST_TEST(ToText(read.Value()) == text);
  const Settings& settings = read.Value();
  BOOST_TEST(settings.seed == 77u);
  BOOST_TEST(settings.observing.steps == 4096u);
  BOOST_REQUIRE(settings.pace.has_value());
  BOOST_TEST(settings.pace->costs.link.ps_per_byte == 16.25);
  BOOST_TEST(settings.pace->costs.path.doorbell_delivery.ps == 1001);
  BOOST_TEST(settings.pace->queues_on_gpu);
  BOOST_TEST(!settings.pace->payload_on_gpu);
  BOOST_REQUIRE(settings.faults.size() == 2u);
  BOOST_TEST(settings.faults[0].probability == 0.0125);
  BOOST_TEST(!settings.faults[0].qp.has_value());
  BOOST_TEST(settings.faults[1].wqe.value() == 70'000'000'000u);
  BOOST_TEST((settings.faults[1].syndrome == abi::Syndrome::kRemoteAccess));
}

BOOST_AUTO_TEST_CASE(ALineThatIsNoSettingIsNamed) {
  for (const char* line : {"pace speed 1", "pace latency_ps fast", "fault 2 2 - -",
                           "fault 9 2 - - - 0 1 - 0", "observe 1 1000 0", "seed x"}) {
    const Result<Settings> read = ParseSettings(ToText(DefaultSettings(1)) + line);
    BOOST_REQUIRE_MESSAGE(!read.Ok(), line);
    BOOST_TEST(read.Message().find(line) != std::string::npos);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace ringpost::sim::uverbs

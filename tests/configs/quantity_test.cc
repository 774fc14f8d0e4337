#include "configs/schema/quantity.h"

#include <boost/test/unit_test.hpp>
#include <string>

#include "configs/schema/config_error.h"

namespace ringpost::config {
namespace {

std::string WrongOf(const std::string& text, QuantityKind kind) {
  try {
    ParseQuantity(text, kind);
  } catch (const ValueError& error) {
    return error.wrong;
  }
  return "";
}

BOOST_AUTO_TEST_CASE(EveryUnitIsReadInItsBaseUnit) {
  BOOST_TEST(ParseQuantity("369 ns", QuantityKind::kTime) == 369.0);
  BOOST_TEST(ParseQuantity("0.5 us", QuantityKind::kTime) == 500.0);
  BOOST_TEST(ParseQuantity("2 ms", QuantityKind::kTime) == 2e6);
  BOOST_TEST(ParseQuantity("120 cycles", QuantityKind::kCycles) == 120.0);
  BOOST_TEST(ParseQuantity("28 B", QuantityKind::kBytes) == 28.0);
  BOOST_TEST(ParseQuantity("16 KiB", QuantityKind::kBytes) == 16384.0);
  BOOST_TEST(ParseQuantity("1 MiB", QuantityKind::kBytes) == 1048576.0);
  BOOST_TEST(ParseQuantity("200 Gb/s", QuantityKind::kBandwidth) == 200.0);
  BOOST_TEST(ParseQuantity("25 GB/s", QuantityKind::kBandwidth) == 200.0);
  BOOST_TEST(ParseQuantity("20 M/s", QuantityKind::kRate) == 20.0);
  BOOST_TEST(ParseQuantity("1970 MHz", QuantityKind::kFrequency) == 1970.0);
  BOOST_TEST(ParseQuantity("10 %", QuantityKind::kPercent) == 10.0);
}

BOOST_AUTO_TEST_CASE(TheBlankBeforeTheUnitMayBeLeftOut) {
  BOOST_TEST(ParseQuantity("8B", QuantityKind::kBytes) == 8.0);
  BOOST_TEST(ParseQuantity("  8   B ", QuantityKind::kBytes) == 8.0);
}

BOOST_AUTO_TEST_CASE(ABareNumberHasNoUnit) {
  BOOST_TEST(WrongOf("8", QuantityKind::kBytes) == "'8' has no unit");
}

BOOST_AUTO_TEST_CASE(AnotherKindsUnitIsRefused) {
  BOOST_TEST(WrongOf("8 us", QuantityKind::kBytes) == "'us' is not a unit of a size");
  BOOST_TEST(WrongOf("8 kb", QuantityKind::kBytes) == "'kb' is not a unit of a size");
}

BOOST_AUTO_TEST_CASE(WhatIsNoDecimalNumberIsRefused) {
  for (const char* text : {"", "B", "-1 B", "inf B", "nan B", "1.2.3 B", ". B", "1e3 B", "0x8 B"}) {
    BOOST_TEST(WrongOf(text, QuantityKind::kBytes) != "", "accepted " << text);
  }
}

BOOST_AUTO_TEST_CASE(EqualValuesHaveOneText) {
  BOOST_TEST(FormatQuantity(2048, QuantityKind::kBytes) == "2 KiB");
  BOOST_TEST(FormatQuantity(2049, QuantityKind::kBytes) == "2049 B");
  BOOST_TEST(FormatQuantity(0, QuantityKind::kBytes) == "0 B");
  BOOST_TEST(FormatQuantity(50000, QuantityKind::kTime) == "50 us");
  BOOST_TEST(FormatQuantity(0.25, QuantityKind::kTime) == "0.25 ns");
  BOOST_TEST(FormatQuantity(200, QuantityKind::kBandwidth) == "200 Gb/s");
}

}  // namespace
}  // namespace ringpost::config

// quantity.h: numbers with a unit, as they are written in YAML: `<number> <unit>`.
//
// A number is decimal and not negative. Each kind of quantity has one base unit, in which
// ParseQuantity answers: ns, cycles, B, Gb/s, M/s, MHz, %.
//
//   ParseQuantity("2 KiB", QuantityKind::kBytes)  -> 2048
//   FormatQuantity(2048, QuantityKind::kBytes)    -> "2 KiB"
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ringpost::config {

enum class QuantityKind : uint8_t {
  kTime,
  kCycles,
  kBytes,
  kBandwidth,
  kRate,
  kFrequency,
  kPercent,
};

// Throws ValueError for anything but a number and a unit of this kind.
double ParseQuantity(std::string_view text, QuantityKind kind);

// The shortest exact text, in the largest unit that leaves the number whole, or else in the base
// unit. The same in every locale.
std::string FormatQuantity(double value, QuantityKind kind);

// "B, KiB, MiB or GiB": the units of a kind, for messages and tables.
std::string UnitsOf(QuantityKind kind);

// "8 B": a value to copy.
std::string ExampleOf(QuantityKind kind);

// A bare decimal number, the whole of `text`. False when it is anything else.
bool ParseNumber(std::string_view text, double& number);
bool ParseWholeNumber(std::string_view text, uint64_t& number);

}  // namespace ringpost::config

// key_rows.h: what the rows of the table of keys are made with; schema.cc and workload_keys.cc put
// them together.
#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "configs/schema/schema.h"

namespace ringpost::config {

inline void Assign(uint64_t& field, const Value& value) { field = value.count; }
inline void Assign(double& field, const Value& value) { field = value.number; }
inline void Assign(bool& field, const Value& value) { field = value.flag; }
inline void Assign(std::string& field, const Value& value) { field = value.text; }
inline void Assign(sim::Duration& field, const Value& value) {
  field = sim::Duration::Ns(value.number);
}
inline void Assign(std::vector<FaultRule>& field, const Value& value) { field = value.rules; }
inline void Assign(std::vector<std::string>& field, const Value& value) { field = value.names; }
inline void Assign(std::optional<uint64_t>& field, const Value& value) {
  field = value.word >= 0 ? std::nullopt : std::optional<uint64_t>(value.count);
}
template <class Enum>
requires std::is_enum_v<Enum>
void Assign(Enum& field, const Value& value) { field = static_cast<Enum>(value.word); }

// Fills target.*member, or target.*block.*member.
template <auto member>
inline constexpr auto kStore =
    [](auto& target, const Value& value) { Assign(target.*member, value); };
template <auto block, auto member>
inline constexpr auto kStoreIn =
    [](Config& config, const Value& value) { Assign(config.*block.*member, value); };
template <auto member>
inline constexpr auto kStoreLimit =
    [](Config& config, const Value& value) { Assign(config.nic.limits.*member, value); };
template <auto member>
inline constexpr auto kStoreMoe =
    [](Config& config, const Value& value) { Assign(config.workload.moe.*member, value); };

inline constexpr double kMany = 1e19;            // no bound that anyone reaches; fits in 64 bits
inline constexpr double kMostOperations = 1e12;  // weeks, and the sum of two counts fits too
inline constexpr double kKibibyte = 1024;
inline constexpr double kGibibyte = 1024 * 1024 * 1024;

using Rows = std::vector<Key<Config>>;

inline KeyInfo Word(std::string path, std::string fallback, std::vector<std::string> words,
                    std::string meaning, std::vector<std::string> absent_words = {}) {
  return {std::move(path),
          Type::kWord,
          std::move(fallback),
          std::move(words),
          std::move(absent_words),
          0,
          0,
          false,
          std::move(meaning)};
}

struct Range {
  double minimum;
  double maximum;
};

inline KeyInfo Number(std::string path, Type type, std::string fallback, Range range,
                      std::string meaning) {
  return {std::move(path), type,  std::move(fallback), {}, {}, range.minimum,
          range.maximum,   false, std::move(meaning)};
}

inline KeyInfo Plain(std::string path, Type type, std::string fallback, std::string meaning) {
  return Number(std::move(path), type, std::move(fallback), {0, 0}, std::move(meaning));
}

}  // namespace ringpost::config

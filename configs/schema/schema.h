// schema.h: the table of keys of a configuration file.
//
// One row a key: path, type, default, range, meaning. The loader, `ringpost config` and
// configs/README.md (readme.h) all read this table; a key exists when it has a row here and
// nowhere else. A row also knows the field of Config that it fills.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "configs/schema/config.h"

namespace ringpost::config {

enum class Type : uint8_t {
  kWord,       // one of `words`
  kText,       // any text
  kSwitch,     // true or false
  kCount,      // a bare whole number from `minimum` to `maximum`
  kTime,       // quantities, with a unit
  kBytes,      // from `minimum` to `maximum` bytes
  kFrequency,  // MHz
  kPercent,    // %
  kRules,      // a list of fault rules (RuleKeys)
  kNames,      // a list of words
};

// A parsed value. `text` is canonical: equal values have equal texts.
struct Value {
  std::string text;
  int word = -1;       // index in `words` when one of them was given
  bool flag = false;   // kSwitch
  uint64_t count = 0;  // kCount, kBytes
  double number = 0;   // kTime: ns; kFrequency: MHz; kPercent: %
  std::vector<FaultRule> rules;
  std::vector<std::string> names;
};

struct KeyInfo {
  std::string path;  // "transport.ordering"; "at.qp" within a fault rule
  Type type;
  std::string fallback;                        // default, as one would write it
  std::vector<std::string> words = {};         // of kWord; others take these beside their numbers
  std::vector<std::string> absent_words = {};  // of the design, but not built into this version
  double minimum = 0;
  double maximum = 0;
  bool power_of_two = false;
  std::string meaning;
};

// A key and the field that it fills.
template <class Target>
struct Key {
  KeyInfo info;
  void (*store)(Target& target, const Value& value);
};

const std::vector<Key<Config>>& Keys();
const std::vector<Key<FaultRule>>& RuleKeys();  // of each item of faults.rules

// Whether its value is a list, which ParseValue() does not take.
constexpr bool IsList(Type type) { return type == Type::kRules || type == Type::kNames; }

// One scalar of a key; throws ValueError.
Value ParseValue(const KeyInfo& key, std::string_view text);

// What would be right for this key: "give a power of two from 8 to 32768".
std::string Expectation(const KeyInfo& key);

// For tables: "power of two, 8 to 32768" and "count" or "B, KiB, MiB or GiB".
std::string RangeText(const KeyInfo& key);
std::string UnitText(const KeyInfo& key);

// "a, b or c".
std::string Join(const std::vector<std::string>& words);

}  // namespace ringpost::config

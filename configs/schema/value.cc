// Parsing one scalar of a key, and what the key would take instead.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "configs/schema/config_error.h"
#include "configs/schema/quantity.h"
#include "configs/schema/schema.h"

namespace ringpost::config {
namespace {

// A larger upper bound says nothing to a reader.
constexpr double kNobodyReaches = 1e15;

QuantityKind KindOf(Type type) {
  if (type == Type::kTime) return QuantityKind::kTime;
  if (type == Type::kPercent) return QuantityKind::kPercent;
  return type == Type::kBytes ? QuantityKind::kBytes : QuantityKind::kFrequency;
}

bool IsQuantity(Type type) {
  return type == Type::kTime || type == Type::kBytes || type == Type::kFrequency ||
         type == Type::kPercent;
}

std::string NumberText(const KeyInfo& key, double number) {
  if (IsQuantity(key.type)) return FormatQuantity(number, KindOf(key.type));
  return fmt::format("{}", static_cast<uint64_t>(number));
}

int IndexOf(const std::vector<std::string>& words, std::string_view word) {
  const auto found = std::find(words.begin(), words.end(), word);
  return found == words.end() ? -1 : static_cast<int>(found - words.begin());
}

std::string LastPart(const std::string& path) { return path.substr(path.rfind('.') + 1); }

void CheckRange(const KeyInfo& key, double number, std::string_view text) {
  if (number < key.minimum) {
    throw ValueError{fmt::format("{} is too small", text), Expectation(key)};
  }
  if (number > key.maximum) {
    const bool named = key.maximum < kNobodyReaches;
    throw ValueError{fmt::format("{} is too large", text),
                     named ? Expectation(key) : "give at most " + NumberText(key, key.maximum)};
  }
}

Value ParseCount(const KeyInfo& key, std::string_view text) {
  Value value;
  const bool digits = !text.empty() && text.find_first_not_of("0123456789") == text.npos;
  if (!ParseWholeNumber(text, value.count)) {
    // More than fits in 64 bits is still a number.
    if (digits) CheckRange(key, std::numeric_limits<double>::infinity(), text);
    throw ValueError{fmt::format("'{}' is not a whole number", text), Expectation(key)};
  }
  CheckRange(key, static_cast<double>(value.count), text);
  if (key.power_of_two && !std::has_single_bit(value.count)) {
    throw ValueError{fmt::format("{} is not a power of two", text), Expectation(key)};
  }
  value.text = fmt::format("{}", value.count);
  return value;
}

Value ParseQuantityOf(const KeyInfo& key, std::string_view text) {
  Value value;
  value.number = ParseQuantity(text, KindOf(key.type));
  CheckRange(key, value.number, text);
  if (key.type == Type::kBytes) {
    if (value.number != std::floor(value.number)) {
      throw ValueError{fmt::format("{} is not a whole number of bytes", text), Expectation(key)};
    }
    value.count = static_cast<uint64_t>(value.number);
  }
  value.text = FormatQuantity(value.number, KindOf(key.type));
  return value;
}

}  // namespace

std::string Join(const std::vector<std::string>& words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

std::string RangeText(const KeyInfo& key) {
  if (key.type == Type::kWord) return Join(key.words);
  if (key.type == Type::kSwitch) return "true or false";
  if (key.type == Type::kText || IsList(key.type)) return "";
  std::string text = NumberText(key, key.minimum);
  if (key.maximum >= kNobodyReaches) {
    text = "at least " + text;
  } else if (key.maximum > key.minimum) {
    text += " to " + NumberText(key, key.maximum);
  }
  if (key.power_of_two) text = "power of two, " + text;
  for (const std::string& word : key.words) text += " or " + word;
  return text;
}

std::string UnitText(const KeyInfo& key) {
  if (IsQuantity(key.type)) return UnitsOf(KindOf(key.type));
  switch (key.type) {
    case Type::kCount:
      return "count";
    case Type::kRules:
    case Type::kNames:
      return "list";
    case Type::kText:
      return "text";
    default:
      return "word";
  }
}

std::string Expectation(const KeyInfo& key) {
  switch (key.type) {
    case Type::kWord:
      return "use " + Join(key.words);
    case Type::kSwitch:
      return "use true or false";
    case Type::kText:
      return "give a text";
    case Type::kRules:
      return "give a list such as [{where: responder, kind: delay, amount: 50 us}]";
    case Type::kNames:
      return "give a list such as [mlx5_0, mlx5_1:1]";
    case Type::kCount:
      if (key.power_of_two) {
        return fmt::format("give a power of two from {} to {}", key.minimum, key.maximum);
      }
      return "give a whole number, " + RangeText(key);
    default:
      return "give " + RangeText(key);
  }
}

Value ParseValue(const KeyInfo& key, std::string_view text) {
  Value value;
  value.word = IndexOf(key.words, text);
  value.text = std::string(text);
  if (value.word >= 0) return value;
  switch (key.type) {
    case Type::kWord:
      if (IndexOf(key.absent_words, text) >= 0) {
        throw ValueError{
            fmt::format("{} {} is not built into this version", LastPart(key.path), text),
            "use " + Join(key.words)};
      }
      throw ValueError{fmt::format("'{}' is not known", text), Expectation(key)};
    case Type::kSwitch:
      if (text != "true" && text != "false") {
        throw ValueError{fmt::format("'{}' is neither true nor false", text), Expectation(key)};
      }
      value.flag = text == "true";
      return value;
    case Type::kCount:
      return ParseCount(key, text);
    case Type::kText:
      if (text.empty()) throw ValueError{"is empty", Expectation(key)};
      return value;
    case Type::kRules:
    case Type::kNames:
      throw ValueError{fmt::format("'{}' is not a list", text), Expectation(key)};
    default:
      return ParseQuantityOf(key, text);
  }
}

}  // namespace ringpost::config

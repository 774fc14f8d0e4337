// result.h: a value, or one clear line that says why there is none. Host code only.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace ringpost {

struct Error {
  std::string message;
};

// A value, or why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}      // NOLINT: implicit on purpose
  Result(Error error) : value_(std::move(error)) {}  // NOLINT: implicit on purpose
  bool Ok() const { return std::holds_alternative<T>(value_); }
  const T& Value() const { return std::get<T>(value_); }
  T& Value() { return std::get<T>(value_); }
  const std::string& Message() const { return std::get<Error>(value_).message; }

 private:
  std::variant<T, Error> value_;
};

}  // namespace ringpost

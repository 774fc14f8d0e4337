// config_error.h: what is wrong with an input, in one line.
//
// ValueError is a complaint about one value, without its place: the parsers of single values throw
// it. Whoever knows the place turns it into a ConfigError, whose what() is exactly
//
//   file:line:column: key: what is wrong; what would be right
#pragma once

#include <stdexcept>
#include <string>

namespace ringpost::config {

struct ValueError {
  std::string wrong;
  std::string right;
};

// Lines and columns count from 1. For a value that is not in a file, `file` is RINGPOST_SET or
// --set, and for the latter `line` says which one.
struct Position {
  std::string file;
  int line = 1;
  int column = 1;
};

std::string ToString(const Position& position);

class ConfigError : public std::runtime_error {
 public:
  ConfigError(const Position& position, const std::string& key, const ValueError& error)
      : std::runtime_error(ToString(position) + ": " + key + ": " + error.wrong + "; " +
                           error.right) {}
};

}  // namespace ringpost::config

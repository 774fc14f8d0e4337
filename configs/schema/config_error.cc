#include "configs/schema/config_error.h"

#include <fmt/format.h>

namespace ringpost::config {

std::string ToString(const Position& position) {
  return fmt::format("{}:{}:{}", position.file, position.line, position.column);
}

}  // namespace ringpost::config

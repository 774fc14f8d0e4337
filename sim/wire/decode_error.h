// decode_error.h: why some bytes are no packet: one field, where it is, and what is wrong with it.
#pragma once

#include <cstddef>
#include <string>

namespace ringpost::sim::wire {

struct DecodeError {
  const char* field = "";    // "BTH.opcode"
  size_t offset = 0;         // of the field's first byte
  const char* problem = "";  // "no such opcode"

  // "BTH.opcode at byte 42: no such opcode"
  std::string Text() const {
    return std::string(field) + " at byte " + std::to_string(offset) + ": " + problem;
  }
};

}  // namespace ringpost::sim::wire

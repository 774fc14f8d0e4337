#include "tools/ringpost/error_line.h"

#include <fmt/format.h>

#include <iostream>

namespace ringpost::tools {
namespace {

constexpr unsigned char kDelete = 0x7f;
constexpr unsigned char kC1Lead = 0xc2, kC1First = 0x80, kC1Last = 0x9f;

std::string EscapedByte(unsigned char byte) {
  if (byte == '\n') return "\\n";
  if (byte == '\t') return "\\t";
  if (byte == '\r') return "\\r";
  return fmt::format("\\x{:02x}", byte);
}

}  // namespace

std::string Escaped(std::string_view text) {
  std::string line;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : '\0');
    if (byte < ' ' || byte == kDelete) {
      line += EscapedByte(byte);
    } else if (byte == kC1Lead && next >= kC1First && next <= kC1Last) {
      line += EscapedByte(byte) + EscapedByte(next);
      ++i;
    } else {
      line += text[i];
    }
  }
  return line;
}

void PrintError(std::string_view line) { std::cerr << Escaped(line) + "\n"; }

}  // namespace ringpost::tools

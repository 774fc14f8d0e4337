#include "transport/bootstrap/message.h"

#include <span>

namespace ringpost::bootstrap {
namespace {

// The highest byte first.
void Put(std::string& text, int bytes, uint64_t value) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
    text.push_back(static_cast<char>(value >> shift));
  }
}

uint32_t Get(std::span<const uint8_t> bytes) {
  uint32_t value = 0;
  for (const uint8_t byte : bytes) value = value << 8 | byte;
  return value;
}

}  // namespace

std::string Encode(const Message& message) {
  std::string text;
  text.reserve(kHeaderBytes + message.body.size());
  Put(text, 4, kMagic);
  Put(text, 2, message.version);
  Put(text, 2, static_cast<uint8_t>(message.kind));
  Put(text, 4, message.rank);
  Put(text, 4, message.number);
  Put(text, 4, message.body.size());
  return text + message.body;
}

std::optional<DecodedHeader> DecodeHeader(const Header& header) {
  const std::span bytes(header);
  const uint32_t kind = Get(bytes.subspan(6, 2));
  if (Get(bytes.subspan(0, 4)) != kMagic) return std::nullopt;
  if (kind > static_cast<uint8_t>(MessageKind::kLeave)) return std::nullopt;
  DecodedHeader decoded;
  decoded.message.version = static_cast<uint16_t>(Get(bytes.subspan(4, 2)));
  decoded.message.kind = static_cast<MessageKind>(kind);
  decoded.message.rank = Get(bytes.subspan(8, 4));
  decoded.message.number = Get(bytes.subspan(12, 4));
  decoded.body_bytes = Get(bytes.subspan(16, 4));
  return decoded;
}

std::string PackStrings(const std::vector<std::string>& strings) {
  std::string body;
  for (const std::string& string : strings) {
    Put(body, 4, string.size());
    body += string;
  }
  return body;
}

std::optional<std::vector<std::string>> UnpackStrings(const std::string& body) {
  std::vector<std::string> strings;
  for (size_t offset = 0; offset < body.size();) {
    if (body.size() - offset < 4) return std::nullopt;
    const auto* bytes = reinterpret_cast<const uint8_t*>(body.data()) + offset;
    const size_t length = Get({bytes, 4});
    offset += 4;
    if (body.size() - offset < length) return std::nullopt;
    strings.push_back(body.substr(offset, length));
    offset += length;
  }
  return strings;
}

}  // namespace ringpost::bootstrap

// message.h: what ranks say to each other while they start: a header of 20 bytes and a body.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ringpost::bootstrap {

inline constexpr uint32_t kMagic = 0x52504253;  // "RPBS"
inline constexpr uint16_t kVersion = 1;

enum class MessageKind : uint8_t {
  kHello,    // to rank 0: `number` is how many ranks there are, the body names the NIC
  kWelcome,  // from rank 0, once all are there: the body lists the NICs
  kReject,   // from rank 0 to one that cannot join: why
  kExchange,
  kBarrier,  // to rank 0: this rank's part; from rank 0: everybody's. `number` is the step's
  kAbort,    // why
  kLeave,    // what follows is a closed connection that is no failure
};

struct Message {
  MessageKind kind{};
  uint32_t rank = 0;  // who sends it
  uint32_t number = 0;
  std::string body;
  uint16_t version = kVersion;
};

inline constexpr size_t kHeaderBytes = 20;
using Header = std::array<uint8_t, kHeaderBytes>;

// The header and the body. The body has less than 4 GiB.
std::string Encode(const Message& message);

struct DecodedHeader {
  Message message;  // without its body
  uint32_t body_bytes = 0;
};
// Nothing: whoever sent this is no rank.
std::optional<DecodedHeader> DecodeHeader(const Header& header);

// A list of strings as the body of a message, and back. Nothing: it is none.
std::string PackStrings(const std::vector<std::string>& strings);
std::optional<std::vector<std::string>> UnpackStrings(const std::string& body);

}  // namespace ringpost::bootstrap

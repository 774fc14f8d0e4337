// Any bytes, taken for a frame of each link and for a packet without a carrier.
//
// What is decoded must be encoded as the same bytes, but for the reserved ones. A fuzzer does not
// guess checksums, so that each input is tried a second time with the right ones.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/engine/check.h"
#include "sim/wire/byte_order.h"
#include "sim/wire/checksum.h"
#include "sim/wire/codec.h"
#include "sim/wire/transport_headers.h"
#include "sim/wire/wire_sizes.h"

namespace ringpost::sim::wire {
namespace {

using Bytes = std::vector<uint8_t>;

void PutLowFirst(Bytes& bytes, size_t offset, size_t count, uint32_t value) {
  for (size_t i = 0; i < count; ++i) bytes[offset + i] = static_cast<uint8_t>(value >> (8 * i));
}

void SealRoce(Bytes& bytes) {
  if (bytes.size() <= kEthernetBytes) return;
  const bool is_ipv4 = bytes[kEthernetBytes] >> 4 == 4;
  const size_t udp = kEthernetBytes + (is_ipv4 ? kIpv4Bytes : kIpv6Bytes);
  if (bytes.size() < udp + kUdpBytes + kBthBytes + kIcrcBytes) return;
  if (is_ipv4) {
    bytes[kEthernetBytes + 10] = bytes[kEthernetBytes + 11] = 0;
    const uint32_t sum = ~OnesSum(std::span(bytes).subspan(kEthernetBytes, kIpv4Bytes));
    bytes[kEthernetBytes + 10] = static_cast<uint8_t>(sum >> 8);
    bytes[kEthernetBytes + 11] = static_cast<uint8_t>(sum);
  }
  bytes[udp + 6] = bytes[udp + 7] = 0;
  const size_t icrc = bytes.size() - kIcrcBytes;
  const auto covered = std::span(bytes).first(icrc).subspan(kEthernetBytes);
  PutLowFirst(bytes, icrc, kIcrcBytes, RoceIcrc(covered));
}

void SealInfiniband(Bytes& bytes) {
  if (bytes.size() < kLrhBytes) return;
  const size_t bth = kLrhBytes + ((bytes[1] & 3) == kLnhGlobal ? kGrhBytes : 0);
  if (bytes.size() < bth + kBthBytes + kIcrcBytes + kVcrcBytes) return;
  const size_t vcrc = bytes.size() - kVcrcBytes;
  const size_t icrc = vcrc - kIcrcBytes;
  PutLowFirst(bytes, icrc, kIcrcBytes, InfinibandIcrc(std::span(bytes).first(icrc)));
  PutLowFirst(bytes, vcrc, kVcrcBytes, Vcrc(std::span(bytes).first(vcrc)));
}

void TryFrame(Link link, std::span<const uint8_t> bytes) {
  const Decoded decoded = Decode(link, bytes);
  const auto* frame = std::get_if<Frame>(&decoded);
  if (frame == nullptr) {
    RINGPOST_CHECK(!std::get<DecodeError>(decoded).Text().empty(), "an error without a text");
    return;
  }
  const Decoded again = Decode(link, Encode(frame->packet, frame->addressing));
  RINGPOST_CHECK(std::holds_alternative<Frame>(again), "an encoded packet is refused");
  RINGPOST_CHECK(std::get<Frame>(again) == *frame, "an encoded packet is another one");
}

// The bytes with zeros where a sender has to put them and a receiver does not look.
Bytes WithoutReserved(std::span<const uint8_t> input, Opcode opcode) {
  Bytes bytes(input.begin(), input.end());
  const size_t padding = bytes[1] >> 4 & 3;
  bytes[4] &= 0xc0;
  bytes[8] &= 0x80;
  if (HasDeth(opcode)) bytes[kBthBytes + 4] = 0;
  if (HasDcHeader(opcode)) bytes[kBthBytes + 8] = 0;
  if (opcode == Opcode::kCnp) std::fill(bytes.begin() + kBthBytes, bytes.end(), 0);
  std::fill(bytes.end() - static_cast<ptrdiff_t>(padding), bytes.end(), 0);
  return bytes;
}

void TryHeaders(std::span<const uint8_t> input) {
  ByteReader reader(input);
  const Packet packet = DecodeTransport(reader);
  if (reader.Failed()) return;
  ByteWriter writer;
  EncodeTransport(packet, writer);
  RINGPOST_CHECK(writer.Release() == WithoutReserved(input, packet.opcode),
                 "a packet is encoded as other bytes");
}

void TryAll(std::span<const uint8_t> input) {
  TryHeaders(input);
  TryFrame(Link::kEthernet, input);
  TryFrame(Link::kInfiniband, input);
  Bytes sealed(input.begin(), input.end());
  SealRoce(sealed);
  TryFrame(Link::kEthernet, sealed);
  sealed.assign(input.begin(), input.end());
  SealInfiniband(sealed);
  TryFrame(Link::kInfiniband, sealed);
}

}  // namespace
}  // namespace ringpost::sim::wire

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ringpost::sim::wire::TryAll({data, size});
  return 0;
}

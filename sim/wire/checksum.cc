#include "sim/wire/checksum.h"

#include <algorithm>
#include <array>
#include <boost/crc.hpp>

#include "sim/engine/check.h"
#include "sim/wire/wire_sizes.h"

namespace ringpost::sim::wire {
namespace {

using VariantCrc = boost::crc_optimal<16, 0x100b, 0xffff, 0xffff, true, true>;

// Bytes of ones that stand for the local route header, then the first headers of a packet.
class MaskedHeaders {
 public:
  MaskedHeaders(std::span<const uint8_t> packet, size_t headers, size_t ones)
      : size_(ones + headers), ones_(ones), rest_(packet.subspan(headers)) {
    bytes_.fill(0xff);
    std::copy_n(packet.begin(), headers, bytes_.begin() + static_cast<ptrdiff_t>(ones));
  }

  // `offset` counts from the packet's first byte.
  void Mask(size_t offset, uint8_t mask = 0xff) { bytes_[ones_ + offset] |= mask; }
  void MaskRange(size_t offset, size_t count) {
    for (size_t i = 0; i < count; ++i) Mask(offset + i);
  }

  uint32_t Crc() const {
    boost::crc_32_type crc;
    crc.process_bytes(bytes_.data(), size_);
    crc.process_bytes(rest_.data(), rest_.size());
    return crc.checksum();
  }

 private:
  std::array<uint8_t, kLrhBytes + kIpv6Bytes + kUdpBytes + kBthBytes> bytes_;
  size_t size_;
  size_t ones_;
  std::span<const uint8_t> rest_;
};

constexpr size_t kBthReserved = 4;  // FECN, BECN and six reserved bits

}  // namespace

uint32_t RoceIcrc(std::span<const uint8_t> ip_packet) {
  const bool is_ipv4 = ip_packet[0] >> 4 == 4;
  const size_t udp = is_ipv4 ? kIpv4Bytes : kIpv6Bytes;
  const size_t headers = udp + kUdpBytes + kBthBytes;
  RINGPOST_CHECK(ip_packet.size() >= headers, "a packet without a BTH");
  MaskedHeaders masked(ip_packet, headers, kLrhBytes);
  if (is_ipv4) {
    masked.Mask(1);           // DSCP, ECN
    masked.Mask(8);           // TTL
    masked.MaskRange(10, 2);  // header checksum
  } else {
    masked.Mask(0, 0x0f);    // traffic class
    masked.MaskRange(1, 3);  // the rest of it, flow label
    masked.Mask(7);          // hop limit
  }
  masked.MaskRange(udp + 6, 2);  // UDP checksum
  masked.Mask(udp + kUdpBytes + kBthReserved);
  return masked.Crc();
}

uint32_t InfinibandIcrc(std::span<const uint8_t> packet) {
  const bool is_global = (packet[1] & 3) == kLnhGlobal;
  const size_t bth = kLrhBytes + (is_global ? kGrhBytes : 0);
  RINGPOST_CHECK(packet.size() >= bth + kBthBytes, "a packet without a BTH");
  MaskedHeaders masked(packet, bth + kBthBytes, 0);
  if (is_global) {
    masked.MaskRange(0, kLrhBytes);      // routers write another one
    masked.Mask(kLrhBytes, 0x0f);        // traffic class
    masked.MaskRange(kLrhBytes + 1, 3);  // the rest of it, flow label
    masked.Mask(kLrhBytes + 7);          // hop limit
  } else {
    masked.Mask(0, 0xf0);  // virtual lane
  }
  masked.Mask(bth + kBthReserved);
  return masked.Crc();
}

uint16_t Vcrc(std::span<const uint8_t> packet) {
  VariantCrc crc;
  crc.process_bytes(packet.data(), packet.size());
  return static_cast<uint16_t>(crc.checksum());
}

uint32_t OnesSum(std::span<const uint8_t> bytes, uint32_t sum) {
  for (size_t i = 0; i < bytes.size(); ++i) sum += i % 2 == 0 ? bytes[i] << 8 : bytes[i];
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return sum;
}

}  // namespace ringpost::sim::wire

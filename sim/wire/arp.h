// arp.h: the question which MAC address has an IPv4 address, and its answer (RFC 826). A stack that
// keeps a table of neighbours sends no RoCEv2 packet before it has one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/wire/addressing.h"

namespace ringpost::sim::wire {

struct ArpRequest {
  MacAddress source_mac{};
  Gid source{};  // both mapped
  Gid target{};

  bool operator==(const ArpRequest&) const = default;
};

// Any bytes may come; nothing where they are no request, an answer among them.
std::optional<ArpRequest> DecodeArpRequest(std::span<const uint8_t> frame);

// The frame by which the request's target says that it has this MAC address.
std::vector<uint8_t> EncodeArpReply(const ArpRequest& request, const MacAddress& mac);

}  // namespace ringpost::sim::wire

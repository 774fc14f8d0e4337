#include "sim/wire/arp.h"

#include <algorithm>

#include "sim/wire/byte_order.h"
#include "sim/wire/wire_sizes.h"

namespace ringpost::sim::wire {
namespace {

constexpr uint16_t kEtherTypeArp = 0x0806;
// Hardware Ethernet (1), protocol IPv4, addresses of 6 and 4 bytes.
constexpr uint64_t kEthernetAndIpv4 = 0x0001'0800'06'04;
constexpr uint16_t kRequest = 1;
constexpr uint16_t kReply = 2;
constexpr size_t kIpv4InGid = 12;  // where a mapped GID holds the IPv4 address
constexpr size_t kIpv4AddressBytes = 4;

MacAddress TakeMac(ByteReader& reader, const char* field) {
  MacAddress mac{};
  const auto bytes = reader.TakeBytes(mac.size(), field);
  std::copy(bytes.begin(), bytes.end(), mac.begin());
  return mac;
}

Gid TakeIpv4Address(ByteReader& reader, const char* field) {
  Gid gid = MappedGid(0, 0, 0, 0);
  const auto bytes = reader.TakeBytes(kIpv4AddressBytes, field);
  std::copy(bytes.begin(), bytes.end(), gid.begin() + kIpv4InGid);
  return gid;
}

}  // namespace

std::optional<ArpRequest> DecodeArpRequest(std::span<const uint8_t> frame) {
  ByteReader reader(frame);
  reader.TakeBytes(kEthernetBytes - 2, "Ethernet.addresses");
  reader.Require(reader.Take(2, "Ethernet.type") == kEtherTypeArp, "not ARP");
  reader.Require(reader.Take(6, "ARP.kinds") == kEthernetAndIpv4, "not Ethernet and IPv4");
  reader.Require(reader.Take(2, "ARP.operation") == kRequest, "not a request");
  ArpRequest request;
  request.source_mac = TakeMac(reader, "ARP.source_mac");
  request.source = TakeIpv4Address(reader, "ARP.source");
  TakeMac(reader, "ARP.target_mac");  // what is asked for
  request.target = TakeIpv4Address(reader, "ARP.target");
  if (reader.Failed()) return std::nullopt;
  return request;
}

std::vector<uint8_t> EncodeArpReply(const ArpRequest& request, const MacAddress& mac) {
  ByteWriter writer;
  writer.PutBytes(request.source_mac);
  writer.PutBytes(mac);
  writer.Put(2, kEtherTypeArp);
  writer.Put(6, kEthernetAndIpv4);
  writer.Put(2, kReply);
  writer.PutBytes(mac);
  writer.PutBytes(std::span(request.target).subspan(kIpv4InGid));
  writer.PutBytes(request.source_mac);
  writer.PutBytes(std::span(request.source).subspan(kIpv4InGid));
  return writer.Release();
}

}  // namespace ringpost::sim::wire

#include "sim/wire/codec.h"

#include "sim/wire/byte_order.h"
#include "sim/wire/infiniband.h"
#include "sim/wire/roce.h"

namespace ringpost::sim::wire {
namespace {

template <class Carrier>
Decoded DecodeBy(void (*decode)(ByteReader&, Packet&, Carrier&), std::span<const uint8_t> bytes) {
  ByteReader reader(bytes);
  Packet packet;
  Carrier addressing;
  decode(reader, packet, addressing);
  if (reader.Failed()) return *reader.Error();
  return Frame{std::move(packet), addressing};
}

}  // namespace

std::vector<uint8_t> Encode(const Packet& packet, const Addressing& addressing) {
  ByteWriter writer;
  if (const auto* roce = std::get_if<RoceAddressing>(&addressing)) {
    EncodeRoce(packet, *roce, writer);
  } else {
    EncodeInfiniband(packet, std::get<InfinibandAddressing>(addressing), writer);
  }
  return writer.Release();
}

Decoded Decode(Link link, std::span<const uint8_t> bytes) {
  return link == Link::kEthernet ? DecodeBy(DecodeRoce, bytes) : DecodeBy(DecodeInfiniband, bytes);
}

}  // namespace ringpost::sim::wire

#include "sim/service/packet_bytes.h"

#include <cstring>

#include "sim/engine/check.h"
#include "sim/wire/wire_sizes.h"

namespace ringpost::sim::service {
namespace {

using wire::Opcode;
using wire::Packet;

struct Common {
  uint8_t opcode;
  uint8_t flags;
  uint16_t pkey;
  uint32_t dest_qpn;
  uint32_t psn;
  uint16_t payload_bytes;
  uint16_t source;
};
static_assert(sizeof(Common) == 16);

enum Flag : uint8_t {
  kSolicited = 1 << 0,
  kAckRequest = 1 << 1,
  kMigrated = 1 << 2,
  kFecn = 1 << 3,
  kBecn = 1 << 4,
};

class Writer {
 public:
  explicit Writer(uint8_t* bytes) : bytes_(bytes) {}
  template <class T>
  void operator()(const T& field) {
    std::memcpy(bytes_ + offset_, &field, sizeof field);
    offset_ += sizeof field;
  }
  size_t Offset() const { return offset_; }

 private:
  uint8_t* bytes_;
  size_t offset_ = 0;
};

// Past the end it fails, and the fields stay as they are.
class Reader {
 public:
  explicit Reader(std::span<const uint8_t> bytes) : bytes_(bytes) {}
  template <class T>
  void operator()(T& field) {
    failed_ = failed_ || bytes_.size() - offset_ < sizeof field;
    if (failed_) return;
    std::memcpy(&field, bytes_.data() + offset_, sizeof field);
    offset_ += sizeof field;
  }
  size_t Offset() const { return offset_; }
  bool Failed() const { return failed_; }

 private:
  std::span<const uint8_t> bytes_;
  size_t offset_ = 0;
  bool failed_ = false;
};

// One list for both directions, so that they cannot differ.
template <class Cursor, class AnyPacket>
void EachExtended(Opcode opcode, AnyPacket& packet, Cursor& field) {
  if (HasDeth(opcode)) field(packet.qkey);
  if (HasDcHeader(opcode)) field(packet.dc_key);
  if (HasDeth(opcode) || HasDcHeader(opcode)) field(packet.source_qpn);
  if (HasReth(opcode) || IsAtomic(opcode)) {
    field(packet.remote_address);
    field(packet.remote_key);
  }
  if (HasReth(opcode)) field(packet.dma_length);
  if (IsAtomic(opcode)) {
    field(packet.swap_add);
    field(packet.compare);
  }
  if (HasMaskedAtomicEth(opcode)) {
    field(packet.swap_mask);
    field(packet.compare_mask);
    field(packet.atomic_bytes);
  }
  if (HasAeth(opcode)) {
    field(packet.msn);
    field(packet.syndrome);
  }
  if (HasAtomicAckEth(opcode)) field(packet.original);
  if (HasImmediate(opcode)) field(packet.immediate);
  if (HasIeth(opcode)) field(packet.invalidate_key);
}

uint8_t FlagsOf(const Packet& packet) {
  return static_cast<uint8_t>(
      (packet.solicited ? kSolicited : 0) | (packet.ack_request ? kAckRequest : 0) |
      (packet.migrated ? kMigrated : 0) | (packet.fecn ? kFecn : 0) | (packet.becn ? kBecn : 0));
}

}  // namespace

size_t PackFields(const Packet& packet, uint16_t source, std::span<uint8_t> bytes) {
  RINGPOST_CHECK(bytes.size() >= kMaxFieldBytes, "no room for a packet's fields");
  RINGPOST_CHECK(packet.payload.size() <= wire::kMaxPayloadBytes, "a payload above the MTU");
  Writer writer(bytes.data());
  writer(Common{static_cast<uint8_t>(packet.opcode), FlagsOf(packet), packet.pkey, packet.dest_qpn,
                packet.psn, static_cast<uint16_t>(packet.payload.size()), source});
  EachExtended(packet.opcode, packet, writer);
  return writer.Offset();
}

UnpackedFields UnpackFields(std::span<const uint8_t> bytes, Packet& packet) {
  packet = Packet{};
  Reader reader(bytes);
  Common common{};
  reader(common);
  packet.opcode = static_cast<Opcode>(common.opcode);
  packet.solicited = (common.flags & kSolicited) != 0;
  packet.ack_request = (common.flags & kAckRequest) != 0;
  packet.migrated = (common.flags & kMigrated) != 0;
  packet.fecn = (common.flags & kFecn) != 0;
  packet.becn = (common.flags & kBecn) != 0;
  packet.pkey = common.pkey;
  packet.dest_qpn = common.dest_qpn;
  packet.psn = common.psn;
  EachExtended(packet.opcode, packet, reader);
  const bool is_packet = !reader.Failed() && IsKnown(packet.opcode) &&
                         common.payload_bytes <= wire::kMaxPayloadBytes &&
                         (common.payload_bytes == 0 || HasPayload(packet.opcode));
  if (!is_packet) return {};
  return {reader.Offset(), common.payload_bytes, common.source};
}

}  // namespace ringpost::sim::service

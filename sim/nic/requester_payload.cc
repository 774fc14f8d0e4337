// What a WQE's local SGEs name: into a packet, and out of a response.
#include <algorithm>

#include "sim/nic/big_endian.h"
#include "sim/nic/rnic.h"
#include "sim/nic/wqe_parser.h"

namespace ringpost::sim {
namespace {

struct Sge {
  uint32_t bytes;
  uint32_t key;
  uint64_t address;
};

Sge SgeAt(const uint8_t* segment) {
  return {Big32(segment), Big32(segment + 4), Big64(segment + 8)};
}

// Calls visit(sge, part, from) for each SGE that [offset, offset + bytes) of the list meets, until
// one returns false: `part` bytes from `from` of the SGE on.
template <class F>
bool ForEachPart(const uint8_t* list, uint32_t count, uint32_t offset, uint32_t bytes, F&& visit) {
  for (uint32_t i = 0; i < count && bytes != 0; ++i) {
    const Sge sge = SgeAt(list + i * abi::kSegmentBytes);
    if (offset >= sge.bytes) {
      offset -= sge.bytes;
      continue;
    }
    const uint32_t part = std::min(bytes, sge.bytes - offset);
    if (!visit(sge, part, offset)) return false;
    bytes -= part;
    offset = 0;
  }
  return bytes == 0;
}

}  // namespace

bool Rnic::Gather(QpContext& qp, const SendWqe& wqe, uint32_t offset, uint32_t bytes,
                  wire::Packet& packet) {
  packet.payload.resize(bytes, boost::container::default_init);
  if (bytes == 0) return true;
  uint8_t* out = packet.payload.data();
  const uint64_t index = IndexOf(qp, wqe);
  if (wqe.Is(kWqeInline)) {
    if (wqe.bytes <= kShortInlineBytes) {
      std::memcpy(out, wqe.payload + offset, bytes);
      return true;
    }
    const uint32_t at = wqe.data_segment * abi::kSegmentBytes + abi::kInlineHeaderBytes + offset;
    return ReadRing(qp, index, at, out, bytes);
  }
  // The first time that it leaves is when it is used.
  const bool used = PsnDistance(qp.requester.unsent, packet.psn) >= 0;
  const auto read = [&](uint32_t key, uint64_t from, uint32_t part) {
    uint64_t address = 0;
    if (!protection_.Translate(key, qp.pd, from, part, 0, &address)) return false;
    if (!dma_.Read(qp.qpn, address, out, part)) return false;
    if (used) dma_.Consume(qp.qpn, Purpose::kPayload, index, address, part);
    out += part;
    return true;
  };
  if (!wqe.Is(kWqeManySges)) return read(wqe.local_key, wqe.local_address + offset, bytes);
  uint8_t list[kMaxSendWqeBytes];
  const uint32_t count = wqe.segments - wqe.data_segment;
  if (!ReadRing(qp, index, wqe.data_segment * abi::kSegmentBytes, list,
                count * abi::kSegmentBytes)) {
    return false;
  }
  return ForEachPart(list, count, offset, bytes, [&](const Sge& sge, uint32_t part, uint32_t from) {
    return read(sge.key, sge.address + from, part);
  });
}

// Whether all that the WQE names may be used so.
bool Rnic::CheckLocal(QpContext& qp, const SendWqe& wqe, uint8_t rights) {
  if (wqe.bytes == 0 || wqe.Is(kWqeInline)) return true;
  uint64_t address = 0;
  if (!wqe.Is(kWqeManySges)) {
    return protection_.Translate(wqe.local_key, qp.pd, wqe.local_address, wqe.bytes, rights,
                                 &address);
  }
  uint8_t list[kMaxSendWqeBytes];
  const uint32_t count = wqe.segments - wqe.data_segment;
  if (!ReadRing(qp, IndexOf(qp, wqe), wqe.data_segment * abi::kSegmentBytes, list,
                count * abi::kSegmentBytes)) {
    return false;
  }
  return ForEachPart(list, count, 0, wqe.bytes, [&](const Sge& sge, uint32_t part, uint32_t from) {
    return protection_.Translate(sge.key, qp.pd, sge.address + from, part, rights, &address);
  });
}

bool Rnic::ScatterLocal(QpContext& qp, const SendWqe& wqe, uint32_t offset, const uint8_t* data,
                        uint32_t bytes) {
  if (bytes == 0) return true;
  const auto write = [&](uint32_t key, uint64_t to, uint32_t part) {
    uint64_t address = 0;
    if (!protection_.Translate(key, qp.pd, to, part, kMayWriteLocally, &address)) return false;
    if (!dma_.Write(qp.qpn, address, data, part)) return false;
    data += part;
    return true;
  };
  if (!wqe.Is(kWqeManySges)) return write(wqe.local_key, wqe.local_address + offset, bytes);
  uint8_t list[kMaxSendWqeBytes];
  const uint32_t count = wqe.segments - wqe.data_segment;
  if (!ReadRing(qp, IndexOf(qp, wqe), wqe.data_segment * abi::kSegmentBytes, list,
                count * abi::kSegmentBytes)) {
    return false;
  }
  return ForEachPart(list, count, offset, bytes, [&](const Sge& sge, uint32_t part, uint32_t from) {
    return write(sge.key, sge.address + from, part);
  });
}

}  // namespace ringpost::sim

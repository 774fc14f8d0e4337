// wqe.h: the send WQE of the mlx5 byte contract (PRM "Work Queue Elements").
//
// A WQE is a sequence of 16-byte segments and starts on a 64-byte basic block (WQEBB). Every
// multi-byte field is big endian. Builders return segments by value; a Port stores them.
// tests/transport/abi_test checks sizes, offsets and opcodes against <infiniband/mlx5dv.h>.
#pragma once

#include <cstddef>
#include <cstdint>

#include "transport/abi/byte_order.h"

namespace ringpost::abi {

inline constexpr uint32_t kWqebbBytes = 64;
inline constexpr uint32_t kSegmentBytes = 16;
inline constexpr uint32_t kSegmentsPerWqebb = kWqebbBytes / kSegmentBytes;
inline constexpr uint32_t kMaxSegments = 63;         // ds is 6 bits wide
inline constexpr uint32_t kMaxDepthWqebbs = 32768;   // log_sq_size has 4 bits: 2^15
inline constexpr uint32_t kInlineFlag = 0x80000000;  // byte_count of an inline header
inline constexpr uint32_t kInlineHeaderBytes = 4;
inline constexpr uint64_t kDcAccessKey = 0x5623ceaf;  // of DCTs; any value will do

enum class Opcode : uint8_t {
  kNop = 0x00,
  kSendInvalidate = 0x01,
  kRdmaWrite = 0x08,
  kRdmaWriteImm = 0x09,
  kSend = 0x0a,
  kSendImm = 0x0b,
  kWait = 0x0f,
  kRdmaRead = 0x10,
  kAtomicCompareSwap = 0x11,
  kAtomicFetchAdd = 0x12,
  kAtomicMaskedCompareSwap = 0x14,
  kAtomicMaskedFetchAdd = 0x15,
  kDump = 0x23,
};

// Byte 11 of the control segment: fence mode, completion mode, solicited.
enum Flags : uint8_t {
  kCqeOnError = 0x00,
  kCqeAlways = 0x08,
  kSolicited = 0x02,
  kInitiatorSmallFence = 0x20,
  kFenceReadsAtomics = 0x40,
};

// One 16-byte segment as four 32-bit words in memory order.
struct alignas(16) Segment {
  uint32_t word[4];
};
static_assert(sizeof(Segment) == kSegmentBytes);

struct ControlSegment {
  uint32_t opmod_index_opcode;  // opmod[31:24] wqe index[23:8] opcode[7:0]
  uint32_t qpn_ds;              // QPN[31:8] ds[5:0]
  uint8_t signature;
  uint8_t stream_channel[2];
  uint8_t fm_ce_se;
  uint32_t immediate;
};
static_assert(sizeof(ControlSegment) == 16);
static_assert(offsetof(ControlSegment, qpn_ds) == 4);
static_assert(offsetof(ControlSegment, fm_ce_se) == 11);
static_assert(offsetof(ControlSegment, immediate) == 12);

struct RemoteAddressSegment {
  uint64_t address;
  uint32_t rkey;
  uint32_t reserved;
};
static_assert(sizeof(RemoteAddressSegment) == 16);
static_assert(offsetof(RemoteAddressSegment, rkey) == 8);

struct DataSegment {
  uint32_t byte_count;
  uint32_t lkey;
  uint64_t address;
};
static_assert(sizeof(DataSegment) == 16);
static_assert(offsetof(DataSegment, lkey) == 4);
static_assert(offsetof(DataSegment, address) == 8);

struct AtomicSegment {
  uint64_t swap_add;
  uint64_t compare;
};
static_assert(sizeof(AtomicSegment) == 16);

// Whom a DC WQE is for, without its extension of 32 bytes: a LID, and no GID.
struct AddressVector {
  uint64_t dc_key;
  uint32_t dqp_dct;  // bit 31: the extension follows; DCT number [23:0]
  uint8_t stat_rate_sl;
  uint8_t fl_mlid;
  uint16_t rlid;
};
static_assert(sizeof(AddressVector) == 16);
static_assert(offsetof(AddressVector, dqp_dct) == 8);
static_assert(offsetof(AddressVector, rlid) == 14);

// The first 8 bytes of a control segment as one 64-bit word in memory order. `index` is masked
// to its 16 bits by the caller: it is a policy of the index, not of the layout.
HOST_DEVICE constexpr uint64_t ControlWord(Opcode opcode, uint64_t index, uint32_t qpn,
                                           uint32_t segments) {
  // Bytes: opmod 0, the index's high and low one, opcode.
  const uint32_t first =
      kPicksBytes ? PickBytes(static_cast<uint32_t>(index), static_cast<uint32_t>(opcode), 0x4015)
                  : Swap32((static_cast<uint32_t>(index) << 8) | static_cast<uint32_t>(opcode));
  const uint32_t second = Swap32((qpn << 8) | segments);
  return (static_cast<uint64_t>(second) << 32) | first;
}

HOST_DEVICE constexpr Segment ControlSegmentOf(Opcode opcode, uint64_t index, uint32_t qpn,
                                               uint32_t segments, uint8_t flags,
                                               uint32_t immediate = 0) {
  const uint64_t word = ControlWord(opcode, index, qpn, segments);
  return {{static_cast<uint32_t>(word), static_cast<uint32_t>(word >> 32),
           static_cast<uint32_t>(flags) << 24, Swap32(immediate)}};
}

HOST_DEVICE constexpr Segment AddressVectorOf(uint64_t dc_key, uint32_t dct, uint16_t lid) {
  const uint64_t key = Swap64(dc_key);
  return {{static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32), Swap32(dct & 0xffffff),
           uint32_t{Swap16(lid)} << 16}};
}

HOST_DEVICE constexpr Segment RemoteAddressOf(uint64_t address, uint32_t rkey) {
  const uint64_t big = Swap64(address);
  return {{static_cast<uint32_t>(big), static_cast<uint32_t>(big >> 32), Swap32(rkey), 0}};
}

HOST_DEVICE constexpr Segment DataOf(uint32_t bytes, uint32_t lkey, uint64_t address) {
  const uint64_t big = Swap64(address);
  return {
      {Swap32(bytes), Swap32(lkey), static_cast<uint32_t>(big), static_cast<uint32_t>(big >> 32)}};
}

// FETCH_ADD takes its addend from the first word and ignores the second.
HOST_DEVICE constexpr Segment AtomicOf(uint64_t swap_add, uint64_t compare) {
  const uint64_t first = Swap64(swap_add);
  const uint64_t second = Swap64(compare);
  return {{static_cast<uint32_t>(first), static_cast<uint32_t>(first >> 32),
           static_cast<uint32_t>(second), static_cast<uint32_t>(second >> 32)}};
}

// Segments that `bytes` of inline payload take, header included; none for an empty payload.
HOST_DEVICE constexpr uint32_t InlineSegments(uint32_t bytes) {
  return bytes == 0 ? 0 : (kInlineHeaderBytes + bytes + kSegmentBytes - 1) / kSegmentBytes;
}

HOST_DEVICE constexpr uint32_t WqebbsOf(uint32_t segments) {
  return (segments + kSegmentsPerWqebb - 1) / kSegmentsPerWqebb;
}

}  // namespace ringpost::abi

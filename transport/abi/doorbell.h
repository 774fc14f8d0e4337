// doorbell.h: the doorbell record and the UAR page (PRM "Doorbells"; rdma-core mlx5 provider).
//
// The record is 8 bytes: word 0 counts posted receives, word 1 posted send WQEBBs, each big
// endian with 16 valid bits. The doorbell is one 64-bit store of a control segment's first 8
// bytes. Two forms are legal and the NIC accepts both: a GPU rings with opcode 0, ds 0 and the
// producer index; libmlx5 rings with the last WQE's own bytes. new producer = index + ceil(ds/4).
#pragma once

#include <cstdint>

#include "transport/abi/wqe.h"

namespace ringpost::abi {

inline constexpr uint32_t kRecordBytes = 8;
inline constexpr uint32_t kRecordReceiveOffset = 0;
inline constexpr uint32_t kRecordSendOffset = 4;
inline constexpr uint32_t kUarPageBytes = 4096;
inline constexpr uint32_t kUarDoorbellOffset = 0x800;
inline constexpr uint64_t kIndexMask = 0xffff;

HOST_DEVICE constexpr uint64_t ProducerDoorbell(uint64_t producer, uint32_t qpn) {
  return ControlWord(Opcode::kNop, producer, qpn, 0);
}

struct DoorbellFields {
  uint32_t qpn;
  uint16_t producer;
};

HOST_DEVICE constexpr DoorbellFields DecodeDoorbell(uint64_t value) {
  const uint32_t first = Swap32(static_cast<uint32_t>(value));
  const uint32_t second = Swap32(static_cast<uint32_t>(value >> 32));
  const uint32_t index = (first >> 8) & 0xffff;
  const uint32_t segments = second & 0x3f;
  return {second >> 8, static_cast<uint16_t>(index + WqebbsOf(segments))};
}

// Whether the doorbell is the beginning of a WQE that fits a register of 64 bytes.
HOST_DEVICE constexpr bool DoorbellCarriesWqe(uint64_t value) {
  const uint32_t segments = Swap32(static_cast<uint32_t>(value >> 32)) & 0x3f;
  return segments != 0 && WqebbsOf(segments) == 1;
}

}  // namespace ringpost::abi

// segment_layout.h: what stands where in the memory that the processes of a machine share.
//
// A change of anything here is another kLayoutVersion. Zeros mean: no device, no slot in use.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "sim/service/device.h"
#include "sim/service/packet_ring.h"
#include "sim/service/robust_mutex.h"
#include "sim/service/shared_object.h"

namespace ringpost::sim::service {

inline constexpr uint64_t kSegmentMagic = 0x74736f70676e6972;  // "ringpost"
inline constexpr uint32_t kLayoutVersion = 1;
inline constexpr uint32_t kMaxDevices = 64;
inline constexpr size_t kPageBytes = 4096;

struct DeviceRecord {
  char name[46];  // ends with a zero
  uint16_t lid;
  wire::Gid gid;
  wire::Link link;
};

// Who is attached. The rest is valid while `word` says so, and is written before it.
struct alignas(64) SlotRecord {
  static constexpr uint32_t kLive = 1;
  static constexpr uint16_t GenerationOf(uint32_t word) { return static_cast<uint16_t>(word >> 1); }

  std::atomic<uint32_t> word;  // the generation, and whether somebody is attached: the lowest bit
  std::atomic<uint32_t> device;
  std::atomic<int32_t> pid;
  std::atomic<uint64_t> start_time;
};

struct SegmentHeader {
  // These three stay where they are in every version.
  uint64_t magic;
  uint32_t version;
  uint32_t ring_cells;

  uint64_t bytes;
  uint64_t pid_namespace;
  RobustMutex mutex;                  // for whoever attaches, detaches, or adds a device
  std::atomic<int32_t> mutex_holder;  // its pid, for a message
  std::atomic<uint32_t> devices;      // grows; a record below it never changes
  DeviceRecord device[kMaxDevices];
  SlotRecord slot[kMaxSlots];
};
static_assert(sizeof(SegmentHeader) <= SharedObject::kInitialisedBytes);

constexpr size_t InPages(size_t bytes) { return (bytes + kPageBytes - 1) & ~(kPageBytes - 1); }

// A receive ring for each slot stands behind the header.
constexpr size_t RingStride(uint32_t cells) { return InPages(PacketRing::BytesFor(cells)); }
constexpr size_t RingOffset(uint8_t slot, uint32_t cells) {
  return InPages(sizeof(SegmentHeader)) + slot * RingStride(cells);
}
constexpr size_t SegmentBytes(uint32_t cells) {
  return InPages(sizeof(SegmentHeader)) + kMaxSlots * RingStride(cells);
}

}  // namespace ringpost::sim::service

// send_window.h: the WQEs of one send queue that are fetched and not complete, one cache line each.
//
// What a WQE needs on its way is in its record; what few need (long inline payload, scatter lists,
// the operands of wide masked atomics) is read from the ring again when its packet is built. The
// ring's slot stays as it is until the WQE is complete.
#pragma once

#include <cstdint>
#include <memory>

#include "sim/nic/address.h"
#include "transport/abi/cqe.h"
#include "transport/abi/wqe.h"

namespace ringpost::sim {

enum WqeTrait : uint8_t {
  kWqeLocal = 1,      // sends no packet: NOP, WAIT, DUMP
  kWqeAnswered = 2,   // a READ or an atomic: done when its response is
  kWqeAtomic = 4,     //
  kWqeInline = 8,     // the payload is in the ring; if it is short, in `payload` too
  kWqeManySges = 16,  // the list is in the ring
  kWqeCounted = 32,   // among the READs and atomics under way
  kWqeExecuted = 64,  // a local one: done
  kWqeFailed = 128,   // `failure` counts; nothing of it leaves
};

inline constexpr uint32_t kShortInlineBytes = 16;

struct alignas(64) SendWqe {
  uint64_t remote_address;
  uint64_t local_address;  // of its one SGE
  uint32_t remote_key;
  uint32_t local_key;
  uint32_t bytes;
  uint32_t first_psn;
  uint32_t packets;    // PSNs that it takes
  uint32_t immediate;  // as it stands in memory
  uint16_t index;      // low 16 bits of its first WQEBB
  abi::Opcode opcode;
  uint8_t flags;  // byte 11 of the control segment
  uint8_t traits;
  uint8_t segments;
  uint8_t data_segment;  // the first one with data or inline payload
  uint8_t atomic_bytes;  // 4 or 8
  union {
    uint8_t payload[kShortInlineBytes];
    struct {
      uint64_t swap_add, compare;
    } atomic;
    struct {
      uint32_t cqn, index;
    } wait;
    struct {
      abi::Syndrome syndrome;
      uint8_t vendor;
    } failure;
  };

  bool Is(uint8_t trait) const { return (traits & trait) != 0; }
  bool Signalled() const { return (flags & abi::kCqeAlways) != 0; }
  void Fail(abi::Syndrome syndrome, uint8_t vendor) {
    traits |= kWqeFailed;
    failure = {syndrome, vendor};
  }
};
static_assert(sizeof(SendWqe) == 64);

// Whom a WQE of a UD QP or a DCI is for.
struct SendTarget {
  Address address;
  uint32_t qpn = 0;
  uint32_t qkey = 0;
  uint64_t dc_key = 0;
  uint32_t stream = 0;  // DCI: which of its streams
};

// A ring that grows with use, by doubling, up to the depth of its send queue; WQEs are numbered
// from 0 in order of fetch, modulo 2^32.
class SendWindow {
 public:
  void Prepare(uint32_t most, bool with_targets) {
    most_ = most;
    with_targets_ = with_targets;
  }
  SendWqe& At(uint32_t number) { return wqes_[number & mask_]; }
  const SendWqe& At(uint32_t number) const { return wqes_[number & mask_]; }
  SendTarget& TargetOf(uint32_t number) { return targets_[number & mask_]; }

  // Makes room for WQE `tail` besides [head, tail); false when the window is full.
  bool MakeRoom(uint32_t head, uint32_t tail) {
    if (wqes_ != nullptr && tail - head <= mask_) return true;
    return Grow(head, tail);
  }

 private:
  bool Grow(uint32_t head, uint32_t tail) {
    constexpr uint32_t kFirstSize = 4;
    const uint32_t size = wqes_ == nullptr ? kFirstSize : 2 * (mask_ + 1);
    if (wqes_ != nullptr && mask_ + 1 >= most_) return false;
    auto wqes = std::make_unique_for_overwrite<SendWqe[]>(size);
    std::unique_ptr<SendTarget[]> targets;
    if (with_targets_) targets = std::make_unique<SendTarget[]>(size);
    for (uint32_t i = head; i != tail; ++i) {
      wqes[i & (size - 1)] = At(i);
      if (with_targets_) targets[i & (size - 1)] = TargetOf(i);
    }
    wqes_ = std::move(wqes);
    targets_ = std::move(targets);
    mask_ = size - 1;
    return true;
  }

  std::unique_ptr<SendWqe[]> wqes_;
  std::unique_ptr<SendTarget[]> targets_;
  uint32_t mask_ = 0;
  uint32_t most_ = 0;
  bool with_targets_ = false;
};

}  // namespace ringpost::sim

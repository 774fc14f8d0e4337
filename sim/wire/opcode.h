// opcode.h: the BTH's opcode, and which headers follow it (IBA specification, chapter 9).
//
// The upper three bits name the transport, the lower five the operation. The specification leaves
// 0xc0-0xff to manufacturers; ConnectX's encodings there are not public, so these are our own:
// 0xd8 and 0xd9 are RC's masked atomics, 0xe0-0xf9 are DC: the RC operation of the same lower bits,
// whose requests carry one more header (DC access key and the DCI's number). docs/wire.md has it.
#pragma once

#include <cstdint>

#include "sim/wire/opcode_table.h"

namespace ringpost::sim::wire {

enum class Opcode : uint8_t {
  kRcSendFirst = 0x00,
  kRcSendMiddle = 0x01,
  kRcSendLast = 0x02,
  kRcSendLastImmediate = 0x03,
  kRcSendOnly = 0x04,
  kRcSendOnlyImmediate = 0x05,
  kRcWriteFirst = 0x06,
  kRcWriteMiddle = 0x07,
  kRcWriteLast = 0x08,
  kRcWriteLastImmediate = 0x09,
  kRcWriteOnly = 0x0a,
  kRcWriteOnlyImmediate = 0x0b,
  kRcReadRequest = 0x0c,
  kRcReadResponseFirst = 0x0d,
  kRcReadResponseMiddle = 0x0e,
  kRcReadResponseLast = 0x0f,
  kRcReadResponseOnly = 0x10,
  kRcAck = 0x11,
  kRcAtomicAck = 0x12,
  kRcCompareSwap = 0x13,
  kRcFetchAdd = 0x14,
  kRcSendLastInvalidate = 0x16,
  kRcSendOnlyInvalidate = 0x17,

  kUcSendFirst = 0x20,
  kUcSendMiddle = 0x21,
  kUcSendLast = 0x22,
  kUcSendLastImmediate = 0x23,
  kUcSendOnly = 0x24,
  kUcSendOnlyImmediate = 0x25,
  kUcWriteFirst = 0x26,
  kUcWriteMiddle = 0x27,
  kUcWriteLast = 0x28,
  kUcWriteLastImmediate = 0x29,
  kUcWriteOnly = 0x2a,
  kUcWriteOnlyImmediate = 0x2b,

  kUdSendOnly = 0x64,
  kUdSendOnlyImmediate = 0x65,

  kCnp = 0x81,  // RoCEv2's congestion notification

  kRcMaskedCompareSwap = 0xd8,
  kRcMaskedFetchAdd = 0xd9,

  kDcSendFirst = 0xe0,
  kDcSendMiddle = 0xe1,
  kDcSendLast = 0xe2,
  kDcSendLastImmediate = 0xe3,
  kDcSendOnly = 0xe4,
  kDcSendOnlyImmediate = 0xe5,
  kDcWriteFirst = 0xe6,
  kDcWriteMiddle = 0xe7,
  kDcWriteLast = 0xe8,
  kDcWriteLastImmediate = 0xe9,
  kDcWriteOnly = 0xea,
  kDcWriteOnlyImmediate = 0xeb,
  kDcReadRequest = 0xec,
  kDcReadResponseFirst = 0xed,
  kDcReadResponseMiddle = 0xee,
  kDcReadResponseLast = 0xef,
  kDcReadResponseOnly = 0xf0,
  kDcAck = 0xf1,
  kDcAtomicAck = 0xf2,
  kDcCompareSwap = 0xf3,
  kDcFetchAdd = 0xf4,
  kDcSendLastInvalidate = 0xf6,
  kDcSendOnlyInvalidate = 0xf7,
  kDcMaskedCompareSwap = 0xf8,
  kDcMaskedFetchAdd = 0xf9,
};

enum class Service : uint8_t { kRc, kUc, kUd, kCnp, kDc };

constexpr bool HasTraits(Opcode opcode, uint32_t traits) {
  return (opcode_table::kTable[static_cast<uint8_t>(opcode)] & traits) == traits;
}

// Any byte may be cast to an Opcode; the answers below are `false` for an unknown one.
constexpr bool IsKnown(Opcode o) { return HasTraits(o, opcode_table::kKnown); }
constexpr bool IsRequest(Opcode o) { return HasTraits(o, opcode_table::kRequest); }
constexpr bool IsResponse(Opcode o) { return HasTraits(o, opcode_table::kResponse); }

// The place in a message. Read requests, atomics and ACKs are "only" packets.
constexpr bool StartsMessage(Opcode o) { return HasTraits(o, opcode_table::kStart); }
constexpr bool EndsMessage(Opcode o) { return HasTraits(o, opcode_table::kEnd); }
constexpr bool IsOnly(Opcode o) { return StartsMessage(o) && EndsMessage(o); }
constexpr bool IsFirst(Opcode o) { return StartsMessage(o) && !EndsMessage(o); }
constexpr bool IsLast(Opcode o) { return EndsMessage(o) && !StartsMessage(o); }
constexpr bool IsMiddle(Opcode o) { return IsKnown(o) && !StartsMessage(o) && !EndsMessage(o); }

// What follows the BTH. HasPayload: data is allowed, if only 0 bytes of it.
constexpr bool HasPayload(Opcode o) { return HasTraits(o, opcode_table::kPayload); }
constexpr bool HasImmediate(Opcode o) { return HasTraits(o, opcode_table::kImmediate); }
constexpr bool HasIeth(Opcode o) { return HasTraits(o, opcode_table::kIeth); }
constexpr bool HasReth(Opcode o) { return HasTraits(o, opcode_table::kReth); }
constexpr bool HasAeth(Opcode o) { return HasTraits(o, opcode_table::kAeth); }
constexpr bool HasAtomicEth(Opcode o) { return HasTraits(o, opcode_table::kAtomicEth); }
constexpr bool HasAtomicAckEth(Opcode o) { return HasTraits(o, opcode_table::kAtomicAckEth); }
constexpr bool HasMaskedAtomicEth(Opcode o) { return HasTraits(o, opcode_table::kMaskedAtomicEth); }
constexpr bool HasDeth(Opcode o) { return HasTraits(o, opcode_table::kDeth); }
constexpr bool HasDcHeader(Opcode o) { return HasTraits(o, opcode_table::kDcHeader); }

// What a request does. A write with immediate is a write.
constexpr bool IsSend(Opcode o) { return HasTraits(o, opcode_table::kSend); }
constexpr bool IsWrite(Opcode o) { return HasTraits(o, opcode_table::kWrite); }
constexpr bool IsAtomic(Opcode o) { return HasAtomicEth(o) || HasMaskedAtomicEth(o); }

// The service of a known opcode.
constexpr Service ServiceOf(Opcode o) {
  switch (static_cast<uint8_t>(o) >> 5) {
    case 1:
      return Service::kUc;
    case 3:
      return Service::kUd;
    case 4:
      return Service::kCnp;
    case 7:
      return Service::kDc;
    default:
      return Service::kRc;  // and our masked atomics
  }
}

// RC's opcode for what `o` does: kRcWriteFirst for kUcWriteFirst and kDcWriteFirst.
constexpr Opcode AsRc(Opcode o) {
  if (ServiceOf(o) == Service::kCnp) return o;
  const unsigned operation = static_cast<unsigned>(o) & 0x1f;
  return static_cast<Opcode>(operation < 0x18 ? operation : 0xc0 | operation);
}

// The opcode for what RC's `rc` does on another service. Unknown (IsKnown) where it has none.
constexpr Opcode OnService(Opcode rc, Service service) {
  const unsigned operation = static_cast<unsigned>(rc) & 0x1f;
  switch (service) {
    case Service::kUc:
      return static_cast<Opcode>(0x20 | operation);
    case Service::kUd:
      return static_cast<Opcode>(0x60 | operation);
    case Service::kCnp:
      return Opcode::kCnp;
    case Service::kDc:
      return static_cast<Opcode>(0xe0 | operation);
    default:
      return rc;
  }
}

}  // namespace ringpost::sim::wire

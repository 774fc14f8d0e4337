// descriptor.h: what a producer leaves in a proxy's ring: slots of 16 bytes, of two words.
//
// The highest bit of each word is the phase, which changes with every lap of the ring: a word of
// the present lap is there, whole. So slots may arrive in any order, and a slot in one store or in
// two; nothing but their own bits says that they are there, and zeroed memory holds none.
//
// An operation takes one slot in a short form where it can, else SlotsOf() of them:
//
//   form        first word                                    second word
//   kPutValue   kind | bytes:4 | top bit of value | target:48  value, its low 63 bits
//   kPut, kGet  kind | length, low 11 bits | remote:48         length, high 15 bits | local:48
//   kKeys       kind | rkey:32                                 lkey:32
//   kOperation  kind | operation:8 | two top bits | inline bytes:8 | fence | rkey:32   target:63
//     then, as SlotsOf() counts: length:31 | lkey:32, local:63; operands a:63, b:63; inline bytes,
//     seven in each word
//
// Short forms use the keys that the last kKeys of the ring has named, so they are for rings of one
// producer. Addresses of the long form have 63 bits, as those of user space do.
#pragma once

#include <cstdint>
#include <cstring>

#include "transport/host_device.h"
#include "transport/memory_span.h"

namespace ringpost::proxy {

struct Slot {
  uint64_t low = 0;
  uint64_t high = 0;
};
inline constexpr uint32_t kSlotBytes = 16;

inline constexpr uint64_t kPhase = 1ull << 63;

// What the phase bit is on the lap of `index`. `depth` is a power of two.
HOST_DEVICE constexpr uint64_t PhaseAt(uint64_t index, uint32_t depth) {
  return (index & depth) == 0 ? kPhase : 0;
}

enum class Form : uint8_t { kOperation, kPutValue, kPut, kGet, kKeys };

enum class Operation : uint8_t {
  kPut,
  kPutInline,
  kPutImmediate,
  kGet,
  kFetchAdd,
  kCompareSwap,
  kSignal,
  kSend,
  kSendImmediate,
};

// Any operation. `a` is an addend, what is compared, a signal's addend or an immediate; `b` is what
// is swapped in.
struct Request {
  Operation operation = Operation::kPut;
  bool fence = false;
  uint32_t inline_bytes = 0;
  RemoteSpan target;
  LocalSpan local;
  uint64_t a = 0;
  uint64_t b = 0;
};

inline constexpr uint64_t kMaxRequestBytes = (1ull << 31) - 1;  // `length` of the long form
inline constexpr uint64_t kMaxShortBytes = (1ull << 26) - 1;
inline constexpr uint64_t kShortAddress = (1ull << 48) - 1;
inline constexpr uint32_t kInlineBytesPerWord = 7;

HOST_DEVICE constexpr uint64_t FormBits(Form form) { return static_cast<uint64_t>(form) << 59; }
HOST_DEVICE constexpr Form FormOf(uint64_t low) { return static_cast<Form>((low >> 59) & 0xf); }

HOST_DEVICE constexpr bool HasLocal(Operation operation) {
  return operation != Operation::kPutInline && operation != Operation::kSignal;
}
HOST_DEVICE constexpr bool HasOperands(Operation operation) {
  return operation == Operation::kFetchAdd || operation == Operation::kCompareSwap ||
         operation == Operation::kSignal || operation == Operation::kPutImmediate ||
         operation == Operation::kSendImmediate;
}
HOST_DEVICE constexpr uint32_t SlotsOf(Operation operation, uint32_t inline_bytes) {
  constexpr uint32_t kEach = 2 * kInlineBytesPerWord;
  return 1 + HasLocal(operation) + HasOperands(operation) + (inline_bytes + kEach - 1) / kEach;
}

HOST_DEVICE constexpr Slot PutValueSlot(RemoteSpan target, uint64_t value, uint32_t bytes) {
  return {FormBits(Form::kPutValue) | uint64_t{bytes} << 55 | value >> 63 << 54 | target.address,
          value & ~kPhase};
}
HOST_DEVICE constexpr Slot MoveSlot(Form form, uint64_t remote, uint64_t local, uint64_t bytes) {
  return {FormBits(form) | (bytes & 0x7ff) << 48 | remote, bytes >> 11 << 48 | local};
}
HOST_DEVICE constexpr Slot KeysSlot(uint32_t rkey, uint32_t lkey) {
  return {FormBits(Form::kKeys) | rkey, lkey};
}

// The first slot of the long form.
HOST_DEVICE constexpr Slot HeadSlot(const Request& r) {
  return {FormBits(Form::kOperation) | static_cast<uint64_t>(r.operation) << 51 | r.a >> 63 << 50 |
              r.b >> 63 << 49 | uint64_t{r.inline_bytes} << 41 | uint64_t{r.fence} << 40 |
              r.target.rkey,
          r.target.address};
}
HOST_DEVICE constexpr Slot LocalSlot(const LocalSpan& local) {
  return {local.bytes << 32 | local.lkey, local.address};
}
HOST_DEVICE constexpr Slot OperandSlot(const Request& r) { return {r.a & ~kPhase, r.b & ~kPhase}; }

// The first `bytes`, up to 8, of a payload. Most are a word.
HOST_DEVICE uint64_t FirstWord(const void* payload, uint32_t bytes) {
  uint64_t word = 0;
  if (bytes == sizeof(word)) {
    memcpy(&word, payload, sizeof(word));
    return word;
  }
  for (uint32_t i = 0; i < bytes; ++i) {
    word |= uint64_t{static_cast<const unsigned char*>(payload)[i]} << (8 * i);
  }
  return word;
}

// Bytes [from, from + 7) of `bytes` in a word.
HOST_DEVICE uint64_t InlineWord(const void* payload, uint32_t bytes, uint32_t from) {
  uint64_t word = 0;
  for (uint32_t i = 0; i < kInlineBytesPerWord && from + i < bytes; ++i) {
    word |= uint64_t{static_cast<const unsigned char*>(payload)[from + i]} << (8 * i);
  }
  return word;
}

// The `i`-th slot, but the first, of the long form.
HOST_DEVICE Slot TailSlot(const Request& r, const void* payload, uint32_t i) {
  if (r.operation == Operation::kPutInline) {
    const uint32_t from = (i - 1) * 2 * kInlineBytesPerWord;
    return {InlineWord(payload, r.inline_bytes, from),
            InlineWord(payload, r.inline_bytes, from + kInlineBytesPerWord)};
  }
  return i == 1 && HasLocal(r.operation) ? LocalSlot(r.local) : OperandSlot(r);
}

// What a first slot says of its operation; the rest is in those that follow (ReadTail). `rkey` and
// `lkey` are those of the ring. Not of kKeys. Phases are taken off before.
struct Head {
  Request request;
  uint32_t slots = 1;
};
Head ReadHead(const Slot& slot, uint32_t rkey, uint32_t lkey);
// Takes the `i`-th slot, not the first, into the request; inline bytes go to `payload`.
void ReadTail(Request& request, const Slot& slot, uint32_t i, unsigned char* payload);

}  // namespace ringpost::proxy

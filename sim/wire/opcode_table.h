// opcode_table.h: which headers follow each opcode: what the predicates of `opcode.h` look up.
#pragma once

#include <array>
#include <cstdint>

namespace ringpost::sim::wire::opcode_table {

enum Trait : uint32_t {
  kKnown = 1 << 0,
  kRequest = 1 << 1,
  kResponse = 1 << 2,
  kStart = 1 << 3,  // a first or an only packet
  kEnd = 1 << 4,    // a last or an only packet
  kPayload = 1 << 5,
  kImmediate = 1 << 6,
  kIeth = 1 << 7,
  kReth = 1 << 8,
  kAeth = 1 << 9,
  kAtomicEth = 1 << 10,
  kAtomicAckEth = 1 << 11,
  kMaskedAtomicEth = 1 << 12,
  kDeth = 1 << 13,
  kDcHeader = 1 << 14,
  kSend = 1 << 15,
  kWrite = 1 << 16,
};

// What the lower five bits mean, on RC.
constexpr std::array<uint32_t, 32> Operations() {
  constexpr uint32_t kOnly = kKnown | kStart | kEnd, kFirst = kKnown | kStart;
  constexpr uint32_t kMiddle = kKnown, kLast = kKnown | kEnd;
  constexpr uint32_t kOfSend = kRequest | kPayload | kSend;
  constexpr uint32_t kOfWrite = kRequest | kPayload | kWrite;
  constexpr uint32_t kOfRead = kResponse | kPayload;
  return {
      kFirst | kOfSend,
      kMiddle | kOfSend,
      kLast | kOfSend,
      kLast | kOfSend | kImmediate,
      kOnly | kOfSend,
      kOnly | kOfSend | kImmediate,
      kFirst | kOfWrite | kReth,
      kMiddle | kOfWrite,
      kLast | kOfWrite,
      kLast | kOfWrite | kImmediate,
      kOnly | kOfWrite | kReth,
      kOnly | kOfWrite | kReth | kImmediate,
      kOnly | kRequest | kReth,  // read request
      kFirst | kOfRead | kAeth,
      kMiddle | kOfRead,
      kLast | kOfRead | kAeth,
      kOnly | kOfRead | kAeth,
      kOnly | kResponse | kAeth,
      kOnly | kResponse | kAeth | kAtomicAckEth,
      kOnly | kRequest | kAtomicEth,  // compare and swap
      kOnly | kRequest | kAtomicEth,  // fetch and add
      0,
      kLast | kOfSend | kIeth,
      kOnly | kOfSend | kIeth,
      kOnly | kRequest | kMaskedAtomicEth,
      kOnly | kRequest | kMaskedAtomicEth,
  };
}

constexpr std::array<uint32_t, 256> Build() {
  const std::array<uint32_t, 32> operations = Operations();
  std::array<uint32_t, 256> table{};
  for (unsigned i = 0; i < 0x18; ++i) table[i] = operations[i];
  for (unsigned i = 0; i < 0x0c; ++i) table[0x20 + i] = operations[i];
  for (unsigned i = 4; i < 6; ++i) table[0x60 + i] = operations[i] | kDeth;
  table[0x81] = kKnown | kStart | kEnd;
  for (unsigned i = 0x18; i < 0x1a; ++i) table[0xc0 + i] = operations[i];
  for (unsigned i = 0; i < 0x1a; ++i) {
    table[0xe0 + i] = operations[i] | ((operations[i] & kRequest) != 0 ? kDcHeader : 0u);
  }
  return table;
}

inline constexpr std::array<uint32_t, 256> kTable = Build();

}  // namespace ringpost::sim::wire::opcode_table

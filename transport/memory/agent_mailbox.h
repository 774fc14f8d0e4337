// agent_mailbox.h: what a host thread and an agent on a GPU share: commands and answers, in pinned
// host memory.
//
// A command is up to 32 words of 8 bytes, one for each lane of the agent's warp. Each carries the
// low half of its command's number in its upper half: so a word that is seen is known to be of this
// command, whatever the order in which words arrive, and one read over PCIe fetches a whole
// command. Answers are made alike. Numbers start at 1; command n is in slot n modulo kSlots.
#pragma once

#include <cstdint>

#include "transport/host_device.h"

namespace ringpost {

enum class AgentOp : uint8_t {
  kWrite,        // `size` bytes, at most kInlineBytes, from the arguments
  kWriteBulk,    // `size` bytes from the slot's bulk
  kRead,         // `size` bytes, at most kAnswerBytes, into the answer
  kReadBulk,     // `size` bytes into the slot's bulk
  kCompareSwap,  // of `size` bytes; arguments: expected, desired; answer: what was there
  // Arguments: ring, where its blocks are copied to, depth, the count that was read last. Answer:
  // the record. One new block follows in the answer; more are copied.
  kReadRecord,
  kSettle,
  kStop
};

struct AgentMailbox {
  static constexpr uint32_t kSlots = 64;
  static constexpr uint32_t kWords = 32;
  static constexpr uint32_t kArguments = 3;  // the word of the first
  static constexpr uint32_t kInlineBytes = 112;
  static constexpr uint32_t kAnswerBytes = 4 * kWords;
  static constexpr uint32_t kBulkBytes = 4096;

  alignas(128) uint64_t command[kSlots][kWords];
  uint64_t answer[kSlots][kWords];
  // How many commands have been carried out.
  alignas(128) uint64_t consumed;
  alignas(128) uint8_t bulk[kSlots][kBulkBytes];
};

// The first word of a command says what it is; the next two are the address.
HOST_DEVICE constexpr uint32_t AgentHeader(AgentOp op, uint32_t size) {
  return static_cast<uint32_t>(op) | size << 8;
}
HOST_DEVICE constexpr AgentOp OpOfHeader(uint32_t header) {
  return static_cast<AgentOp>(header & 0xff);
}
HOST_DEVICE constexpr uint32_t SizeOfHeader(uint32_t header) { return header >> 8; }

// How many words such a command has.
HOST_DEVICE constexpr uint32_t AgentWords(uint32_t header) {
  switch (OpOfHeader(header)) {
    case AgentOp::kWrite:
      return AgentMailbox::kArguments + (SizeOfHeader(header) + 3) / 4;
    case AgentOp::kCompareSwap:
      return AgentMailbox::kArguments + 4;
    case AgentOp::kReadRecord:
      return AgentMailbox::kArguments + 6;
    default:
      return AgentMailbox::kArguments;
  }
}

HOST_DEVICE constexpr uint64_t AgentWord(uint64_t number, uint32_t value) {
  return number << 32 | value;
}
HOST_DEVICE constexpr bool IsOfCommand(uint64_t word, uint64_t number) {
  return word >> 32 == (number & 0xffffffff);
}

// Blocks that a record announces beyond the `last` count; what no ring holds counts as none.
HOST_DEVICE constexpr uint32_t NewBlocks(uint32_t count, uint32_t last, uint32_t depth) {
  const uint32_t blocks = (count - last) & 0xffff;
  return blocks <= depth ? blocks : 0;
}

}  // namespace ringpost

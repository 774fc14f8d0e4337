// on_chip.h: what a NIC holds on chip of what lies in memory, given to it when it is made.
#pragma once

#include <cstdint>
#include <memory>

#include "sim/node/held_contexts.h"
#include "sim/node/translations.h"

namespace ringpost::sim {

struct OnChip {
  // QP contexts of each role; both may be one cache.
  std::shared_ptr<HeldContexts> of_requester, of_responder;
  std::unique_ptr<Translations> translations = nullptr;  // null: all of them
  std::shared_ptr<HeldContexts> wqes = nullptr;          // fetched and not sent; null: all
};

// The entry of a WQE among them, whose number is that of its first block, modulo the largest ring.
constexpr uint32_t WqeEntry(uint32_t qpn, uint32_t block) {
  return (qpn & 0xffff) << 15 | (block & 0x7fff);
}

}  // namespace ringpost::sim

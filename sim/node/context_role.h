// context_role.h: the QP contexts that a NIC holds for one of its roles: looked up and counted.
// What is kept from working meanwhile is for the caller to say.
//
// Two roles may share a cache of lines, of which a context has as many as the caller says; then
// each has keys of its own. All lines of a context are asked for at once, so that one miss or
// several take the same time, where as many may be under way.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "sim/engine/time.h"
#include "sim/node/held_contexts.h"

namespace ringpost::sim {

class ContextRole {
 public:
  explicit ContextRole(std::shared_ptr<HeldContexts> held, uint32_t first_line = 0)
      : held_(std::move(held)), first_line_(first_line) {}

  // How long it takes until the context of the QP is at hand.
  Duration Find(Time now, uint32_t qpn, uint32_t lines = 1) {
    // QPNs have 24 bits; the line is told apart by the other eight.
    const HeldContexts::Found found = held_->Find(now, qpn | first_line_ << 24, lines);
    if (found.where == Lookup::kMiss) {
      ++misses_;
    } else {
      ++hits_;
      if (found.where == Lookup::kSecondLevelHit) ++second_level_hits_;
    }
    return found.wait;
  }

  uint64_t Hits() const { return hits_; }  // of either level
  uint64_t SecondLevelHits() const { return second_level_hits_; }
  uint64_t Misses() const { return misses_; }
  uint64_t Evictions() const { return held_->Evictions(); }  // of a shared cache: of both roles

 private:
  std::shared_ptr<HeldContexts> held_;
  uint32_t first_line_;  // of this role's, where roles share the cache
  uint64_t hits_ = 0;
  uint64_t second_level_hits_ = 0;
  uint64_t misses_ = 0;
};

}  // namespace ringpost::sim

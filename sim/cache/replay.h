// replay.h: answers what was found in another run, or on hardware: the n-th look-up of an entry
// finds what its n-th look-up in the recording did. So the order among entries, which costs change,
// may be another one than when it was recorded.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "sim/cache/context_cache.h"
#include "sim/cache/lookup_file.h"

namespace ringpost::sim {

// What a look-up finds that was not recorded.
enum class Unrecorded : uint8_t {
  kRefuse,  // a miss, and the cache has a fault
  kMiss,
  kHit,
};

class ReplayCache final : public ContextCache {
 public:
  ReplayCache(std::string file, std::shared_ptr<const RecordedLookups> recorded, uint32_t node,
              Unrecorded unrecorded)
      : file_(std::move(file)),
        recorded_(std::move(recorded)),
        node_(node),
        unrecorded_(unrecorded) {
    const auto found = recorded_->nodes.find(node);
    if (found != recorded_->nodes.end()) entries_ = &found->second;
  }

  Lookup Access(uint32_t key) override {
    uint64_t& made = made_[key];
    const uint64_t before = made++;
    if (entries_ != nullptr) {
      const auto found = entries_->find(key);
      if (found != entries_->end() && before < found->second.size()) return found->second[before];
    }
    if (unrecorded_ == Unrecorded::kRefuse && fault_.empty()) {
      fault_ = fmt::format(
          "{} has {} look-ups of QP {}, line {}, at node {}, and the run makes another one; "
          "record the same workload, or give unrecorded: miss or hit",
          file_, before, key & 0xffffff, key >> 24, node_);
    }
    return unrecorded_ == Unrecorded::kHit ? Lookup::kHit : Lookup::kMiss;
  }
  uint64_t Evictions() const override { return 0; }  // a recording has none
  std::string Fault() const override { return fault_; }

 private:
  std::string file_;
  std::shared_ptr<const RecordedLookups> recorded_;
  const std::unordered_map<uint32_t, std::vector<Lookup>>* entries_ = nullptr;
  uint32_t node_;
  Unrecorded unrecorded_;
  std::unordered_map<uint32_t, uint64_t> made_;  // look-ups of each entry
  std::string fault_;
};

}  // namespace ringpost::sim

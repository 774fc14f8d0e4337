// plain_memory.h: memory as one array of bytes, for a NIC's function under test.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "sim/engine/check.h"
#include "sim/nic/dma.h"

namespace ringpost::sim {

class PlainMemory final : public Dma {
 public:
  struct Use {
    Purpose purpose;
    uint64_t index;
    uint64_t address;
    uint64_t size;
  };

  PlainMemory(uint64_t base, uint64_t bytes) : base_(base), bytes_(bytes) {}

  // What a range is for: what the NIC reads alone, payload, CQEs.
  enum class Kind : uint8_t { kQueue, kPayload, kCqes };

  // Hands out a range that nobody else has.
  uint64_t Allocate(uint64_t bytes, Kind kind = Kind::kQueue) {
    const uint64_t at = base_ + next_;
    next_ += (bytes + 63) / 64 * 64 + (guarded ? 64 : 0);
    if (next_ > bytes_.size()) bytes_.resize(2 * next_);
    ranges_.push_back({at, bytes, kind});
    return at;
  }
  // Of `guarded` memory: keys may lead here, but there is none.
  static constexpr uint64_t kAbsent = 0x700000000000;
  static constexpr uint64_t kAbsentBytes = 4096;
  bool Holds(uint64_t address, uint64_t size) const {
    return address >= base_ && address - base_ <= bytes_.size() &&
           size <= bytes_.size() - (address - base_);
  }
  uint8_t* At(uint64_t address) { return bytes_.data() + (address - base_); }

  bool Read(uint32_t, uint64_t address, void* bytes, uint64_t size) override {
    if (guarded && !Guard(address, size, {Kind::kQueue, Kind::kPayload})) return false;
    if (!Holds(address, size)) return false;
    std::memcpy(bytes, At(address), size);
    ++reads;
    return true;
  }
  void Consume(uint32_t, Purpose purpose, uint64_t index, uint64_t address,
               uint64_t size) override {
    if (guarded) Guard(address, size, {Kind::kQueue, Kind::kPayload});
    if (keep_uses) uses.push_back({purpose, index, address, size});
  }
  bool ReadRecord(uint32_t, uint64_t address, uint32_t* word) override {
    return Read(0, address, word, sizeof(*word));
  }
  bool Write(uint32_t, uint64_t address, const void* bytes, uint64_t size) override {
    if (guarded && !Guard(address, size, {Kind::kPayload})) return false;
    if (!Holds(address, size)) return false;
    std::memcpy(At(address), bytes, size);
    ++writes;
    return true;
  }
  bool WriteCqe(uint32_t, uint64_t address, const void* cqe) override {
    if (guarded && !Guard(address, 64, {Kind::kCqes})) return false;
    return Holds(address, 64) && (std::memcpy(At(address), cqe, 64), true);
  }

  // An access outside one range of its kind ends the program. Set it before the first Allocate.
  bool guarded = false;
  bool keep_uses = false;
  std::vector<Use> uses;
  uint64_t reads = 0;
  uint64_t writes = 0;

 private:
  struct Range {
    uint64_t begin, bytes;
    Kind kind;
  };
  // False where a key leads, but no memory is.
  bool Guard(uint64_t address, uint64_t size, std::initializer_list<Kind> kinds) const {
    const auto within = [&](uint64_t begin, uint64_t bytes) {
      return address >= begin && size <= bytes && address - begin <= bytes - size;
    };
    if (size == 0) return true;
    if (within(kAbsent, kAbsentBytes)) return false;
    const auto next = std::upper_bound(ranges_.begin(), ranges_.end(), address,
                                       [](uint64_t at, const Range& r) { return at < r.begin; });
    const bool found = next != ranges_.begin();
    const Range range = found ? *std::prev(next) : Range{};
    const bool allowed = found && within(range.begin, range.bytes) &&
                         std::find(kinds.begin(), kinds.end(), range.kind) != kinds.end();
    RINGPOST_CHECK(allowed, "an access outside what queues and keys allow");
    return true;
  }

  std::vector<Range> ranges_;
  uint64_t base_;
  uint64_t next_ = 0;
  std::vector<uint8_t> bytes_;
};

}  // namespace ringpost::sim

// plain_memory.h: memory as one array of bytes, for a NIC's function under test.
#pragma once

#include <cstring>
#include <vector>

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

  // Hands out a range that nobody else has.
  uint64_t Allocate(uint64_t bytes) {
    const uint64_t at = base_ + next_;
    next_ += (bytes + 63) / 64 * 64;
    if (next_ > bytes_.size()) bytes_.resize(2 * next_);
    return at;
  }
  bool Holds(uint64_t address, uint64_t size) const {
    return address >= base_ && address - base_ <= bytes_.size() &&
           size <= bytes_.size() - (address - base_);
  }
  uint8_t* At(uint64_t address) { return bytes_.data() + (address - base_); }

  bool Read(uint32_t, uint64_t address, void* bytes, uint64_t size) override {
    if (!Holds(address, size)) return false;
    std::memcpy(bytes, At(address), size);
    ++reads;
    return true;
  }
  void Consume(uint32_t, Purpose purpose, uint64_t index, uint64_t address,
               uint64_t size) override {
    if (keep_uses) uses.push_back({purpose, index, address, size});
  }
  bool ReadRecord(uint32_t, uint64_t address, uint32_t* word) override {
    return Read(0, address, word, sizeof(*word));
  }
  bool Write(uint32_t, uint64_t address, const void* bytes, uint64_t size) override {
    if (!Holds(address, size)) return false;
    std::memcpy(At(address), bytes, size);
    ++writes;
    return true;
  }
  bool WriteCqe(uint32_t, uint64_t address, const void* cqe) override {
    return Holds(address, 64) && (std::memcpy(At(address), cqe, 64), true);
  }

  bool keep_uses = false;
  std::vector<Use> uses;
  uint64_t reads = 0;
  uint64_t writes = 0;

 private:
  uint64_t base_;
  uint64_t next_ = 0;
  std::vector<uint8_t> bytes_;
};

}  // namespace ringpost::sim

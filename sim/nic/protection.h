// protection.h: protection domains and memory keys: lkey and rkey to address range and rights (PRM
// "MKey Context").
//
// A key is slot[31:24] index[23:8] variant[7:0]: each NIC hands out keys of its own range, and a
// new registration of an index has another variant.
#pragma once

#include <cstdint>
#include <vector>

namespace ringpost::sim {

enum Right : uint8_t {
  kMayWriteLocally = 1,
  kMayWriteRemotely = 2,
  kMayReadRemotely = 4,
  kMayUseAtomics = 8,
  kMayInvalidateRemotely = 16,
};

// `iova` is how WQEs and peers name the first byte, `address` how this NIC's DMA does.
struct MemoryRegion {
  uint64_t iova = 0;
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint32_t pd = 0;
  uint8_t rights = 0;
};

class Protection {
 public:
  explicit Protection(uint8_t slot) : slot_(slot) {}

  uint32_t AllocatePd() {
    pds_.push_back(0);
    return static_cast<uint32_t>(pds_.size());
  }
  bool HasPd(uint32_t pd) const { return pd != 0 && pd <= pds_.size() && pds_[pd - 1] != kFreed; }
  // Keys, QPs and SRQs use a domain; one in use is not freed.
  void UsePd(uint32_t pd) { ++pds_[pd - 1]; }
  void LeavePd(uint32_t pd) { --pds_[pd - 1]; }
  bool FreePd(uint32_t pd) {
    if (!HasPd(pd) || pds_[pd - 1] != 0) return false;
    pds_[pd - 1] = kFreed;
    return true;
  }

  // The key serves as lkey and as rkey; 0 where the domain is unknown, the range is empty or wraps,
  // or no key is left. Software may choose the variant.
  uint32_t Register(const MemoryRegion& region) { return Register(region, -1); }
  uint32_t Register(const MemoryRegion& region, int variant);
  static constexpr uint32_t kKeys = 1 << 16;
  bool Deregister(uint32_t key);
  // The key stands for another region from now on; false, and no change, where that cannot be.
  bool Change(uint32_t key, const MemoryRegion& region);
  // What a SEND with invalidate does to a key; false if it must not.
  bool Invalidate(uint32_t key, uint32_t pd);

  // Whether `key` allows all of [iova, iova + bytes) with `rights` in domain `pd`; then `address`
  // is where DMA finds it. Cannot wrap.
  bool Translate(uint32_t key, uint32_t pd, uint64_t iova, uint64_t bytes, uint8_t rights,
                 uint64_t* address) const {
    const uint32_t index = (key >> 8) & 0xffff;
    if ((key >> 24) != slot_ || index >= entries_.size()) return false;
    const Entry& entry = entries_[index];
    if (!entry.valid || entry.variant != (key & 0xff) || entry.region.pd != pd) return false;
    if ((entry.region.rights & rights) != rights || iova < entry.region.iova) return false;
    const uint64_t offset = iova - entry.region.iova;
    if (offset > entry.region.bytes || bytes > entry.region.bytes - offset) return false;
    *address = entry.region.address + offset;
    return true;
  }

 private:
  struct Entry {
    MemoryRegion region;
    uint8_t variant = 0;
    bool valid = false;
  };
  Entry* Find(uint32_t key);

  uint8_t slot_;
  static constexpr uint32_t kFreed = 0xffffffff;
  std::vector<uint32_t> pds_;  // users
  // Index 0 is never a key, and key 0x100 ends a receive list.
  std::vector<Entry> entries_ = std::vector<Entry>(2);
  std::vector<uint32_t> free_;
};

}  // namespace ringpost::sim

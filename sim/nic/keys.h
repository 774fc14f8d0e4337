// keys.h: registered memory: lkey and rkey to address range and rights (PRM "MKey Context").
#pragma once

#include <cstdint>
#include <vector>

namespace ringpost::sim {

enum AccessRights : uint8_t {
  kLocalWrite = 1,
  kRemoteWrite = 2,
  kRemoteRead = 4,
  kRemoteAtomic = 8,
};

class KeyTable {
 public:
  // Registers [address, address + bytes); the key serves as lkey and as rkey. bytes > 0.
  uint32_t Register(uint64_t address, uint64_t bytes, uint8_t rights);
  void Deregister(uint32_t key);

  // Whether `key` allows all of [address, address + bytes) with `rights`. Cannot wrap.
  bool Allows(uint32_t key, uint64_t address, uint64_t bytes, uint8_t rights) const;

 private:
  struct Entry {
    uint64_t address = 0;
    uint64_t bytes = 0;
    uint8_t rights = 0;
    uint8_t variant = 0;  // key[7:0]; a new registration of an index has another one
    bool valid = false;
  };
  std::vector<Entry> entries_ = std::vector<Entry>(1);  // index 0 is never a key
};

}  // namespace ringpost::sim

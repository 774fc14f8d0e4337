// device_access.h: how one thread of the host reaches memory that it cannot load from: a GPU's.
//
// One thread uses an object. All functions but Write return when the bytes are there; writes are
// carried out in order, and before anything asked for later. False: the device answers no more.
#pragma once

#include <cstdint>

namespace ringpost {

// A ring of 64-byte blocks in such memory, and the record (4 bytes, big-endian, of which 16 bits
// count) that says how many have been posted.
struct AnnouncedRing {
  uint64_t record = 0;
  uint64_t ring = 0;
  uint32_t depth = 0;  // blocks, a power of two
};

class DeviceAccess {
 public:
  virtual ~DeviceAccess() = default;

  virtual bool Read(uint64_t address, void* bytes, uint64_t size) = 0;

  // Pieces of 8, or else 4, bytes become visible whole where the address allows; the last of up to
  // 112 bytes not before the others. Threads of the device see them in order.
  virtual bool Write(uint64_t address, const void* bytes, uint64_t size) = 0;

  // Everything written is seen by everybody.
  virtual bool Settle() = 0;

  // Of 4 or 8 aligned bytes; atomic also against the device's threads. `expected` gets what was
  // there: `desired` was stored if that is what it was.
  virtual bool CompareSwap(uint64_t address, uint32_t bytes, uint64_t* expected,
                           uint64_t desired) = 0;

  // Reading the record of a watched ring also fetches the blocks that it announces, so that reading
  // those costs nothing more.
  virtual void Watch(const AnnouncedRing& ring) = 0;
  virtual void Unwatch(uint64_t record) = 0;
  // An acquire: what the record announces is read as it was posted.
  virtual bool ReadRecord(uint64_t address, uint32_t* word) = 0;
};

}  // namespace ringpost

// dma.h: how the NIC's function reaches memory: bytes in and out, with no notion of time.
//
// Whoever drives the function implements this: virtual time over simulated memory, the live
// service over this process's own. What is used of a read is told apart from the read, with its
// purpose: a WQE is read by whole blocks, but only its own bytes must have been ordered. Functions
// return false, and touch nothing, where no memory is.
#pragma once

#include <cstdint>

namespace ringpost::sim {

// kReceiveWqe: `index` is the slot in its receive queue.
enum class Purpose : uint8_t { kWqe, kPayload, kRecord, kReceiveWqe };

class Dma {
 public:
  virtual ~Dma() = default;
  // On behalf of QP `qpn`.
  // The NIC goes on by what this word says: it takes over what the word's store passes on.
  virtual bool ReadRecord(uint32_t qpn, uint64_t address, uint32_t* word) = 0;
  virtual bool Read(uint32_t qpn, uint64_t address, void* bytes, uint64_t size) = 0;
  // [address, address + size) is used for this; `index` is the WQE's, in WQEBBs. Of a record it is
  // the producer that doorbells have announced: what the record has beyond waits for its doorbell.
  virtual void Consume(uint32_t qpn, Purpose purpose, uint64_t index, uint64_t address,
                       uint64_t size) = 0;
  // Writes of one QP become visible in the order of the calls.
  virtual bool Write(uint32_t qpn, uint64_t address, const void* bytes, uint64_t size) = 0;
  virtual bool WriteCqe(uint32_t qpn, uint64_t address, const void* cqe) = 0;
  // Replaces the word of 4 or 8 bytes, in host order, by `next(context, old)`; what it was goes to
  // `original`. Atomic against all that this NIC does, and against others where the driver can.
  using NextFn = uint64_t (*)(const void* context, uint64_t old);
  virtual bool Modify(uint32_t qpn, uint64_t address, uint32_t bytes, NextFn next,
                      const void* context, uint64_t* original) {
    uint64_t word = 0;
    if (!Read(qpn, address, &word, bytes)) return false;
    *original = word;
    word = next(context, word);
    return Write(qpn, address, &word, bytes);
  }
};

}  // namespace ringpost::sim

// dma.h: how the NIC's function reaches memory: bytes in and out, with no notion of time.
//
// Whoever drives the function implements this: virtual time over simulated memory, the live
// service over this process's own. Reads name their purpose, so that the ordering checker can say
// what was consumed. Functions return false, and touch nothing, where no memory is.
#pragma once

#include <cstdint>

namespace ringpost::sim {

enum class Purpose : uint8_t { kWqe, kPayload, kRecord };

class Dma {
 public:
  virtual ~Dma() = default;
  // On behalf of QP `qpn`; `index` is the WQE's index in WQEBBs.
  virtual bool Read(uint32_t qpn, Purpose purpose, uint64_t index, uint64_t address, void* bytes,
                    uint64_t size) = 0;
  // Writes of one QP become visible in the order of the calls.
  virtual bool Write(uint32_t qpn, uint64_t address, const void* bytes, uint64_t size) = 0;
  virtual bool WriteCqe(uint32_t qpn, uint64_t address, const void* cqe) = 0;
};

}  // namespace ringpost::sim

// receive_queue.h: posted receives: the ring of a QP, or the linked list of a shared queue (SRQ).
#pragma once

#include <cstdint>

#include "sim/nic/dma.h"
#include "sim/nic/protection.h"

namespace ringpost::sim {

inline constexpr uint32_t kMaxReceiveWqeBytes = 512;
inline constexpr uint32_t kEndOfListKey = 0x100;

struct ReceiveQueueConfig {
  uint64_t ring = 0;
  uint64_t record = 0;  // the big-endian count of posted WQEs
  uint32_t wqes = 0;    // a power of two; 0: there is no receive queue
  uint32_t stride = 16;
  bool linked = false;  // an SRQ
};

// A receive that a message has taken.
struct ReceiveWqe {
  uint16_t index = 0;
  bool taken = false;
};

// kUnreadable: the ring or its record is not there.
enum class Receives : uint8_t { kTaken, kNone, kUnreadable };

enum class Scatter : uint8_t { kOk, kTooLong, kProtection };

class ReceiveQueue {
 public:
  void Prepare(const ReceiveQueueConfig& config) {
    config_ = config;
    Reset();
  }
  const ReceiveQueueConfig& Config() const { return config_; }
  bool Exists() const { return config_.wqes != 0; }
  void Reset() { taken_ = posted_ = next_ = 0; }

  // Reads how many are posted; a count that cannot be meant changes nothing. False if it cannot be
  // read.
  bool Refresh(Dma& dma, uint32_t qpn);
  // Takes the next posted WQE on behalf of QP `qpn`.
  Receives Take(Dma& dma, uint32_t qpn, ReceiveWqe* wqe);
  // Places `bytes` of a message at `offset` of the WQE's list.
  Scatter Place(Dma& dma, uint32_t qpn, const Protection& keys, uint32_t pd, const ReceiveWqe& wqe,
                uint64_t offset, const uint8_t* data, uint64_t bytes) const;
  // Whether the WQE's list holds so much.
  Scatter Holds(Dma& dma, uint32_t qpn, const ReceiveWqe& wqe, uint64_t bytes) const;
  // Posted and not taken, as far as it is known.
  uint32_t Taken() const { return taken_; }  // 16 bits
  uint32_t Available() const { return (posted_ - taken_) & 0xffff; }

 private:
  struct Entry {
    uint32_t bytes;
    uint32_t key;
    uint64_t address;
  };
  struct List {
    Entry entries[kMaxReceiveWqeBytes / 16];
    uint32_t count = 0;
    uint16_t next = 0;
    uint32_t used_bytes = 0;
  };
  bool Load(Dma& dma, uint32_t qpn, uint32_t index, List* list) const;

  ReceiveQueueConfig config_;
  uint32_t taken_ = 0;   // 16 bits
  uint32_t posted_ = 0;  // 16 bits
  uint32_t next_ = 0;    // where the linked list goes on
};

// A queue that QPs share.
struct Srq {
  uint32_t srqn = 0;
  uint32_t pd = 0;
  uint32_t limit = 0;  // software is to hear when fewer are posted; 0: no more
  uint32_t users = 0;  // QPs
  ReceiveQueue queue;
};

}  // namespace ringpost::sim

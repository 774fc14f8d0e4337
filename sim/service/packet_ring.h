// packet_ring.h: packets in shared memory, from many producers to one consumer.
//
// No locks. Zeroed memory is an empty ring. A full ring drops, as a wire does, and counts. A record
// is *reserved*, written, and *committed*: reserving is one compare-exchange of the word before the
// record's first cell, which then says how long it is and whose. Everybody can therefore finish for
// a process that is killed at any instant: the next producer moves `tail`, and the consumer skips a
// reservation whose owner has died. The consumer can be killed as well: what its successor finds is
// consistent, see RingConsumer::Recover().
//
//   PacketRing ring(memory, cells);
//   ring.Push(packet, producer, source);                        // any thread of any process
//   RingConsumer consumer(ring, is_running);                    // one thread
//   while (consumer.Pop(packet, source)) Handle(packet);
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "sim/service/doorbell_word.h"
#include "sim/service/ring_word.h"
#include "sim/wire/packet.h"

namespace ringpost::sim::service {

struct alignas(64) RingCell {
  static constexpr size_t kBytes = 56;
  std::atomic<uint64_t> word;  // RingWord
  uint8_t bytes[kBytes];
};
static_assert(sizeof(RingCell) == 64);

struct RingHeader {
  // Positions count cells and never wrap.
  alignas(64) std::atomic<uint64_t> tail;  // the next reservation, or the one before it
  alignas(64) std::atomic<uint64_t> head;  // cells before it are free; the consumer moves it
  alignas(64) std::atomic<uint64_t> dropped;
  alignas(64) DoorbellWord doorbell;
};

// A view: copies are the same ring.
class PacketRing {
 public:
  // `cells` is a power of two, kMinCells at least. `memory` is aligned to a cache line.
  static constexpr uint32_t kMinCells = 256;
  static constexpr size_t BytesFor(uint32_t cells) {
    return sizeof(RingHeader) + cells * sizeof(RingCell);
  }
  PacketRing(void* memory, uint32_t cells);

  // False: the ring was full, and the packet is lost.
  bool Push(const wire::Packet& packet, Producer producer, uint16_t source);

  // The halves of Push().
  struct Reservation {
    uint64_t position = 0;
    uint32_t cells = 0;
    Producer producer;
  };
  std::optional<Reservation> Reserve(size_t bytes, Producer producer);
  void Commit(const Reservation& reservation);

  uint64_t Dropped() const { return header_->dropped.load(std::memory_order_relaxed); }
  DoorbellWord& Doorbell() const { return header_->doorbell; }

 private:
  friend class RingConsumer;
  friend class CellCursor;

  RingCell& CellAt(uint64_t position) const { return cells_[position & (count_ - 1)]; }
  uint64_t LapOf(uint64_t position) const { return position >> shift_ & RingWord::kLapMask; }
  bool HasRoom(uint64_t position, uint64_t cells) const {
    return position + cells <= header_->head.load(std::memory_order_acquire) + count_;
  }
  void Help(uint64_t position, uint32_t cells) const;

  RingHeader* header_;
  RingCell* cells_;
  uint64_t count_;
  int shift_;
};

// The receiving end: one thread at a time, one object for each owner of the ring.
class RingConsumer {
 public:
  // Whether a producer still runs. Asked only about one that keeps the ring waiting.
  using IsRunning = std::function<bool(Producer)>;
  RingConsumer(PacketRing ring, IsRunning is_running);

  // False: there is nothing to read now.
  bool Pop(wire::Packet& packet, uint16_t& source);

  // Throws away what was there before: a new owner's first step.
  void Discard();

  // Until there may be something to read, or the time is over.
  void Sleep(std::chrono::nanoseconds timeout);

  uint64_t Abandoned() const { return abandoned_; }  // reservations of dead producers
  uint64_t Corrupt() const { return corrupt_; }      // records that hold no packet

 private:
  static constexpr uint32_t kPollsPerCheck = 1 << 14;

  // The word at the head if it belongs to a record of this lap.
  std::optional<RingWord> Front();
  void Recover();
  void SkipIfAbandoned(RingWord word);
  void Release(uint32_t cells);
  bool Read(uint32_t cells, wire::Packet& packet, uint16_t& source);

  PacketRing ring_;
  IsRunning is_running_;
  uint64_t head_;
  uint64_t published_head_;
  uint64_t checked_word_ = 0;
  uint32_t polls_ = 0;
  uint64_t abandoned_ = 0;
  uint64_t corrupt_ = 0;
};

}  // namespace ringpost::sim::service

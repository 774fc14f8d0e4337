#include "sim/service/packet_ring.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "sim/engine/check.h"
#include "sim/service/packet_bytes.h"
#include "sim/wire/wire_sizes.h"

namespace ringpost::sim::service {

static_assert(std::atomic<uint64_t>::is_always_lock_free);

namespace {

constexpr uint32_t CellsFor(size_t bytes) {
  return static_cast<uint32_t>((bytes + RingCell::kBytes - 1) / RingCell::kBytes);
}

// So that the largest record and the padding before it fit into a ring whose head lags.
static_assert(CellsFor(kMaxFieldBytes + wire::kMaxPayloadBytes) < PacketRing::kMinCells / 2);

}  // namespace

// Bytes that run through the cells of one record.
class CellCursor {
 public:
  CellCursor(const PacketRing& ring, uint64_t position) : cell_(&ring.CellAt(position)) {}

  void Put(const uint8_t* bytes, size_t count) {
    Run(count, [&](uint8_t* place, size_t n) {
      std::memcpy(place, bytes, n);
      bytes += n;
    });
  }
  void Take(uint8_t* bytes, size_t count) {
    Run(count, [&](const uint8_t* place, size_t n) {
      std::memcpy(bytes, place, n);
      bytes += n;
    });
  }
  void Skip(size_t count) {
    cell_ += count / RingCell::kBytes;
    offset_ = count % RingCell::kBytes;
  }

 private:
  template <class Copy>
  void Run(size_t count, Copy&& copy) {
    while (count > 0) {
      if (offset_ == RingCell::kBytes) {
        ++cell_;
        offset_ = 0;
      }
      const size_t n = std::min(count, RingCell::kBytes - offset_);
      copy(cell_->bytes + offset_, n);
      offset_ += n;
      count -= n;
    }
  }

  RingCell* cell_;
  size_t offset_ = 0;
};

PacketRing::PacketRing(void* memory, uint32_t cells)
    : header_(static_cast<RingHeader*>(memory)),
      cells_(reinterpret_cast<RingCell*>(header_ + 1)),
      count_(cells),
      shift_(std::countr_zero(cells)) {
  RINGPOST_CHECK(std::has_single_bit(cells) && cells >= kMinCells, "a ring's size");
}

void PacketRing::Help(uint64_t position, uint32_t cells) const {
  header_->tail.compare_exchange_strong(position, position + cells, std::memory_order_acq_rel);
}

std::optional<PacketRing::Reservation> PacketRing::Reserve(size_t bytes, Producer producer) {
  const uint32_t wanted = CellsFor(bytes);
  for (;;) {
    const uint64_t position = header_->tail.load(std::memory_order_acquire);
    const uint64_t lap = LapOf(position);
    std::atomic<uint64_t>& word = CellAt(position).word;
    uint64_t found = word.load(std::memory_order_acquire);
    if (found == RingWord::Free(lap)) {
      // A record does not wrap: what is left at the end is skipped.
      const auto left = static_cast<uint32_t>(count_ - (position & (count_ - 1)));
      const bool fits = left >= wanted;
      const uint32_t cells = fits ? wanted : left;
      if (!HasRoom(position, cells)) break;
      const RingWord claim{fits ? RingWord::kReserved : RingWord::kSkipped, cells, producer, lap};
      if (!word.compare_exchange_strong(found, claim.Bits(), std::memory_order_acq_rel)) continue;
      Help(position, cells);
      if (fits) return Reservation{position, cells, producer};
    } else if (const RingWord other = RingWord::Of(found); other.lap == lap) {
      Help(position, other.cells);  // its owner has not moved `tail` yet, or never will
    } else if (header_->tail.load(std::memory_order_acquire) == position) {
      break;  // a record of the lap before stands there
    }
  }
  header_->dropped.fetch_add(1, std::memory_order_relaxed);
  return std::nullopt;
}

void PacketRing::Commit(const Reservation& reservation) {
  const RingWord word{RingWord::kCommitted, reservation.cells, reservation.producer,
                      LapOf(reservation.position)};
  std::atomic<uint64_t>& place = CellAt(reservation.position).word;
  // Release: the consumer's acquire of this word makes the record's bytes visible to it.
  if (!header_->doorbell.MaySleep()) {
    place.store(word.Bits(), std::memory_order_release);
    return;
  }
  place.store(word.Bits(), std::memory_order_seq_cst);  // before Ring() looks for a sleeper
  header_->doorbell.Ring();
}

bool PacketRing::Push(const wire::Packet& packet, Producer producer, uint16_t source) {
  std::array<uint8_t, kMaxFieldBytes> fields;
  const size_t field_bytes = PackFields(packet, source, fields);
  const auto reservation = Reserve(field_bytes + packet.payload.size(), producer);
  if (!reservation) return false;
  CellCursor cursor(*this, reservation->position);
  cursor.Put(fields.data(), field_bytes);
  cursor.Put(packet.payload.data(), packet.payload.size());
  Commit(*reservation);
  return true;
}

RingConsumer::RingConsumer(PacketRing ring, IsRunning is_running)
    : ring_(ring),
      is_running_(std::move(is_running)),
      head_(ring.header_->head.load(std::memory_order_relaxed)),
      published_head_(head_) {
  Recover();
}

// The owner before may have freed cells and died before it moved `head`. Cells are freed from a
// record's last to its first, and records in order: so behind `head` stand free cells of the next
// lap up to the first record that is not freed, or only partly, whose word still tells its length.
void RingConsumer::Recover() {
  while (ring_.CellAt(head_).word.load(std::memory_order_acquire) ==
         RingWord::Free(ring_.LapOf(head_) + 1)) {
    ++head_;
  }
  published_head_ = head_;
  ring_.header_->head.store(head_, std::memory_order_release);
}

std::optional<RingWord> RingConsumer::Front() {
  // Acquire: pairs with Commit().
  const uint64_t bits = ring_.CellAt(head_).word.load(std::memory_order_acquire);
  const RingWord word = RingWord::Of(bits);
  if (word.state == RingWord::kFree || word.lap != ring_.LapOf(head_)) return std::nullopt;
  return word;
}

bool RingConsumer::Pop(wire::Packet& packet, uint16_t& source) {
  for (;;) {
    const std::optional<RingWord> word = Front();
    if (!word) return false;
    if (word->state == RingWord::kReserved) {
      SkipIfAbandoned(*word);
      return false;
    }
    if (word->state == RingWord::kSkipped) {
      // Its producer may not have moved `tail`; once the cell is free nobody else could.
      ring_.Help(head_, word->cells);
      Release(word->cells);
      continue;
    }
    const bool is_packet = Read(word->cells, packet, source);
    Release(word->cells);
    if (is_packet) return true;
    ++corrupt_;
  }
}

bool RingConsumer::Read(uint32_t cells, wire::Packet& packet, uint16_t& source) {
  const size_t bytes = cells * RingCell::kBytes;
  std::array<uint8_t, kMaxFieldBytes> fields;
  const size_t most = std::min(bytes, fields.size());
  CellCursor(ring_, head_).Take(fields.data(), most);
  const UnpackedFields unpacked = UnpackFields(std::span(fields).first(most), packet);
  if (unpacked.field_bytes == 0 || unpacked.field_bytes + unpacked.payload_bytes > bytes) {
    return false;
  }
  packet.payload.resize(unpacked.payload_bytes, boost::container::default_init);
  CellCursor cursor(ring_, head_);
  cursor.Skip(unpacked.field_bytes);
  cursor.Take(packet.payload.data(), packet.payload.size());
  source = unpacked.source;
  return true;
}

void RingConsumer::SkipIfAbandoned(RingWord word) {
  const uint64_t bits = word.Bits();
  if (bits != checked_word_) {
    checked_word_ = bits;
    polls_ = 0;
  }
  if (++polls_ % kPollsPerCheck != 0 || is_running_(word.producer)) return;
  RingWord skipped = word;
  skipped.state = RingWord::kSkipped;
  uint64_t expected = bits;
  // It may have committed just before it died.
  if (ring_.CellAt(head_).word.compare_exchange_strong(expected, skipped.Bits(),
                                                       std::memory_order_acq_rel)) {
    ++abandoned_;
  }
}

void RingConsumer::Release(uint32_t cells) {
  for (uint64_t i = cells; i-- > 0;) {
    const uint64_t position = head_ + i;
    ring_.CellAt(position).word.store(RingWord::Free(ring_.LapOf(position) + 1),
                                      std::memory_order_release);
  }
  head_ += cells;
  // Seldom, as every producer reads that line. Release: what was read from the cells, and their
  // words, come before a producer takes them again.
  if (head_ - published_head_ < ring_.count_ / 8) return;
  published_head_ = head_;
  ring_.header_->head.store(head_, std::memory_order_release);
}

void RingConsumer::Discard() {
  const uint64_t end = ring_.header_->tail.load(std::memory_order_acquire);
  while (head_ < end) {
    const std::optional<RingWord> word = Front();
    if (!word) return;
    if (word->state == RingWord::kReserved) {
      if (is_running_(word->producer)) return;  // Pop() will meet it
      polls_ = kPollsPerCheck - 1;
      checked_word_ = word->Bits();
      SkipIfAbandoned(*word);
      continue;
    }
    ring_.Help(head_, word->cells);
    Release(word->cells);
  }
}

void RingConsumer::Sleep(std::chrono::nanoseconds timeout) {
  RINGPOST_CHECK(ring_.Doorbell().MaySleep(), "a sleeper that nobody will wake");
  ring_.Doorbell().Sleep(timeout, [&] {
    const auto bits = ring_.CellAt(head_).word.load(std::memory_order_seq_cst);
    const RingWord word = RingWord::Of(bits);
    return word.state > RingWord::kReserved && word.lap == ring_.LapOf(head_);
  });
}

}  // namespace ringpost::sim::service

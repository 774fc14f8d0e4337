// line.h: 64 bytes of simulated memory and the stores that not everybody has to see yet.
//
// `data` and `origins` are settled: what every reader sees unless a newer message overlays it.
// `pending` lists newer messages, oldest first, in coherence order. A message is one access.
#pragma once

#include <cstdint>
#include <cstring>

#include "sim/memory/agent.h"
#include "sim/memory/home.h"

namespace ringpost::sim {

inline constexpr uint32_t kLineBytes = 64;

// The program point of an access in 8 bytes: the compiler's file name (addresses have 48 bits) and
// the line.
class PackedSite {
 public:
  PackedSite() = default;
  explicit PackedSite(Site site)
      : bits_((reinterpret_cast<uint64_t>(site.file) << 16) | (site.line & 0xffff)) {}
  Site Unpack() const {
    return {reinterpret_cast<const char*>(bits_ >> 16), static_cast<uint32_t>(bits_ & 0xffff)};
  }

 private:
  uint64_t bits_ = 0;
};

// The bytes [offset, offset + size) of a line.
constexpr uint64_t MaskOf(uint32_t offset, uint32_t size) {
  return (size == 64 ? ~0ull : ((1ull << size) - 1)) << offset;
}

// Who stored some bytes. A word of the host, which copies it as one.
struct Storer {
  AgentId agent = 0;
  int8_t self_scope = -1;  // a release: passes on the writer's stores up to a stamp, this widely
  bool strong = false;
  uint8_t first = 0;  // it stored the bytes [first, first + size) of its line
  uint8_t size = 0;

  uint64_t Mask() const { return MaskOf(first, size); }
};
static_assert(sizeof(Storer) == 8);

// And what reading them strongly passes on.
struct Origin : Storer {
  uint64_t stamp = 0;
  PackedSite site;
  ReleasedRef released;
};

// Two cache lines of the host: what there is to know, and the bytes.
struct alignas(kLineBytes) Message {
  Message* next = nullptr;  // newer
  Origin origin;
  Time created;  // before this it does not exist for anybody
  Time settles;  // from here on it is the past for everybody; `timed`: from here on all see it
  uint64_t id = 0;
  alignas(kLineBytes) uint8_t data[kLineBytes];
};
static_assert(sizeof(Message) == 2 * kLineBytes);

struct OriginNode {
  OriginNode* next = nullptr;
  uint64_t mask = 0;  // bit i: byte i of the line has not been stored since
  Origin origin;
};

// One agent waiting for a line to change. Linked into the line while parked.
struct Watch {
  Watch* next = nullptr;
  void* owner = nullptr;
  AgentId agent = 0;
  struct Line* line = nullptr;
};

// What only lines have that threads wait for or run atomics on.
struct LineExtra {
  Watch* watchers = nullptr;
  int64_t atomics_free_ps = 0;  // when the next atomic on this line may be performed
};

// Two cache lines of the host: the bytes, and what there is to know about them. Most lines are
// written as a whole or always in the same place, so the first origin has room here.
struct alignas(2 * kLineBytes) Line {
  uint8_t data[kLineBytes] = {};
  OriginNode newest;  // then older ones, of other bytes; an empty mask: none
  Message* pending = nullptr;
  uint32_t version = 0;  // counts the stores: a poller that saw this one has seen them all
  uint32_t extra = 0;    // the number of its LineExtra; 0: none
};
static_assert(sizeof(Line) == 2 * kLineBytes);

// A line, and where its memory is; null outside allocated memory.
struct LinePlace {
  Line* line = nullptr;
  Home home;
};

// Coherence order is the order of creation; of equal times, the order of the calls.
inline void Insert(Line& line, Message& message) {
  Message** link = &line.pending;
  while (*link != nullptr && !(message.created < (*link)->created)) link = &(*link)->next;
  message.next = *link;
  *link = &message;
}

// memcpy for parts of a line; most are whole words or segments.
inline void CopyPart(void* to, const void* from, uint32_t size) {
  auto* target = static_cast<uint8_t*>(to);
  const auto* source = static_cast<const uint8_t*>(from);
  if (size == sizeof(uint64_t)) {
    std::memcpy(target, source, sizeof(uint64_t));
  } else if (size % 16 == 0) {
    for (uint32_t i = 0; i < size; i += 16) std::memcpy(target + i, source + i, 16);
  } else {
    std::memcpy(target, source, size);
  }
}

}  // namespace ringpost::sim

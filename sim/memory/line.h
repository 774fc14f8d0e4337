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

// Who wrote some bytes, and what reading them strongly passes on.
struct Origin {
  uint64_t mask = 0;  // bit i: byte i of the line
  uint64_t stamp = 0;
  PackedSite site;
  ReleasedRef released;
  AgentId agent = 0;
  int8_t self_scope = -1;  // a release: passes on the writer's stores up to `stamp`, this widely
  bool strong = false;
};

struct Message {
  Message* next = nullptr;  // newer
  Origin origin;
  Time created;  // before this it does not exist for anybody
  Time arrival;  // `timed`: from here on everybody sees it
  Time settles;  // from here on it is the past for everybody, in this mode
  Home home;
  uint64_t id = 0;
  uint8_t data[kLineBytes];
};

struct OriginNode {
  OriginNode* next = nullptr;
  Origin origin;
};

// One agent waiting for a line to change. Linked into the line while parked.
struct Watch {
  Watch* next = nullptr;
  void* owner = nullptr;
  AgentId agent = 0;
  struct Line* line = nullptr;
};

struct Line {
  uint8_t data[kLineBytes] = {};
  OriginNode* origins = nullptr;
  Message* pending = nullptr;
  Watch* watchers = nullptr;
  int64_t atomics_free_ps = 0;  // when the next atomic on this line may be performed
  uint32_t version = 0;         // counts the stores: a poller that saw this one has seen them all
};

// The bytes [offset, offset + size) of a line.
constexpr uint64_t MaskOf(uint32_t offset, uint32_t size) {
  return (size == 64 ? ~0ull : ((1ull << size) - 1)) << offset;
}

}  // namespace ringpost::sim

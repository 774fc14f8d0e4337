// The accesses that write: each line that one touches gets a message.
#include <algorithm>
#include <cstring>

#include "sim/memory/memory.h"

namespace ringpost::sim {
namespace {

// By words, as what a thread stores was made by words just before: a wider load of them would have
// to wait until they are out of the host's store buffer.
void CopyAnyWords(uint8_t* to, const uint8_t* from, uint32_t size) {
  const auto copy = [&](uint32_t at) { std::memcpy(to + at, from + at, 4); };
  for (; size >= 16; size -= 16, to += 16, from += 16) copy(0), copy(4), copy(8), copy(12);
  for (; size >= 4; size -= 4, to += 4, from += 4) copy(0);
  for (; size != 0; --size) *to++ = *from++;
}

// Most are a word of a program, or the segments of a WQE.
[[gnu::always_inline]] inline void CopyWords(uint8_t* to, const uint8_t* from, uint32_t size) {
  if (size == sizeof(uint64_t)) {
    std::memcpy(to, from, 4);
    std::memcpy(to + 4, from + 4, 4);
  } else {
    CopyAnyWords(to, from, size);
  }
}

// The one that will be taken next: it has gone cold since it was given back.
void PrefetchMessage(const Message* message) {
  for (size_t i = 0; i < sizeof(*message); i += kLineBytes) {
    __builtin_prefetch(reinterpret_cast<const char*>(message) + i, 1);
  }
}

// A device's writes fold in what is due: with a simulated thread's it would take more of its stack,
// a cold line each. Threads do where there are no such writes.
constexpr size_t kManyRecent = 256;

bool StaysInLine(uint64_t address, uint64_t size) {
  return size <= kLineBytes - address % kLineBytes;
}

}  // namespace

// `carry(origin)` says what the store passes on. Everything that is written comes this way.
template <class Carry>
[[gnu::always_inline]] inline void Memory::Put(const LinePlace& place, const Access& access,
                                               uint32_t size, const void* bytes, Duration drain,
                                               Carry&& carry) {
  Line& line = *place.line;
  const Time now = engine_.Now();
  if (recent_.Size() > kManyRecent) [[unlikely]]
    SettleRecent();
  Settle(line);
  Message& message = messages_.Take();
  PrefetchMessage(messages_.Next());
  const uint32_t first = static_cast<uint32_t>(access.address % kLineBytes);
  Origin& origin = message.origin;
  origin.stamp = states_[access.agent].stamp;
  origin.site = PackedSite(access.site);
  origin.agent = access.agent;
  origin.self_scope = -1;
  origin.strong = false;
  origin.first = static_cast<uint8_t>(first);
  origin.size = static_cast<uint8_t>(size);
  carry(origin);
  message.created = access.now;
  message.settles = access.now + (options_.mode == VisibilityMode::kTimed ? drain : settle_delay_);
  message.id = ++message_id_;
  CopyWords(message.data + first, static_cast<const uint8_t*>(bytes), size);
  ++line.version;
  if (line.extra != 0) TellWatchers(place, message);
  if (line.pending != nullptr) {
    Insert(line, message);
  } else {
    message.next = nullptr;
    line.pending = &message;
    if (!(now < message.settles)) {
      SettleFirst(line);
      return;
    }
  }
  if (recent_.Empty()) next_settles_ = message.settles;
  recent_.Push({&line, message.settles});
}

// Not inline: it takes more of a simulated thread's stack, a cold line each.
template <class Carry>
[[gnu::noinline]] void Memory::PutInLines(Region& region, const Access& access, const void* bytes,
                                          uint64_t size, Duration drain, const Carry& carry) {
  Access part = access;
  const uint8_t* from = static_cast<const uint8_t*>(bytes);
  while (size != 0) {
    const uint64_t room = kLineBytes - part.address % kLineBytes;
    const uint32_t length = static_cast<uint32_t>(std::min(size, room));
    Put({&region.At(part.address), region.home}, part, length, from, drain, carry);
    part.address += length;
    from += length;
    size -= length;
  }
}

bool Memory::Write(const Access& access, const void* bytes, uint64_t size, Duration drain) {
  if (size == 0) return true;
  Region* region = space_.Find(access.address, size);
  if (region == nullptr) return false;
  const auto carry = [](Origin&) {};
  if (StaysInLine(access.address, size)) [[likely]] {
    Put({&region->At(access.address), region->home}, access, static_cast<uint32_t>(size), bytes,
        drain, carry);
  } else {
    PutInLines(*region, access, bytes, size, drain, carry);
  }
  return true;
}

bool Memory::WriteFromDevice(const Access& access, const void* bytes, uint64_t size) {
  if (size == 0) return true;
  Region* region = space_.Find(access.address, size);
  if (region == nullptr) return false;
  SettleRecent();
  const auto carry = [&released = KnowledgeOf(access.agent)](Origin& origin) {
    origin.released = released;
    origin.self_scope = static_cast<int8_t>(ScopeIndex(Scope::kSystem));
    origin.strong = true;
  };
  if (StaysInLine(access.address, size)) [[likely]] {
    Put({&region->At(access.address), region->home}, access, static_cast<uint32_t>(size), bytes, {},
        carry);
  } else {
    PutInLines(*region, access, bytes, size, {}, carry);
  }
  states_.Own(access.agent).stamp = ++stamp_;
  return true;
}

void Memory::Store(const Access& access, uint64_t value, uint32_t size, Order order, Scope scope,
                   Duration drain) {
  Home home;
  Line& line = LineAt(access.address, size, &home);
  Put({&line, home}, access, size, &value, drain, [&](Origin& origin) {
    if (scope != Scope::kThread) MakeStrong(origin, access.agent, order, scope);
  });
}

// Adds to `origin` what the store that was read carries.
void Memory::ContinueRelease(Origin& origin) {
  const Acquirable read{modified_.agent, modified_.stamp, modified_.released, modified_.self_scope,
                        0};
  if (read.released == nullptr && read.self_scope < 0) return;
  if (read.released == origin.released && read.self_scope < 0) return;
  std::array<View, kScopes> views;
  if (origin.released != nullptr) views = origin.released->by_scope;
  for (int scope = 0; scope < kScopes; ++scope) JoinCarried(views[scope], read, scope, false);
  // Who takes turns has acquired what it reads here before: then this store carries no more.
  const auto same = [](const View& a, const View& b) { return a.SameAs(b); };
  if (origin.released != nullptr && std::ranges::equal(views, origin.released->by_scope, same)) {
    return;
  }
  origin.released = new Released;
  origin.released->by_scope = std::move(views);
  origin.released->continues = true;
}

// A read-modify-write carries on the release sequence of what it read.
void Memory::FinishModify(const Access& access, uint64_t value, uint32_t size, Order order,
                          Scope scope) {
  Home home;
  Line& line = LineAt(access.address, size, &home);
  Put({&line, home}, access, size, &value, {}, [&](Origin& origin) {
    MakeStrong(origin, access.agent, order, scope);
    if (modified_.strong) ContinueRelease(origin);
  });
}

}  // namespace ringpost::sim

// Where a message lives: in its line, in coherence order, until it is folded into it.
#include "sim/memory/memory.h"

namespace ringpost::sim {
namespace {

constexpr size_t kAhead = 3;

void PrefetchLine(const Line& line) {
  __builtin_prefetch(line.data, 1);
  __builtin_prefetch(&line.newest, 1);
}

}  // namespace

void Memory::TellWatchers(const LinePlace& place, const Message& message) {
  for (Watch* watch = extras_[place.line->extra].watchers; watch != nullptr; watch = watch->next) {
    wake_(*watch, message, VisibleFrom(message, watch->agent, place.home));
  }
}

[[gnu::always_inline]] inline void Memory::Apply(Line& line, Message& message) {
  const Origin& origin = message.origin;
  CopyPart(line.data + origin.first, message.data + origin.first, origin.size);
  const uint64_t mask = origin.Mask();
  OriginNode& newest = line.newest;
  if ((newest.mask & ~mask) != 0 || newest.next != nullptr) MakeRoom(newest, mask);
  newest.mask = mask;
  newest.origin = std::move(message.origin);
}

// The oldest messages go into the line, as far as everybody sees them.
[[gnu::always_inline]] inline void Memory::Fold(Line& line, Time now) {
  for (Message* oldest = line.pending; oldest != nullptr && !(now < oldest->settles);
       oldest = line.pending) {
    line.pending = oldest->next;
    Apply(line, *oldest);
    messages_.Give(*oldest);
  }
}

void Memory::SettleFirst(Line& line) { Fold(line, engine_.Now()); }

// Messages are folded in soon after they could be, while they and their lines are still in the
// host's caches, and not when somebody next comes by. It makes no difference to any reader.
void Memory::SettleRecent() {
  const Time now = engine_.Now();
  while (!(now < next_settles_)) {
    if (recent_.Size() > kAhead) PrefetchLine(*recent_.At(kAhead).line);
    Fold(*recent_.At(0).line, now);
    recent_.Pop();
    next_settles_ = recent_.Empty() ? Time::Never() : recent_.At(0).settles;
  }
}

// The bytes of `mask` get a new origin: nobody else keeps them, and `newest` becomes free.
void Memory::MakeRoom(OriginNode& newest, uint64_t mask) {
  newest.mask &= ~mask;
  OriginNode** link = &newest.next;
  while (*link != nullptr) {
    OriginNode* node = *link;
    node->mask &= ~mask;
    if (node->mask != 0) {
      link = &node->next;
      continue;
    }
    *link = node->next;
    node->origin.released.reset();
    origins_.Give(*node);
  }
  if (newest.mask == 0) return;
  OriginNode& node = origins_.Take();
  node.mask = newest.mask;
  node.origin = std::move(newest.origin);
  node.next = newest.next;
  newest.next = &node;
}

}  // namespace ringpost::sim

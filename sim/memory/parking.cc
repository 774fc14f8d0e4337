// How readers wait without polling, and how atomics on one line queue up.
#include "sim/memory/memory.h"

namespace ringpost::sim {

LineExtra& Memory::ExtraOf(Line& line) {
  if (line.extra == 0) {
    line.extra = static_cast<uint32_t>(extras_.size());
    extras_.emplace_back();
  }
  return extras_[line.extra];
}

void Memory::AddWatch(Watch& watch, Line& line) {
  LineExtra& extra = ExtraOf(line);
  watch.line = &line;
  watch.next = extra.watchers;
  extra.watchers = &watch;
}

void Memory::RemoveWatch(Watch& watch) {
  Watch** link = &ExtraOf(*watch.line).watchers;
  while (*link != &watch) link = &(*link)->next;
  *link = watch.next;
  watch.line = nullptr;
}

Time Memory::ReserveAtomic(uint64_t address, Time now, Duration service) {
  Home home;
  LineExtra& extra = ExtraOf(LineAt(address, 1, &home));
  const Time start = Later(now, Time{extra.atomics_free_ps});
  extra.atomics_free_ps = (start + service).ps;
  return start;
}

}  // namespace ringpost::sim

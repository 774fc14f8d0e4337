// memory_map.h: which memory this process has.
#pragma once

#include <cstdint>

namespace ringpost::sim::uverbs::prm {

// Whether all of [address, address + bytes) may be read, and written where that is asked. A range
// that is empty or wraps is not there.
bool IsMapped(uint64_t address, uint64_t bytes, bool writable);

}  // namespace ringpost::sim::uverbs::prm

// memory_map.h: which memory this process has.
#pragma once

#include <cstdint>

namespace ringpost::sim::uverbs::prm {

// Makes the pages of [address, address + bytes) present, as a driver that pins them does. False
// where there are none, or none that may be written though that is asked; and of a range that is
// empty or wraps.
bool MakePresent(uint64_t address, uint64_t bytes, bool writable);

}  // namespace ringpost::sim::uverbs::prm

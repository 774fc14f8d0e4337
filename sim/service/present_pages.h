// present_pages.h: pages of this process made present, as page faults of a NIC do.
#pragma once

#include <cstdint>

namespace ringpost::sim::service {

enum class Use : uint8_t { kRead, kWrite };

// Of the pages that hold [address, address + bytes): false where one is not mapped, or not for that
// use, and of a range that is empty or wraps. Any thread; leaves contents as they are.
bool MakePresent(uint64_t address, uint64_t bytes, Use use);

}  // namespace ringpost::sim::service

// clock_page.h: the page from which a program learns how timestamps of CQEs become wall-clock time.
#pragma once

#include <sys/types.h>

#include <cstddef>

namespace ringpost::sim::uverbs {

// The offset that libmlx5 maps it at.
bool IsClockPage(off_t offset);
// MAP_FAILED, and errno. Timestamps are nanoseconds of the steady clock: the page, written now,
// says which time of the day that is.
void* MapClockPage(void* address, size_t size, int protection);

}  // namespace ringpost::sim::uverbs

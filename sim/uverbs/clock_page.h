// clock_page.h: the page from which a program learns how timestamps of CQEs become wall-clock time.
#pragma once

#include <sys/types.h>

namespace ringpost::sim::uverbs {

// The offset that libmlx5 maps it at.
off_t ClockPageOffset();
// Timestamps are nanoseconds of the steady clock: `page`, of 4096 bytes, says from now on which
// time of the day that is.
void WriteClockPage(void* page);

}  // namespace ringpost::sim::uverbs

// workload_keys.h: the rows of the table of keys that say what the threads do.
#pragma once

#include "configs/schema/key_rows.h"

namespace ringpost::config {

void AddWorkload(Rows& rows);

}  // namespace ringpost::config

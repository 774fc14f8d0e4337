// proxy_keys.h: the rows of the table of keys (schema.h) that are about proxies.
#pragma once

#include <vector>

#include "configs/schema/schema.h"

namespace ringpost::config {

std::vector<Key<Config>> ProxyKeys();

}  // namespace ringpost::config

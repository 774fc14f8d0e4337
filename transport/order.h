// order.h: the words for memory order and scope: C++'s orders, PTX's scopes.
#pragma once

#include <cstdint>

namespace ringpost {

enum class Order : uint8_t { kRelaxed, kAcquire, kRelease, kAcqRel, kSeqCst };

// Who must agree on the order. kThread: nobody else, a plain access.
enum class Scope : uint8_t { kThread, kCta, kGpu, kSystem };

}  // namespace ringpost

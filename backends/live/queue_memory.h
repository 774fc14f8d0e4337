// queue_memory.h: where a QP of a live NIC lies: its UAR page, its queues, and the words of the
// threads that post.
//
// The page is in host memory, as the NIC's thread polls it. Record, CQs and rings are where the
// spec says. The index words are no NIC's business: they lie beside the page, or in GPU memory
// where a GPU's threads use them, as an access to host memory would cost those 1.2 us.
#pragma once

#include <cstdint>
#include <string>

#include "backends/qp_spec.h"
#include "transport/memory.h"
#include "transport/nic.h"

namespace ringpost {

struct QueueMemory {
  Allocation host;
  Allocation gpu;       // 0 bytes: there is none
  Allocation producer;  // doorbell mode cpu
  uint64_t page = 0;    // the UAR page
  // What the NIC reads and writes. It is a part of `host` or of `gpu`.
  uint64_t queues = 0;
  uint64_t queue_bytes = 0;
  Placement placement = Placement::kHost;
};

// Whose threads post.
enum class KernelsOf : uint8_t { kHost, kGpu };

// Takes the memory, gives everything in the views its place, and makes the CQs read empty. Says why
// not, and then has taken nothing.
std::string PlaceQueues(MemoryProvider& provider, KernelsOf kernels, const QpSpec& spec,
                        QpViews& views, QueueMemory& memory);

void FreeQueues(MemoryProvider& provider, const QueueMemory& memory);

}  // namespace ringpost

// qp_spec.h: what a QpSpec comes to on any NIC: whether it can be, the sizes of its queues, and the
// fields of its views that need no NIC.
#pragma once

#include <cstdint>
#include <string>

#include "transport/nic.h"

namespace ringpost {

// One QP as threads see it.
struct QpViews {
  QpView send;
  ReceiveView receive;
};

// What the place that threads and the NIC share is capable of.
struct DoorbellCaps {
  bool blueflame = false;    // threads are a CPU's
  bool record_free = false;  // the register is a queue: no doorbell overwrites another
};

// Why no such QP can be, in one line; empty if it can.
std::string RefusalOf(const QpSpec& spec, const DoorbellCaps& caps);

// The receives of a QP of this spec: a DCT has a shared queue, and that is never empty.
uint32_t ReceiveDepth(const QpSpec& spec);

// Of one receive WQE: two segments where a link to the next WQE stands before the list.
uint32_t ReceiveStride(TransportKind kind);
uint64_t ReceiveRingBytes(const QpSpec& spec);

// The fields of the views that a spec decides, and the longest message of the NIC.
QpViews ViewsOf(const QpSpec& spec, uint32_t message_bytes);

}  // namespace ringpost

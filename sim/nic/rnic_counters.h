// rnic_counters.h: what one NIC's function counts. Every run prints them; names are those of the
// JSON.
#pragma once

#include <cstdint>

namespace ringpost::sim {

// X(name): one 64-bit counter.
#define RINGPOST_RNIC_COUNTERS(X)                                                    \
  X(doorbells)            /* rung and delivered */                                   \
  X(doorbells_merged)     /* announced nothing that was not announced already */     \
  X(doorbells_stray)      /* of no QP, or of one that cannot send */                 \
  X(wqes)                 /* fetched and parsed */                                   \
  X(wqe_index_mismatches) /* control segment disagrees with the NIC's own counter */ \
  X(wqe_qpn_mismatches)   /* the same of the QPN */                                  \
  X(reserved_bits)        /* doorbell or WQE with bits set that must be zero */      \
  X(ring_overruns)        /* a doorbell announced more than the ring holds */        \
  X(receive_wqes)         /* consumed */                                             \
  X(packets_sent)                                                                    \
  X(packets_received)                                                                \
  X(payload_bytes_sent)                                                              \
  X(payload_bytes_received)                                                          \
  X(packets_retransmitted)                                                           \
  X(packets_dropped) /* for no QP, for one that does not receive, or malformed */    \
  X(acks_sent)                                                                       \
  X(acks_received)                                                                   \
  X(naks_sent)                                                                       \
  X(naks_received)                                                                   \
  X(rnr_naks_sent)                                                                   \
  X(rnr_naks_received)                                                               \
  X(duplicates)   /* requests received again */                                      \
  X(out_of_order) /* requests received before an earlier one */                      \
  X(implied_naks) /* an answer showed that an earlier READ's was lost */             \
  X(timeouts)                                                                        \
  X(atomics_executed)                                                                \
  X(atomics_replayed)                                                                \
  X(reads_executed)                                                                  \
  X(cqes)                                                                            \
  X(error_cqes)                                                                      \
  X(cq_overruns)                                                                     \
  X(qkey_violations)                                                                 \
  X(access_violations)                                                               \
  X(dc_connects)

struct RnicCounters {
#define RINGPOST_DECLARE(name) uint64_t name = 0;
  RINGPOST_RNIC_COUNTERS(RINGPOST_DECLARE)
#undef RINGPOST_DECLARE
};

template <class F>
void ForEachCounter(const RnicCounters& counters, F&& visit) {
#define RINGPOST_VISIT(name) visit(#name, counters.name);
  RINGPOST_RNIC_COUNTERS(RINGPOST_VISIT)
#undef RINGPOST_VISIT
}

}  // namespace ringpost::sim

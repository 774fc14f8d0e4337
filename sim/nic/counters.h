// counters.h: what one NIC counts. Every run prints them; names are those of the JSON.
#pragma once

#include <cstdint>

namespace ringpost::sim {

struct Counters {
  uint64_t doorbells = 0;             // rung and delivered
  uint64_t doorbells_merged = 0;      // announced nothing that was not announced already
  uint64_t records_late = 0;          // the record trailed its doorbell
  uint64_t wqes = 0;                  // fetched and parsed
  uint64_t wqe_index_mismatches = 0;  // control segment disagrees with the NIC's own counter
  uint64_t reserved_bits = 0;         // doorbell, record or WQE with bits set that must be zero
  uint64_t ring_overruns = 0;         // a doorbell announced more than the ring holds
  uint64_t dma_reads = 0;
  uint64_t dma_read_bytes = 0;
  uint64_t dma_writes = 0;
  uint64_t dma_write_bytes = 0;
  uint64_t packets_sent = 0;
  uint64_t packets_received = 0;
  uint64_t acks_sent = 0;
  uint64_t naks_sent = 0;
  uint64_t wire_bytes_sent = 0;
  uint64_t cqes = 0;
  uint64_t error_cqes = 0;
  uint64_t requester_context_hits = 0;
  uint64_t requester_context_misses = 0;
  uint64_t responder_context_hits = 0;
  uint64_t responder_context_misses = 0;
};

template <class F>
void ForEachCounter(const Counters& c, F&& visit) {
  visit("doorbells", c.doorbells);
  visit("doorbells_merged", c.doorbells_merged);
  visit("records_late", c.records_late);
  visit("wqes", c.wqes);
  visit("wqe_index_mismatches", c.wqe_index_mismatches);
  visit("reserved_bits", c.reserved_bits);
  visit("ring_overruns", c.ring_overruns);
  visit("dma_reads", c.dma_reads);
  visit("dma_read_bytes", c.dma_read_bytes);
  visit("dma_writes", c.dma_writes);
  visit("dma_write_bytes", c.dma_write_bytes);
  visit("packets_sent", c.packets_sent);
  visit("packets_received", c.packets_received);
  visit("acks_sent", c.acks_sent);
  visit("naks_sent", c.naks_sent);
  visit("wire_bytes_sent", c.wire_bytes_sent);
  visit("cqes", c.cqes);
  visit("error_cqes", c.error_cqes);
  visit("requester_context_hits", c.requester_context_hits);
  visit("requester_context_misses", c.requester_context_misses);
  visit("responder_context_hits", c.responder_context_hits);
  visit("responder_context_misses", c.responder_context_misses);
}

}  // namespace ringpost::sim

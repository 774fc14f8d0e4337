// qp_view.h: what a kernel is given of a queue pair: a POD of addresses and sizes.
//
// The host makes it (Nic::CreateQp) and passes it by value; it owns nothing. `reserved`, `ready`,
// `published` and `completed` are 64-bit indices in WQEBBs that never wrap in practice; they are
// masked where the byte contract has fewer bits. completed <= published <= ready <= reserved, and
// reserved - completed <= depth. `ready` counts whole WQEs that are built (owned QP: announced to
// the NIC); `published` and `completed` stop one past the first WQEBB of a signalled WQE, because
// that block is all a CQE names. A QP used by one thread keeps them with thread-scope accesses, and
// `reserved` and `ready` in the thread's Endpoint while that lives (indices.h).
#pragma once

#include <cstdint>
#include <type_traits>

#include "transport/memory_span.h"

namespace ringpost {

enum class Placement : uint8_t { kGpu, kHost };
enum class CompletionScope : uint8_t { kSelectedQp, kPeer, kAllQps };

// How a QP is rung (ring.h). A backend refuses at CreateQp what it cannot do.
enum class DoorbellMode : uint8_t {
  kGpu,         // the posting thread: record, then doorbell
  kCpu,         // it leaves the producer index in memory, and a host thread of the backend rings
  kBlueFlame,   // record, then the last WQE's first 64 bytes; as kGpu where the port is no CPU's
  kRecordFree,  // the doorbell alone
  kAuto,        // of a spec alone: kGpu where the register can be mapped for the GPU, else kCpu
};

// Where the one who has a QP for itself keeps its indices (endpoint.h).
enum class IndexHome : uint8_t {
  kEndpoint,  // in the Endpoint, one of which may use the QP at a time
  kMemory,    // in their words, which each operation reads: Endpoints of the thread may take turns
};

enum class TransportKind : uint8_t { kRc, kDc };

// Whom a DCI's WQEs are for. Views of one DCI may differ in this alone: one for each peer.
struct DcTarget {
  uint64_t key = 0;
  uint32_t dct = 0;
  uint16_t lid = 0;
};

struct QpView {
  uint64_t sq = 0;        // ring of `depth` WQEBBs
  uint64_t record = 0;    // doorbell record, 8 bytes
  uint64_t doorbell = 0;  // UAR register, 8 bytes
  uint64_t cq = 0;        // collapsed CQ: slot 0 is rewritten by each CQE
  Ref<uint64_t> reserved;
  Ref<uint64_t> ready;
  Ref<uint64_t> published;
  Ref<uint64_t> completed;
  Ref<uint64_t> producer;   // kCpu: WQEBBs to ring for, in host memory
  Ref<uint64_t> blueflame;  // kBlueFlame: which half of the register is next
  Ref<uint64_t> ringing;    // last_writer: 1 while a thread rings
  uint64_t sink = 0;        // 8 registered bytes for results that nobody reads
  DcTarget target;          // of a DCI
  uint64_t timeout_ps = 0;  // how long a wait on this QP may take; 0: for ever
  uint32_t qpn = 0;
  uint32_t depth = 0;  // WQEBBs, a power of two
  uint32_t batch = 1;  // WQEBBs per doorbell, for policies that batch
  uint32_t max_inline = 28;
  uint32_t max_message = 1u << 30;  // bytes that one WQE may move
  uint32_t sink_lkey = 0;
  uint8_t shared = 0;  // used by more than one thread (cooperative: by more than one warp)
  Placement placement = Placement::kGpu;
  DoorbellMode doorbell_mode = DoorbellMode::kGpu;
  TransportKind kind = TransportKind::kRc;
  IndexHome indices = IndexHome::kEndpoint;
  // The register is mapped write-combining for CPUs: their port orders and flushes each store.
  uint8_t combines = 0;
};
static_assert(std::is_trivially_copyable_v<QpView>);

// A QP's receives: a ring of WQEs, and a CQ that has an entry for each. `posted` and `taken` count
// since the QP was created; one thread uses both at a time.
struct ReceiveView {
  uint64_t ring = 0;
  uint64_t record = 0;  // the big-endian count of posted WQEs, 4 bytes
  uint64_t cq = 0;
  Ref<uint64_t> posted;
  Ref<uint64_t> taken;
  uint32_t depth = 0;   // WQEs, a power of two
  uint32_t linked = 0;  // 1: a shared queue (DC), where each WQE names the next
};
static_assert(std::is_trivially_copyable_v<ReceiveView>);

}  // namespace ringpost

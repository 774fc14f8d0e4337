// platform.h: what one platform's hardware costs: named parameters with provenance.
//
// A platform file (configs/platforms/*.yaml) fills exactly this struct. No parameter belongs to a
// figure, a policy or a library: each prices one operation of the GPU or one stage on the way from
// a doorbell to a CQE. A GPU operation has a part in SM cycles and a part in time, because some of
// it scales with the SM clock and some does not. kParameters (platform.cc) is the table from which
// the parser, `ringpost config` and configs/README.md are made.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/cache/cache_spec.h"
#include "sim/engine/time.h"

namespace ringpost::sim {

// An assumed number is one that no covered figure depends on.
enum class Provenance : uint8_t { kPaper, kDatasheet, kMeasured, kFitted, kAssumed };

// One number of a platform file. Which fields are used depends on its unit (see Unit).
struct Parameter {
  double cycles = 0;  // kTime: SM cycles
  double ns = 0;      // kTime: nanoseconds
  double value = 0;   // other units: MHz, Gb/s, bytes, or a count
  Provenance provenance = Provenance::kFitted;
  std::string source;
};

enum class Unit : uint8_t { kTime, kMegahertz, kGigabitsPerSecond, kBytes, kCount };

// Of one cache; those that it does not have are zero and without a source.
struct CacheTimes {
  Parameter second_level_hit;
  Parameter bank_service;  // one look-up, in its bank
  Parameter write_back;    // added to a miss that evicts: all contexts on chip are dirty
};

struct Platform {
  std::string name;
  std::string link_layer = "infiniband";  // infiniband | roce

  // GPU: clock, size and operation costs. A "weak" store is a plain payload or WQE store.
  Parameter sm_clock, sms_count;
  Parameter memory_bandwidth;  // of its memory: reads and writes together
  Parameter wqe_build;         // arithmetic of one WQE: address, index, byte order
  Parameter wqe_segment;       // one 16-byte store into a ring slot
  Parameter store_port;        // each further lane of an SM that stores a WQE alongside
  Parameter payload_load;      // 16 bytes of payload read by a thread
  Parameter payload_store;
  Parameter store_issue;             // one posted word store
  Parameter doorbell_store;          // one posted 64-bit store to the UAR
  Parameter load_local;              // thread-scope load that hits L1
  Parameter load_gpu;                // load served by L2 (round trip)
  Parameter load_host;               // load of host memory over the bus (round trip)
  Parameter atomic_gpu;              // atomic at L2 (round trip)
  Parameter atomic_host;             // atomic on host memory (round trip)
  Parameter atomic_same_address;     // service time of one address
  Parameter fence_cta;               // any fence at CTA scope
  Parameter fence_acq_rel_gpu;       // with weak stores outstanding: until they are in L2
  Parameter fence_acq_rel_gpu_idle;  // with none outstanding: what is left is the acquire
  Parameter release_gpu_idle;        // a release, which acquires nothing, with none outstanding
  Parameter fence_sc_gpu;
  Parameter fence_acq_rel_system;
  Parameter fence_sc_system;
  Parameter warp_sync, shuffle, spin;  // spin: the rest of a polling turn

  // A core of the host: the same operations by a thread that posts there. Its releases cost
  // nothing, as on x86-64 stores keep their order; a ring has in it what flushes the register.
  Parameter host_wqe_build;         // one WQE, its stores included
  Parameter host_ring;              // one ring: the call around it, record, barriers, register
  Parameter host_payload;           // 16 bytes read or written
  Parameter host_load, host_store;  // a word that is in the core's own cache
  Parameter host_load_shared;       // a line that the NIC or another core wrote last
  Parameter host_load_gpu;          // load of GPU memory over the bus (round trip)
  Parameter host_atomic;            // locked operation on such a line
  Parameter host_fence;             // full barrier
  // A worker of a proxy there, whose part in cycles is of the core's clock.
  Parameter host_clock_cold, host_clock_warm;
  Parameter host_request;            // one operation: its descriptor's line, and its WQE
  Parameter host_post;               // one ring for a chain of them
  Parameter host_doorbell_delivery;  // UAR store to NIC

  // Paths between GPU, host and NIC.
  Parameter doorbell_delivery;      // UAR store to NIC
  Parameter read_gpu, read_host;    // NIC reads memory: round trip
  Parameter write_gpu, write_host;  // NIC writes memory: until it is visible at home

  // NIC stages: each FIFO stage has a service time; `latency` is the pipeline each way.
  Parameter doorbell_service, fetch_service, qp_serial, transmit, receive, cqe_service;
  Parameter nic_latency;
  Parameter context_miss;  // reading a QP context from host memory

  // Wire.
  Parameter link_rate, header_bytes, mtu, hop_latency;

  // The contexts of QPs, a cache a role. The times are no rows of the table below: a platform has
  // them where the cache has what they are of.
  CacheSpec requester_context, responder_context;
  CacheTimes requester_times, responder_times;
  // Translations of keys and pages, of both roles: infinite unless the file says otherwise.
  CacheSpec mpt, mtt;
  CacheTimes mpt_times, mtt_times;
  CacheSpec wqe;  // WQEs that are fetched and not sent; infinite too
  CacheTimes wqe_times;

  // A NIC under many connections: of platforms that have it (`shared_engine`), and rows of a table
  // of their own. Both directions then share one packet engine, and both roles one cache of lines,
  // of which each context takes several.
  bool has_shared_engine = false;
  Parameter engine_service;    // one packet, either way
  Parameter transmit_quantum;  // packets that a QP sends in its turn
  Parameter contexts_ahead;    // requester contexts that are held or fetched for coming turns
  Parameter receive_buffer;    // packets on their way to the engine, in bytes of the wire
  Parameter requester_lines;   // of the cache: QP, CQ and translations of queues in GPU memory
  Parameter host_queue_lines;  // further ones of a requester whose queues are in host memory
  Parameter responder_lines;
  Parameter dc_switch;  // a DCI turns to another target
  CacheSpec context;
};

struct Bounds {
  double least = 0;
  double most = 0;
};

// One row of the parameter table.
struct ParameterInfo {
  const char* key;  // e.g. "gpu.wqe_build", the path in the platform file
  Parameter Platform::*member;
  Unit unit;
  const char* meaning;
  Bounds bounds = {};  // of its value, where they are other than those of its unit
};

// Of a value in its unit: of a time, in cycles and in nanoseconds each. So bounded, costs of any
// run stay within the range of virtual time.
Bounds BoundsOf(const ParameterInfo& info);

const std::vector<ParameterInfo>& Parameters();
// Those of `shared_engine`: a platform has all of them or none.
const std::vector<ParameterInfo>& SharedEngineParameters();

const char* NameOf(Provenance provenance);

// The time of a kTime parameter at an SM clock in MHz.
Duration TimeOf(const Parameter& parameter, double sm_clock_mhz);

}  // namespace ringpost::sim

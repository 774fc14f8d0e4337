// any_backend.h: what a test of the conformance suite asks of a backend.
//
// A fixture is two connected nodes. It has: a Port and EveryPairOfIt(), compiled once; nic(node);
// Launch(node, shape, kernel) and Run(), which says what went wrong; Write and Read of memory from
// outside; and faults, where the backend can make them. For proxies (proxy_backend.h) also
// Serve(node, threads, body): threads of the node's host, beside the kernels of each Run().
#pragma once

#include <cstdint>

namespace ringpost::conformance {

struct Shape {
  uint32_t threads = 1;
  uint32_t warp = 1;   // lanes that post together
  uint32_t block = 1;  // threads of a block
};

struct Conditions {
  bool ordered = true;       // the program orders its accesses: memory may be as lazy as it is
  uint64_t response_ps = 0;  // the responder answers that much later
};

}  // namespace ringpost::conformance

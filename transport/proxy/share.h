// share.h: what one worker of a proxy serves: queue pairs, and the rings that feed them. It lives
// as long as the ProxyNic that fills it; while a worker runs, it is that thread's alone.
#pragma once

#include <cstdint>
#include <deque>

#include "transport/qp_view.h"

namespace ringpost::proxy {

// One operation that was posted and is not known to be complete.
struct InFlight {
  uint64_t confirmed = 0;  // of its last WQE, as Posted has it
  uint32_t ring = 0;
  uint64_t end = 0;  // of its slots
};

struct Lane {
  QpView qp;
  std::deque<InFlight> in_flight;  // in the order posted
  uint64_t completed = 0;          // as the QP's word of that name
  bool failed = false;
};

struct ServedRing {
  QpView view;
  uint32_t lane = 0;
  uint64_t next = 0;       // the slot to read
  uint64_t completed = 0;  // what has completed, and what its producers were told of that
  uint64_t told = 0;
  uint32_t rkey = 0;  // of short forms
  uint32_t lkey = 0;
  bool failed = false;
};

struct Share {
  uint32_t batch = 1;  // operations that one ring of a doorbell announces at most
  std::deque<Lane> lanes;
  std::deque<ServedRing> rings;
  // Counts since the start, for who wants to know; read when no worker runs.
  uint64_t operations = 0;
  uint64_t doorbells = 0;
};

}  // namespace ringpost::proxy

// run_options.h: what a run is told beside its configuration.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "transport/result.h"

namespace ringpost::workloads {

class Gpu;

// Which ranks are here, and where the others are to be met.
struct RankOptions {
  std::string rendezvous;  // HOST:PORT; empty: all ranks are in this process
  uint32_t rank = 0;
  // Of rank 0: called with the port once it listens there.
  std::function<void(uint16_t port)> listening;
};

// The GPU of a rank, where the configuration has kernels.
using GpuMaker = std::function<Result<std::unique_ptr<Gpu>>(uint32_t rank)>;

// Which put a simulated run is to tell the way of: one of median latency, or this WQE.
struct TimelineWish {
  std::optional<uint32_t> qpn = {};
  uint64_t wqe = 0;
};

struct RunOptions {
  std::string trace_file;         // empty: none
  std::string pcap_file;          // empty: none
  std::string lookups_file = {};  // empty: none
  std::optional<TimelineWish> timeline = {};
  RankOptions ranks = {};  // in real time
  GpuMaker make_gpu = {};  // empty: the GPUs of this machine
};

}  // namespace ringpost::workloads

// fabric.h: a whole simulated machine in one object: nodes with a GPU and a NIC each, one switch,
// and one virtual clock. Embed it in your own test (docs/your_first_test.md).
//
//   Fabric fabric("p_ib", {.seed = 7});
//   auto qps = fabric.ConnectPair(0, 1, {.depth_wqebbs = 64});
//   auto target = fabric.nic(1).Allocate(Placement::kGpu, 4096).Value();
//   fabric.Launch(0, {.threads = 4}, [&](SimPort& port) { ... put, quiet ... });
//   BOOST_TEST(fabric.Run().ok);
//
// One thread of the operating system drives it. Kernels run during Run, which returns when all
// have ended, or says which threads wait for what. Same inputs, same seed: same bytes, same times.
#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "backends/sim/sim_host_port.h"
#include "backends/sim/sim_port.h"
#include "sim/cache/lookup_file.h"
#include "sim/cost/operation_lists.h"
#include "sim/cost/platform.h"
#include "sim/node/nic_node.h"
#include "transport/endpoint.h"  // what a test's kernels are written with
#include "transport/nic.h"

namespace ringpost {

struct FabricOptions {
  uint32_t nodes = 2;
  uint64_t seed = 1;
  sim::VisibilityMode visibility = sim::VisibilityMode::kTimed;
  bool checker = true;
  bool nic_reads_l2 = true;
  double sm_clock_mhz = 0;  // 0: the platform's
  uint32_t run_length = 64;
  sim::RnicConfig nic = {};          // behaviour and limits; slot and MTU do not count
  uint64_t stack_bytes = 64 * 1024;  // of each thread: room for a test's own code
  uint64_t stack_memory_bytes = 4ull << 30;
  sim::HostClock host_clock = sim::HostClock::kWarm;  // of the cores that serve
  bool trace = false;
  bool lookups = false;  // keep those of context caches
  std::vector<sim::FaultRule> faults = {};
  sim::PacketTap tap = {};
  sim::OperationLists operations = {};  // of a library, at each step of its threads
};

struct FabricRun {
  bool ok = true;
  std::string error;  // one line, empty when ok
  sim::Time end;
};

// The view of a connected pair of QPs, one at each node.
struct QpPair {
  QpView first;
  QpView second;
};

class Fabric {
 public:
  using Kernel = std::function<void(SimPort&)>;
  using HostKernel = std::function<void(SimHostPort&)>;

  // `platform` is a file of configs/platforms without .yaml, or the path of one. What is wrong in
  // it is thrown as a std::runtime_error of one line.
  explicit Fabric(const std::string& platform, const FabricOptions& options = {});
  Fabric(const sim::Platform& platform, const FabricOptions& options);
  ~Fabric();
  Fabric(const Fabric&) = delete;
  Fabric& operator=(const Fabric&) = delete;

  uint32_t Nodes() const { return static_cast<uint32_t>(nodes_.size()); }
  Nic& nic(uint32_t node);
  sim::NicNode& Node(uint32_t node) { return *nodes_[node]; }
  sim::Counters Counters(uint32_t node) const { return nodes_[node]->Count(); }

  // Creates one QP at each node and connects them. Aborts on an impossible spec: for tests.
  QpPair ConnectPair(uint32_t first, uint32_t second, const QpSpec& spec);
  // The same `count` times: one QP for each of so many threads.
  std::vector<QpPair> ConnectPairs(uint32_t first, uint32_t second, uint32_t count,
                                   const QpSpec& spec = {});
  // The `wqe`-th WQE (from 0) that the NIC fetches from this QP completes in error.
  void InjectError(const QpView& qp, uint32_t node, uint64_t wqe,
                   abi::Syndrome syndrome = abi::Syndrome::kLocalQpOperation);

  // From the next Run on, so many cores of the node's host each run `body` beside the kernels. It
  // ends when Relax says so, after all kernels have ended, and begins anew with each Run.
  void ServeOnHost(uint32_t node, uint32_t cores, HostKernel body);
  // Starts a kernel on the node's GPU at the present time; it runs during Run.
  void Launch(uint32_t node, const sim::LaunchShape& shape, Kernel kernel);
  // The same on cores of its host, a thread on each.
  void LaunchOnHost(uint32_t node, uint32_t threads, Kernel kernel);
  FabricRun Run();

  // Memory from outside: no order, no cost.
  void Poke(uint64_t address, const void* bytes, uint64_t size);
  void Peek(uint64_t address, void* bytes, uint64_t size);
  template <class T>
  T Read(uint64_t address) {
    T value;
    Peek(address, &value, sizeof(value));
    return value;
  }

  std::vector<std::string> Violations() const { return memory_->Reports().Lines(); }
  uint64_t ViolationCount() const { return memory_->Reports().Count(); }
  sim::Memory& Ram() { return *memory_; }
  sim::Engine& Clock() { return engine_; }
  const sim::Trace& Steps() const { return trace_; }
  // Of the context caches of all nodes, in order; the format is that of lookup_file.h.
  const std::vector<sim::LookupRow>& Lookups() const { return lookups_; }
  void WriteLookups(std::ostream& out) const { sim::WriteLookups(lookups_, out); }
  const sim::CostTable& Costs() const { return costs_; }
  uint64_t ParkedPolls() const;

 private:
  class SimNic;
  struct Server {
    std::unique_ptr<sim::Gpu> cores;
    uint32_t count = 0;
    HostKernel body;
  };
  void StartHosts();
  void LaunchOn(sim::Gpu& processor, const sim::LaunchShape& shape, Kernel kernel);
  void StartServers();
  FabricRun RunKernels();
  // Of GPUs and cores, for what concerns all kernels.
  template <class F>
  void ForEachProcessor(F&& visit) const {
    for (const auto& gpu : gpus_) visit(*gpu);
    for (const auto& cores : cores_) visit(*cores);
  }
  std::shared_ptr<sim::HeldContexts> HeldOf(const sim::CacheSpec& spec, sim::CacheName name,
                                            uint32_t node);
  void AddNode(const sim::Platform& platform, uint32_t node);

  FabricOptions options_;
  sim::CostTable costs_, host_costs_, server_costs_;
  sim::Engine engine_;
  std::unique_ptr<sim::Memory> memory_;
  sim::Faults faults_;
  sim::Trace trace_;
  std::vector<sim::LookupRow> lookups_;
  std::vector<std::shared_ptr<sim::HeldContexts>> held_;
  std::unique_ptr<sim::FabricContext> context_;
  std::vector<std::unique_ptr<sim::NicNode>> nodes_;
  std::vector<std::unique_ptr<sim::Gpu>> gpus_;
  sim::Time ended_;                               // the latest end of a thread
  std::vector<std::unique_ptr<sim::Gpu>> cores_;  // of each node's host, for kernels
  std::vector<std::unique_ptr<sim::Gpu>> hosts_;  // those that ring for GPUs
  std::vector<std::vector<uint64_t>> rung_;       // by node and QP: what its host thread rang for
  std::vector<Server> servers_;
  std::vector<std::unique_ptr<SimNic>> nics_;
  std::string launch_error_;
};

}  // namespace ringpost

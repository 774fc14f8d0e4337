// backends.h: the backends that the conformance suite runs on, one fixture each.
//
// A fixture is two connected nodes. It has: a Port and EveryPairOfIt(), compiled once; nic(node);
// Launch(node, shape, kernel) and Run(), which says what went wrong; Write and Read of memory from
// outside; and faults, where the backend can make them.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "backends/live/live_fabric.h"
#include "backends/sim/fabric.h"
#include "tests/conformance/any_endpoint.h"
#include "transport/host_port.h"
#include "transport/host_warp.h"
#include "transport/nic.h"

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

class SimBackend {
 public:
  using P = SimPort;
  static constexpr bool kRealTime = false;
  static constexpr Shape kBlock{40, 32, 40};  // a warp, and a part of one
  static const std::vector<PairOf<P>>& Pairs();

  explicit SimBackend(const Conditions& conditions);
  Nic& nic(uint32_t node) { return fabric_.nic(node); }
  void Launch(uint32_t node, const Shape& shape, std::function<void(P&, uint32_t thread)> kernel);
  // Empty when all threads have ended and the ordering checker has nothing to say.
  std::string Run();
  void Write(uint64_t address, const void* bytes, uint64_t size) {
    fabric_.Poke(address, bytes, size);
  }
  void Read(uint64_t address, void* bytes, uint64_t size) { fabric_.Peek(address, bytes, size); }
  // The `wqe`-th WQE of the QP, counted from 0, fails.
  void Fail(const QpView& qp, uint32_t node, uint64_t wqe, abi::Syndrome syndrome) {
    fabric_.InjectError(qp, node, wqe, syndrome);
  }

 private:
  bool ordered_;
  Fabric fabric_;
};

// Threads of the operating system, and a thread for each NIC.
class LiveBackend {
 public:
  using P = HostPort;
  static constexpr bool kRealTime = true;
  static constexpr Shape kBlock{6, 3, 6};
  // Without the unsafe control: memory promises nothing to a program that orders nothing.
  static const std::vector<PairOf<P>>& Pairs();

  explicit LiveBackend(const Conditions& conditions);
  ~LiveBackend();
  Nic& nic(uint32_t node) { return fabric_->nic(node); }
  void Launch(uint32_t node, const Shape& shape, std::function<void(P&, uint32_t thread)> kernel);
  // Empty when all threads have ended in time and the NICs' threads run.
  std::string Run();
  void Write(uint64_t address, const void* bytes, uint64_t size);
  void Read(uint64_t address, void* bytes, uint64_t size);
  void Fail(const QpView& qp, uint32_t node, uint64_t wqe, abi::Syndrome syndrome);

 private:
  std::unique_ptr<LiveFabric> fabric_;
  std::vector<std::unique_ptr<HostWarp>> warps_;  // and blocks
  std::vector<std::function<void()>> bodies_;     // of the threads
  std::atomic<bool> stop_{false};
};

// backends/mlx5 stands here too once it is there.
using Backends = std::tuple<SimBackend, LiveBackend>;
// Those that can delay an answer. Live: it has no faults yet.
using DelayingBackends = std::tuple<SimBackend>;

}  // namespace ringpost::conformance

// live_backend.h: the conformance suite in real time.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backends/live/live_fabric.h"
#include "tests/conformance/any_backend.h"
#include "tests/conformance/any_endpoint.h"
#include "transport/host_port.h"
#include "transport/host_warp.h"
#include "transport/nic.h"

namespace ringpost::conformance {

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

}  // namespace ringpost::conformance

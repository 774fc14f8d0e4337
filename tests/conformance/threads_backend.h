// threads_backend.h: the conformance suite in real time: threads of the operating system, and two
// NICs of the backend that derives from this.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backends/real_time_nic.h"
#include "tests/conformance/any_backend.h"
#include "tests/conformance/any_endpoint.h"
#include "transport/host_port.h"
#include "transport/host_warp.h"

namespace ringpost::conformance {

class ThreadsBackend {
 public:
  using P = HostPort;
  static constexpr bool kRealTime = true;
  static constexpr Shape kBlock{6, 3, 6};
  // Without the unsafe control: memory promises nothing to a program that orders nothing.
  static const std::vector<PairOf<P>>& Pairs();

  virtual ~ThreadsBackend() = default;
  virtual RealTimeNic& nic(uint32_t node) = 0;
  void Launch(uint32_t node, const Shape& shape, std::function<void(P&, uint32_t thread)> kernel);
  void Serve(uint32_t node, uint32_t threads, std::function<void(P&, uint32_t thread)> body);
  // Empty when all threads have ended in time and the NICs work.
  std::string Run();
  void Write(uint64_t address, const void* bytes, uint64_t size);
  void Read(uint64_t address, void* bytes, uint64_t size);

 private:
  std::string RunBodies();

  std::vector<std::unique_ptr<HostWarp>> warps_;  // and blocks
  std::vector<std::function<void()>> bodies_;     // of the threads
  std::vector<std::function<void()>> servers_;
  std::atomic<bool> stop_{false};
  std::atomic<bool> stop_servers_{false};
};

}  // namespace ringpost::conformance

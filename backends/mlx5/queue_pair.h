// queue_pair.h: one QP of a NIC, by either route, with all that it owns.
#pragma once

#include <memory>
#include <string>

#include "backends/mlx5/completion_relay.h"
#include "backends/mlx5/dc_target.h"
#include "backends/mlx5/doorbell_page.h"
#include "backends/mlx5/memory_access.h"
#include "backends/qp_spec.h"

namespace ringpost::mlx5 {

// What QPs of a NIC share. All outlive them.
struct Shared {
  const Device& device;
  MemoryAccess& memory;
  DoorbellPage* doorbells = nullptr;  // of route devx
  CompletionRelay* relay = nullptr;   // of route verbs
  bool gpu_is_host = false;           // placement kGpu gets host memory
  bool gpu_kernels = false;           // what kernels alone use lies in GPU memory
  Placement PlaceOf(Placement placement) const {
    return gpu_is_host ? Placement::kHost : placement;
  }
};

class QueuePair {
 public:
  virtual ~QueuePair() = default;

  const QpViews& Views() const { return views_; }
  // kDc: where its peers' WQEs go; else 0.
  uint32_t DctNumber() const { return target_ == nullptr ? 0 : target_->Number(); }

  // To RTS, towards that peer. A DCI that is there already stays as it is, and its MTU with it.
  Result<bool> Connect(const Path& path, const QpAddress& peer);

 protected:
  explicit QueuePair(const Shared& shared) : shared_(shared) {}
  virtual std::string BringUp(const Path& path, const QpAddress& peer) = 0;

  const Shared shared_;
  QpViews views_;
  std::unique_ptr<DcTarget> target_;

 private:
  uint8_t mtu_ = 0;  // 0: not connected yet
};

// Behind the reason why doorbell mode kAuto is kCpu here.
inline constexpr char kRungByHost[] = "; transport.doorbell: auto rings by a host thread";

// `spec` is one that RefusalOf() accepts. For DevX its doorbell mode is kGpu or kCpu.
Result<std::unique_ptr<QueuePair>> MakeDevxQp(const Shared& shared, const QpSpec& spec);
Result<std::unique_ptr<QueuePair>> MakeVerbsQp(const Shared& shared, const QpSpec& spec);

// Why DC does not go where packets need a global header: on Ethernet, and in some subnets.
std::string NoGidOverDc(const std::string& port);

// What verbs call a path, from this port.
ibv_ah_attr AddressHandle(const DeviceFacts& facts, const Path& path);

}  // namespace ringpost::mlx5

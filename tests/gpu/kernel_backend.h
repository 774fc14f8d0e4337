// kernel_backend.h: the conformance suite in kernels: each thread of a test is one of a kernel,
// which calls the Endpoint, and one of the host, which tells it what to call (kernel_calls.h).
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backends/live/live_fabric.h"
#include "backends/mlx5/mlx5_nic.h"
#include "tests/conformance/any_backend.h"
#include "tests/conformance/any_endpoint.h"
#include "tests/gpu/kernel_calls.h"
#include "transport/memory/cuda_memory.h"

namespace ringpost::conformance {

class KernelLaunch;

// One thread of a kernel, as its thread of the host has it.
class KernelThread {
 public:
  KernelThread(KernelLaunch& launch, gpu_test::Mailbox& box, const std::atomic<bool>& stop)
      : launch_(launch), box_(box), stop_(stop) {}

  void LoadPayload(void* target, uint64_t address, uint64_t bytes);
  void StorePayload(uint64_t address, const void* source, uint64_t bytes);
  uint64_t Now();

  // Where the next call is written, and what came of it: an answer of kTimeout once the test is to
  // stop, or where the kernel could not be started.
  gpu_test::Call& Next(gpu_test::CallKind kind);
  const gpu_test::Answer& Ask();
  gpu_test::Mailbox& Box() { return box_; }
  // The slot of a new Endpoint; the first one starts the kernel.
  uint32_t Make(const std::string& publication, const std::string& ordering, bool block_wide,
                const QpTable& table);
  void Drop(uint32_t slot);
  void End();

 private:
  KernelLaunch& launch_;
  gpu_test::Mailbox& box_;
  const std::atomic<bool>& stop_;
  gpu_test::Answer none_;
  uint64_t asked_ = 0;
  uint32_t slots_ = 0;  // a bit for each in use
};

class KernelBackend {
 public:
  using P = KernelThread;
  static constexpr bool kRealTime = true;
  static constexpr Shape kBlock{40, 32, 40};  // the second warp is not full
  static const std::vector<PairOf<P>>& Pairs();

  virtual ~KernelBackend();
  virtual RealTimeNic& nic(uint32_t node) = 0;
  void Launch(uint32_t node, const Shape& shape, std::function<void(P&, uint32_t thread)> kernel);
  // Empty when all threads have ended in time and the NICs work.
  std::string Run();
  void Write(uint64_t address, const void* bytes, uint64_t size);
  void Read(uint64_t address, void* bytes, uint64_t size);

 protected:
  static CudaMemory& Memory();

 private:
  std::string NicFailure();
  std::vector<std::unique_ptr<KernelLaunch>> launches_;
  std::atomic<bool> stop_{false};
};

class LiveKernelBackend final : public KernelBackend {
 public:
  static constexpr bool kInjectsErrors = true;
  // A CPU rings for queues in host memory alone, and has BlueFlame for itself.
  static constexpr bool Rings(DoorbellMode mode) {
    return mode == DoorbellMode::kGpu || mode == DoorbellMode::kAuto;
  }

  explicit LiveKernelBackend(const Conditions& conditions);
  ~LiveKernelBackend() override;
  RealTimeNic& nic(uint32_t node) override { return fabric_->nic(node); }
  void Fail(const QpView& qp, uint32_t node, uint64_t wqe, abi::Syndrome syndrome);

 private:
  std::unique_ptr<LiveFabric> fabric_;
};

// On a ConnectX, or two virtual ones.
class Mlx5KernelBackend final : public KernelBackend {
 public:
  static constexpr bool kInjectsErrors = false;
  static constexpr bool Rings(DoorbellMode mode) {
    return mode != DoorbellMode::kRecordFree && mode != DoorbellMode::kBlueFlame;
  }

  explicit Mlx5KernelBackend(const Conditions& conditions);
  ~Mlx5KernelBackend() override;
  RealTimeNic& nic(uint32_t node) override { return *nics_[node]; }

 private:
  std::unique_ptr<Mlx5Nic> nics_[2];
};

}  // namespace ringpost::conformance

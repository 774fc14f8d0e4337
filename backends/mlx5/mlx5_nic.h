// mlx5_nic.h: a port of a real ConnectX, through rdma-core.
//
//   auto nic = Mlx5Nic::Open({});
//   auto qp = nic.Value()->CreateQp({.placement = Placement::kHost});
//   ... exchange QpAddress with the peer ... nic.Value()->Connect(qp.Value(), peer);
//
// A QpAddress's node is the port's LID, 0 on Ethernet; its `port` is all that the peer must know.
// Any thread may call anything. A QP that failed is found by the Completion of whoever waits for
// it, with QPN, WQE index and syndromes; events of the device come to `note` and Failure().
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backends/host_doorbells.h"
#include "backends/mlx5/completion_relay.h"
#include "backends/mlx5/device.h"
#include "backends/mlx5/doorbell_page.h"
#include "backends/mlx5/event_watch.h"
#include "backends/mlx5/memory_access.h"
#include "backends/mlx5/queue_pair.h"
#include "backends/real_time_nic.h"
#include "transport/memory.h"

namespace ringpost {

struct Mlx5NicOptions {
  mlx5::DeviceOptions device;
  // Where allocations come from, and who outlives the NIC; none: host memory, and no GPU's.
  MemoryProvider* memory = nullptr;
  // Placement::kGpu gets host memory: for kernels that are host threads.
  bool gpu_is_host = false;
  // Threads of a GPU post, whose memory is that of `memory`: on route devx the words that they
  // alone use lie there, wherever the queues do.
  bool gpu_kernels = false;
  // One line for each warning and each event of the device, from any thread.
  mlx5::Warn note;
};

class Mlx5Nic final : public RealTimeNic {
 public:
  static Result<std::unique_ptr<Mlx5Nic>> Open(const Mlx5NicOptions& options);
  ~Mlx5Nic() override;

  Result<RegisteredMemory> Allocate(Placement placement, uint64_t bytes) override;
  Result<QpAddress> CreateQp(const QpSpec& spec) override;
  Result<bool> Connect(const QpAddress& local, const QpAddress& peer) override;
  Result<QpView> View(const QpAddress& local) const override;
  Result<ReceiveView> Receives(const QpAddress& local) const override;
  std::string Failure() const override { return events_->Failure(); }
  std::vector<Fact> Facts() const override;

  // Memory of the caller's, until Deregister(): in pieces of what the device registers at once, in
  // the order of their addresses.
  Result<std::vector<RegisteredMemory>> Register(const Allocation& memory);
  Result<bool> Deregister(const RegisteredMemory& memory);
  Result<bool> DestroyQp(const QpAddress& local);

  const mlx5::DeviceFacts& DeviceFacts() const { return device_->Facts(); }

 private:
  explicit Mlx5Nic(const Mlx5NicOptions& options) : options_(options) {}
  std::string Start();
  Result<DoorbellMode> DoorbellOf(const QpSpec& spec);
  std::string RefusalOnDevice(const QpSpec& spec) const;
  Result<RegisteredMemory> Keep(const Allocation& memory);
  Error NotOurs(const QpAddress& address) const;
  mlx5::Shared SharedParts();

  // In the order of dependence: what stands below uses what stands above.
  const Mlx5NicOptions options_;
  std::unique_ptr<MemoryProvider> own_memory_;
  std::unique_ptr<mlx5::Device> device_;
  std::unique_ptr<mlx5::EventWatch> events_;
  std::unique_ptr<mlx5::DoorbellPage> doorbells_;
  std::unique_ptr<mlx5::MemoryAccess> memory_;
  mlx5::CompletionRelay relay_;
  struct Region {
    mlx5::OwnedMemory memory;  // of Allocate()
    mlx5::Mr key;
  };
  RegisteredMemory sink_;
  mutable std::mutex mutex_;                                  // guards what follows
  std::map<uint32_t, Region> regions_;                        // by key
  std::map<uint32_t, std::unique_ptr<mlx5::QueuePair>> qps_;  // by QPN
  std::string rung_by_;                                       // the newest QP
  HostDoorbells bells_;                                       // last: its thread uses QPs
};

}  // namespace ringpost

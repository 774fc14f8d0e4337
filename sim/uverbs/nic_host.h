// nic_host.h: one virtual device in this process: a slot of the machine's fabric, the software NIC
// with its thread (sim/service), and the UAR pages. All contexts that the process opens share it.
//
// Any thread may call anything; what runs on the NIC's thread is said so.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

#include "sim/nic/facts.h"
#include "sim/service/fabric_segment.h"
#include "sim/service/nic_service.h"
#include "sim/uverbs/gpu/gpu_memory.h"
#include "sim/uverbs/prm/firmware.h"
#include "sim/uverbs/settings.h"
#include "sim/uverbs/uar_pages.h"
#include "transport/result.h"

namespace ringpost::sim::uverbs {

enum class Subject : uint8_t { kCq, kQp, kSrq };

class NicHost {
 public:
  static constexpr uint32_t kCompletionVectors = 8;
  // `on_gpu` is called, on any NIC's thread, when it has come to reach memory of a GPU.
  static Result<std::shared_ptr<NicHost>> Start(const Settings& settings,
                                                const DeviceSettings& device,
                                                std::shared_ptr<UarPages> uars,
                                                std::function<void()> on_gpu = {});
  NicHost(const NicHost&) = delete;
  NicHost& operator=(const NicHost&) = delete;
  ~NicHost() { Stop(); }

  const DeviceSettings& Device() const { return device_; }
  const NicLimits& Limits() const { return limits_; }
  uint32_t Mtu() const { return mtu_; }
  UarPages& Uars() { return *uars_; }

  // Runs body(loop) on the NIC's thread. False where that thread has ended.
  bool Call(const std::function<void(service::NicLoop&)>& body);

  // On the NIC's thread, inside Call(). The listener runs there too, for what happens to a CQ, QP
  // or SRQ of that number.
  using Listener = std::function<void(EventKind)>;
  void Listen(Subject subject, uint32_t number, Listener listener);
  void Forget(Subject subject, uint32_t number);

  // The command interface. On the NIC's thread, inside Call().
  prm::Firmware& Firmware() { return *firmware_; }

  // Memory of GPUs is not reached any more: their driver is about to end.
  void LeaveGpus();

  // Ends the thread and leaves the fabric; every Call() from then on fails.
  void Stop();

 private:
  NicHost() = default;
  void OnEvent(const AsyncEvent& event);

  DeviceSettings device_;
  NicLimits limits_;
  uint32_t mtu_ = 0;
  std::shared_ptr<UarPages> uars_;
  std::unique_ptr<service::FabricSegment> fabric_;
  std::unordered_map<uint64_t, Listener> listeners_;  // the NIC's thread's
  std::unique_ptr<prm::Firmware> firmware_;           // the same
  std::unique_ptr<gpu::GpuMemory> gpu_;               // the same
  // Last: its thread uses the others.
  std::unique_ptr<service::NicService> service_;
};

}  // namespace ringpost::sim::uverbs

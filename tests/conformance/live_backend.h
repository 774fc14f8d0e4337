// live_backend.h: the conformance suite on software NICs in real time, with a thread each.
#pragma once

#include <memory>

#include "backends/live/live_fabric.h"
#include "tests/conformance/threads_backend.h"

namespace ringpost::conformance {

class LiveBackend final : public ThreadsBackend {
 public:
  static constexpr bool kInjectsErrors = true;
  static constexpr bool Rings(DoorbellMode mode) { return mode != DoorbellMode::kRecordFree; }

  explicit LiveBackend(const Conditions& conditions);
  ~LiveBackend() override;
  RealTimeNic& nic(uint32_t node) override { return fabric_->nic(node); }
  void Fail(const QpView& qp, uint32_t node, uint64_t wqe, abi::Syndrome syndrome);

 private:
  std::unique_ptr<LiveFabric> fabric_;
};

}  // namespace ringpost::conformance

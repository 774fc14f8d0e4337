// gpu_report.h: what went wrong on a GPU, for the host to read.
#pragma once

#include <cstdint>

#include "transport/host_device.h"
#include "transport/memory_span.h"
#include "transport/order.h"
#include "transport/status.h"
#include "workloads/outcome.h"

namespace ringpost::workloads {

// Of all threads of a kernel.
struct GpuReport {
  uint32_t failures = 0;
  Act act = Act::kPut;  // of the first one
  Completion first;
};

// An Outcome that lies in GPU memory.
template <class P>
class GpuOutcome {
 public:
  HOST_DEVICE GpuOutcome(P& port, GpuReport* report) : port_(port), report_(report) {}
  HOST_DEVICE bool Expect(const Completion& completion, Act act) {
    if (completion.Ok()) return true;
    const Ref<uint32_t> failures{reinterpret_cast<uint64_t>(&report_->failures)};
    if (port_.template FetchAdd<Order::kRelaxed, Scope::kGpu>(failures, 1) == 0) {
      report_->act = act;
      report_->first = completion;
    }
    return false;
  }

 private:
  P& port_;
  GpuReport* report_;
};

}  // namespace ringpost::workloads

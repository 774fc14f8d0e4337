// sim_steps.h: what a GPU thread in virtual time tells a trace of itself. A base of SimPort.
#pragma once

#include "sim/gpu/gpu.h"
#include "sim/node/trace.h"

namespace ringpost {

class SimSteps {
 public:
  // `trace`: null, or one that is on and outlives this.
  SimSteps(sim::GpuThread& thread, sim::Trace* trace) : trace_(trace), traced_(thread) {}

 protected:
  // From `begin` until now. Off: one branch.
  void Traced(sim::ThreadAct act, uint32_t qpn, uint64_t index, sim::Time begin) const {
    if (trace_ == nullptr) [[likely]]
      return;
    trace_->Add(sim::ThreadStep{act, traced_.MyGpu().Node(), traced_.Index(), qpn, index, begin,
                                traced_.Local()});
  }

  sim::Trace* const trace_;

 private:
  sim::GpuThread& traced_;
};

}  // namespace ringpost

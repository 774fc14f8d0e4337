#include "sim/gpu/gpu.h"

#include <algorithm>

#include "sim/engine/check.h"

namespace ringpost::sim {

Gpu::Gpu(Engine& engine, Memory& memory, const CostTable& costs, uint16_t node, AgentKind kind)
    : engine_(engine), memory_(memory), costs_(costs), node_(node), kind_(kind) {
  lanes_on_sm_.resize(costs.sms_count);
  memory_.SetWake([](const Watch& watch, const Message& message, Time time) {
    static_cast<GpuThread*>(watch.owner)->OnChange(watch, message, time);
  });
}

Gpu::~Gpu() = default;

void Gpu::Launch(const LaunchShape& shape, Time start, size_t stack_bytes, Body body) {
  RINGPOST_CHECK(Finished(), "one kernel at a time");
  shape_ = shape;
  shape_.sms = std::clamp(shape.sms, 1u, costs_.sms_count);
  body_ = std::move(body);
  cancelled_ = false;
  const uint32_t resident = std::min(shape.threads, shape_.sms * kThreadsPerSm);
  stacks_ = std::make_unique<StackSlab>(resident, stack_bytes, &Gpu::Entry);
  for (uint32_t first = 0; first < shape.threads; first += shape.threads_per_block) {
    waiting_.push_back({first, std::min(shape.threads_per_block, shape.threads - first)});
  }
  running_ = shape.threads;
  StartBlocks(start);
}

void Gpu::StartBlocks(Time when) {
  uint32_t full = 0;
  while (!waiting_.empty() && full < shape_.sms) {
    const uint32_t sm = next_sm_;
    next_sm_ = (next_sm_ + 1) % shape_.sms;
    if (lanes_on_sm_[sm] + waiting_.front().threads > kThreadsPerSm) {
      ++full;
      continue;
    }
    full = 0;
    const Block block = waiting_.front();
    waiting_.pop_front();
    StartBlock(block, sm, when);
  }
}

void Gpu::StartBlock(const Block& block, uint32_t sm, Time when) {
  // Unique over all nodes, as the memory asks.
  const uint32_t cta = (uint32_t{node_} << 20) | (block.first_thread / shape_.threads_per_block);
  lanes_on_sm_[sm] += block.threads;
  CtaGroup& group = blocks_.emplace_back(*this, sm);
  for (uint32_t i = 0; i < block.threads; ++i) {
    if (i % kLanesPerWarp == 0) {
      warps_.emplace_back(*this, (uint32_t{node_} << 20) | next_warp_++, sm);
    }
    Warp& warp = warps_.back();
    const AgentId agent = memory_.AddAgent({kind_, node_, cta, warp.Id()});
    threads_.emplace_back(*this, warp, group, agent, block.first_thread + i, i);
    warp.AddLane(threads_.back(), agent);
    group.AddLane(threads_.back(), agent);
    threads_.back().Launch(when, *stacks_);
  }
}

Time Gpu::CopyEnds(Time start, uint64_t bytes) {
  const double ps = 2 * static_cast<double>(bytes) * costs_.gpu.memory_ps_per_byte;
  copies_end_ = Later(start, copies_end_) + Duration{static_cast<int64_t>(ps + 0.5)};
  return copies_end_;
}

void Gpu::Entry(void* argument) {
  GpuThread& thread = *static_cast<GpuThread*>(argument);
  thread.MyGpu().body_(thread);
  thread.MyWarp().Leave();
  thread.MyBlock().Leave();
}

void Gpu::ThreadEnded(GpuThread& thread) {
  stacks_->Return(thread.Stack());
  --lanes_on_sm_[thread.MyWarp().Sm()];
  --running_;
  if (!waiting_.empty()) StartBlocks(Later(engine_.Now(), thread.Local()));
}

void Gpu::Cancel() {
  cancelled_ = true;
  for (GpuThread& thread : threads_) thread.Cancel();
}

}  // namespace ringpost::sim

// gpu_jobs.h: the workloads as a GPU's threads run them: what each kernel is given, and where it
// leaves what it found.
//
// A job is a POD, passed to the kernel by value; what it points to is memory of the GPU. Its Run is
// a template over the port, so that host threads can run it too. Latencies are taken by the SM's
// cycle counter, which is finer than the clock of Now(); each thread tells how the two relate.
#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

#include "transport/host_device.h"
#include "workloads/callers.h"
#include "workloads/gpu_report.h"
#include "workloads/message_rate.h"
#include "workloads/put_latency.h"
#include "workloads/round_trip.h"

namespace ringpost::workloads {

// What one thread has measured by both clocks, from its first operation to its last one.
struct ClockRate {
  uint64_t cycles = 0;
  uint64_t ps = 0;
};

// Cycles of one thread: `values` for each operation, in GPU memory.
struct CycleArray {
  uint32_t* cycles = nullptr;
  ClockRate* rate = nullptr;
};

inline constexpr uint32_t kStagedOperations = 128;

// Latencies wait in shared memory, so that no store of one is outstanding when the next put is
// fenced; when there is no more room, they leave between two operations.
template <class P, uint32_t kValues>
class CycleSamples {
 public:
  HOST_DEVICE CycleSamples(P& port, const QpView& qp, const CycleArray& out, uint32_t* stage)
      : port_(port), qp_(qp), out_(out), stage_(stage), ps_(port.Now()), cycles_(port.Cycles()) {}

  HOST_DEVICE uint64_t Now(P& port) const { return port.Cycles(); }
  HOST_DEVICE void Add(uint64_t cycles) {
    static_assert(kValues == 1);
    stage_[staged_] = static_cast<uint32_t>(cycles);
    Count();
  }
  HOST_DEVICE void Add(uint64_t start, uint64_t issued, uint64_t completed) {
    static_assert(kValues == 2);
    stage_[2 * staged_] = static_cast<uint32_t>(issued - start);
    stage_[2 * staged_ + 1] = static_cast<uint32_t>(completed - start);
    Count();
  }
  HOST_DEVICE void Finish() {
    Leave();
    *out_.rate = {port_.Cycles() - cycles_, port_.Now() - ps_};
  }

 private:
  HOST_DEVICE void Count() {
    if (++staged_ == kStagedOperations) Leave();
  }
  HOST_DEVICE void Leave() {
    for (uint32_t i = 0; i < staged_ * kValues; ++i) out_.cycles[gone_ + i] = stage_[i];
    gone_ += staged_ * kValues;
    staged_ = 0;
    // None of these stores is outstanding when the next operation begins: its times rely on it.
    port_.template Fence<Order::kAcqRel, Scope::kSystem>(qp_);
  }

  P& port_;
  const QpView& qp_;
  const CycleArray out_;
  uint32_t* stage_;
  const uint64_t ps_;
  const uint64_t cycles_;
  uint32_t staged_ = 0;
  uint64_t gone_ = 0;
};

// `stage` of each Run: kStageWords of shared memory for each warp.
struct PutLatencyJob {
  static constexpr uint32_t kMostQps = 16;
  static constexpr uint32_t kMostInline = 220;
  static constexpr uint32_t kStageWords = 2 * kStagedOperations;

  PutLatencyArguments arguments;  // but for the views, and the payload of an inline put
  bool sends_inline = false;
  uint8_t payload[kMostInline] = {};
  QpView views[kMostQps];
  CycleArray out;
  GpuReport* report = nullptr;

  template <class P, class Publication, class Ordering>
  HOST_DEVICE void Run(P& port, uint32_t, uint32_t* stage) const {
    PutLatencyArguments a = arguments;
    a.qps.views = views;
    a.inline_payload = sends_inline ? payload : nullptr;
    CycleSamples<P, 2> samples(port, views[0], out, stage);
    GpuOutcome<P> outcome(port, report);
    PutLatencyKernel<P, Publication, Ordering>(port, a, samples, outcome);
    if (port.Lane() == 0) samples.Finish();
  }
};

struct RoundTripJob {
  static constexpr uint32_t kStageWords = kStagedOperations;

  RoundTripArguments arguments;  // but for the view
  QpView view;
  CycleArray out;
  GpuReport* report = nullptr;

  template <class P, class Publication, class Ordering>
  HOST_DEVICE void Run(P& port, uint32_t, uint32_t* stage) const {
    RoundTripArguments a = arguments;
    a.qps.views = &view;
    CycleSamples<P, 1> samples(port, view, out, stage);
    GpuOutcome<P> outcome(port, report);
    RoundTripKernel<P, Publication, Ordering>(port, a, samples, outcome);
    samples.Finish();
  }
};

struct MessageRateJob {
  static constexpr uint32_t kStageWords = 0;

  const MessageRateArguments* arguments = nullptr;  // of each thread, but for the views
  const QpView* views = nullptr;                    // of each thread
  ThreadRate* rates = nullptr;
  uint32_t threads = 0;
  GpuReport* report = nullptr;

  template <class P, class Publication, class Ordering>
  HOST_DEVICE void Run(P& port, uint32_t thread, uint32_t*) const {
    if (thread >= threads) return;
    // In registers: an acquire would make the loop load them again each time.
    MessageRateArguments a = arguments[thread];
    const QpView view = views[thread];
    a.qps = {&view, 1, 0, 1, 0};
    ThreadRate rate;
    GpuOutcome<P> outcome(port, report);
    MessageRateKernel<P, Publication, Ordering>(port, a, rate, outcome);
    rates[thread] = rate;
  }
};

using GpuJob = std::variant<PutLatencyJob, RoundTripJob, MessageRateJob, CallerJob>;

// A kernel to start: the names of its policies are those of pairs.h.
struct GpuKernel {
  std::string_view publication;
  std::string_view ordering;
  uint32_t blocks = 1;
  uint32_t threads_per_block = 1;
  GpuJob job;
};

}  // namespace ringpost::workloads

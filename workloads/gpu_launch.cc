#include "workloads/gpu_launch.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

#include "workloads/gpu_array.h"

namespace ringpost::workloads {
namespace {

std::string FirstOf(const std::string& a, const std::string& b) { return a.empty() ? b : a; }

// What all launches share: a report, and the kernel.
class JobLaunch : public GpuLaunch {
 public:
  JobLaunch(Gpu& gpu, const GpuGrid& grid, Outcome* outcome)
      : gpu_(gpu), outcome_(outcome), report_(gpu, 1) {
    kernel_.publication = grid.publication;
    kernel_.ordering = grid.ordering;
    kernel_.threads_per_block = grid.threads_per_block;
    kernel_.blocks = (grid.threads + grid.threads_per_block - 1) / grid.threads_per_block;
  }

  std::string Start() override {
    const std::string wrong = FirstOf(report_.Wrong(), Wrong());
    return wrong.empty() ? gpu_.Start(kernel_) : wrong;
  }

  std::string Finish() override {
    std::string wrong = gpu_.Wait();
    if (!wrong.empty()) return wrong;
    const std::vector<GpuReport> found = report_.Fetch();
    if (found.empty()) return report_.Wrong();
    if (found[0].failures != 0) {
      outcome_->Expect(found[0].first, found[0].act);
    } else {
      Collect();
    }
    return Wrong();
  }

 protected:
  virtual std::string Wrong() const = 0;
  virtual void Collect() = 0;
  GpuReport* Report() const { return report_.There(); }
  void SetJob(const GpuJob& job) { kernel_.job = job; }

 private:
  Gpu& gpu_;
  Outcome* outcome_;
  GpuKernel kernel_;
  GpuArray<GpuReport> report_;
};

// Latencies of one thread: in picoseconds, by what both clocks counted over the whole run.
class Latencies {
 public:
  Latencies(Gpu& gpu, uint64_t values) : cycles_(gpu, values), rate_(gpu, 1) {}

  CycleArray There() const { return {cycles_.There(), rate_.There()}; }
  std::string Wrong() const { return FirstOf(cycles_.Wrong(), rate_.Wrong()); }
  std::vector<uint64_t> Fetch() {
    const std::vector<uint32_t> cycles = cycles_.Fetch();
    const std::vector<ClockRate> rate = rate_.Fetch();
    std::vector<uint64_t> ps;
    if (rate.empty() || rate[0].cycles == 0) return ps;
    const double each = static_cast<double>(rate[0].ps) / static_cast<double>(rate[0].cycles);
    for (const uint32_t some : cycles) ps.push_back(static_cast<uint64_t>(some * each + 0.5));
    return ps;
  }

 private:
  GpuArray<uint32_t> cycles_;
  GpuArray<ClockRate> rate_;
};

class PutLatencyLaunch final : public JobLaunch {
 public:
  PutLatencyLaunch(Gpu& gpu, const GpuGrid& grid, const PutLatencyArguments& arguments,
                   PutLatencySamples* samples, Outcome* outcome)
      : JobLaunch(gpu, grid, outcome),
        latencies_(gpu, 2 * arguments.operations),
        samples_(samples) {
    PutLatencyJob job;
    job.arguments = arguments;
    job.sends_inline = arguments.inline_payload != nullptr;
    if (job.sends_inline) std::memcpy(job.payload, arguments.inline_payload, arguments.bytes);
    std::copy_n(arguments.qps.views, arguments.qps.count, job.views);
    job.out = latencies_.There();
    job.report = Report();
    SetJob(job);
  }

 private:
  std::string Wrong() const override { return latencies_.Wrong(); }
  void Collect() override {
    const std::vector<uint64_t> ps = latencies_.Fetch();
    for (size_t i = 0; i + 1 < ps.size(); i += 2) samples_->Add(0, ps[i], ps[i + 1]);
  }

  Latencies latencies_;
  PutLatencySamples* samples_;
};

class RoundTripLaunch final : public JobLaunch {
 public:
  RoundTripLaunch(Gpu& gpu, const GpuGrid& grid, const RoundTripArguments& arguments,
                  Samples* samples, Outcome* outcome)
      : JobLaunch(gpu, grid, outcome),
        latencies_(gpu, arguments.starts ? arguments.rounds - arguments.warm_up : 0),
        samples_(samples) {
    RoundTripJob job;
    job.arguments = arguments;
    job.view = arguments.qps.views[arguments.qps.selected];
    job.out = latencies_.There();
    job.report = Report();
    SetJob(job);
  }

 private:
  std::string Wrong() const override { return latencies_.Wrong(); }
  void Collect() override {
    for (const uint64_t ps : latencies_.Fetch()) samples_->Add(ps);
  }

  Latencies latencies_;
  Samples* samples_;
};

std::vector<QpView> SelectedViews(const std::vector<MessageRateArguments>& arguments) {
  std::vector<QpView> views;
  for (const MessageRateArguments& a : arguments) views.push_back(a.qps.views[a.qps.selected]);
  return views;
}

class MessageRateLaunch final : public JobLaunch {
 public:
  MessageRateLaunch(Gpu& gpu, const GpuGrid& grid,
                    const std::vector<MessageRateArguments>& arguments,
                    std::vector<ThreadRate>* rates, Outcome* outcome)
      : JobLaunch(gpu, grid, outcome),
        arguments_(gpu, arguments),
        views_(gpu, SelectedViews(arguments)),
        found_(gpu, arguments.size()),
        rates_(rates) {
    SetJob(
        MessageRateJob{arguments_.There(), views_.There(), found_.There(), grid.threads, Report()});
  }

 private:
  std::string Wrong() const override {
    return FirstOf(arguments_.Wrong(), FirstOf(views_.Wrong(), found_.Wrong()));
  }
  void Collect() override { *rates_ = found_.Fetch(); }

  GpuArray<MessageRateArguments> arguments_;
  GpuArray<QpView> views_;
  GpuArray<ThreadRate> found_;
  std::vector<ThreadRate>* rates_;
};

}  // namespace

std::unique_ptr<GpuLaunch> LaunchPutLatency(Gpu& gpu, const GpuGrid& grid,
                                            const PutLatencyArguments& arguments,
                                            PutLatencySamples* samples, Outcome* outcome) {
  return std::make_unique<PutLatencyLaunch>(gpu, grid, arguments, samples, outcome);
}

std::unique_ptr<GpuLaunch> LaunchRoundTrip(Gpu& gpu, const GpuGrid& grid,
                                           const RoundTripArguments& arguments, Samples* samples,
                                           Outcome* outcome) {
  return std::make_unique<RoundTripLaunch>(gpu, grid, arguments, samples, outcome);
}

std::unique_ptr<GpuLaunch> LaunchMessageRate(Gpu& gpu, const GpuGrid& grid,
                                             const std::vector<MessageRateArguments>& arguments,
                                             std::vector<ThreadRate>* rates, Outcome* outcome) {
  return std::make_unique<MessageRateLaunch>(gpu, grid, arguments, rates, outcome);
}

}  // namespace ringpost::workloads

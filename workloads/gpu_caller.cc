#include "workloads/gpu_caller.h"

#include <algorithm>
#include <utility>

#include "workloads/gpu_array.h"

namespace ringpost::workloads {
namespace {

struct Row {
  const char* name;
  CallerCode code;
  CallerBuild build;
  bool sends;  // else its code, if it has any, is dormant
};

constexpr Row kRows[] = {
    {"absent", CallerCode::kAbsent, CallerBuild::kInlined, false},
    {"dormant_inlined", CallerCode::kSend, CallerBuild::kInlined, false},
    {"dormant_separate", CallerCode::kSend, CallerBuild::kSeparate, false},
    {"send_inlined", CallerCode::kSend, CallerBuild::kInlined, true},
    {"send_separate", CallerCode::kSend, CallerBuild::kSeparate, true},
    {"send_wait_inlined", CallerCode::kSendWait, CallerBuild::kInlined, true},
    {"send_wait_separate", CallerCode::kSendWait, CallerBuild::kSeparate, true},
};

std::vector<MessageRateArguments> NothingToPut(size_t threads) {
  std::vector<MessageRateArguments> arguments(threads);
  for (size_t thread = 0; thread < threads; ++thread) arguments[thread].thread = thread;
  return arguments;
}

class CallerLaunch final : public GpuLaunch {
 public:
  CallerLaunch(Gpu& gpu, const GpuGrid& grid, const CallerArguments& arguments,
               CallerResults* results, Outcome* outcome)
      : gpu_(gpu),
        arguments_(arguments),
        results_(results),
        outcome_(outcome),
        report_(gpu, 1),
        views_(gpu, arguments.views),
        data_(gpu, arguments.work == CallerWork::kStream ? arguments.data_words : 1),
        drain_(gpu, NothingToPut(arguments.views.size())),
        rates_(gpu, arguments.views.size()) {
    kernel_.publication = grid.publication;
    kernel_.ordering = grid.ordering;
  }

  std::string Start() override {
    for (const std::string& wrong :
         {report_.Wrong(), views_.Wrong(), data_.Wrong(), drain_.Wrong(), rates_.Wrong()}) {
      if (!wrong.empty()) return wrong;
    }
    for (const Row& row : kRows) {
      if (row.sends && arguments_.messages == 0) continue;
      const std::string wrong = RunRow(row);
      if (!wrong.empty() || !outcome_->ok) return wrong;
    }
    return {};
  }
  std::string Finish() override { return {}; }

 private:
  CallerJob JobOf(const Row& row) const {
    CallerJob job;
    job.variant = {arguments_.work, arguments_.live_values, row.code, row.build};
    job.views = views_.There();
    job.target = arguments_.target;
    job.messages = row.sends ? arguments_.messages : 0;
    job.rounds = arguments_.rounds / (job.messages + 1);
    job.data = data_.There();
    job.data_words = arguments_.data_words;
    job.sink = data_.There();
    job.report = report_.There();
    return job;
  }

  std::string RunRow(const Row& row) {
    CallerJob job = JobOf(row);
    Ready(job, kCallerBlock, static_cast<uint32_t>(arguments_.views.size()));
    const Result<Gpu::Use> use = gpu_.UseOf(kernel_);
    if (!use.Ok()) return use.Message();
    std::vector<double> took;
    for (uint64_t i = 0; i < arguments_.warm_up + arguments_.repetitions; ++i) {
      job.sent = results_->sent;
      Ready(job, kCallerBlock, static_cast<uint32_t>(arguments_.views.size()));
      std::string wrong = RunKernel();
      if (i >= arguments_.warm_up) took.push_back(gpu_.Milliseconds());
      results_->sent += job.messages;
      if (wrong.empty() && row.sends) wrong = Drain();
      if (!wrong.empty() || !outcome_->ok) return wrong;
    }
    const auto middle = took.begin() + static_cast<std::ptrdiff_t>(took.size() / 2);
    std::nth_element(took.begin(), middle, took.end());
    results_->rows.push_back({row.name, use.Value(), *middle});
    return {};
  }

  // What this kernel has sent is at its target before the next one is timed.
  std::string Drain() {
    const auto threads = static_cast<uint32_t>(arguments_.views.size());
    Ready(MessageRateJob{drain_.There(), views_.There(), rates_.There(), threads, report_.There()},
          1, threads);
    return RunKernel();
  }

  void Ready(const GpuJob& job, uint32_t threads_per_block, uint32_t blocks) {
    kernel_.job = job;
    kernel_.threads_per_block = threads_per_block;
    kernel_.blocks = blocks;
  }

  std::string RunKernel() {
    std::string wrong = gpu_.Start(kernel_);
    if (wrong.empty()) wrong = gpu_.Wait();
    if (!wrong.empty()) return wrong;
    const std::vector<GpuReport> found = report_.Fetch();
    if (found.empty()) return report_.Wrong();
    if (found[0].failures != 0) outcome_->Expect(found[0].first, found[0].act);
    return {};
  }

  Gpu& gpu_;
  const CallerArguments arguments_;
  CallerResults* results_;
  Outcome* outcome_;
  GpuKernel kernel_;
  GpuArray<GpuReport> report_;
  GpuArray<QpView> views_;
  GpuArray<float> data_;
  GpuArray<MessageRateArguments> drain_;
  GpuArray<ThreadRate> rates_;
};

}  // namespace

std::unique_ptr<GpuLaunch> LaunchCallers(Gpu& gpu, const GpuGrid& grid,
                                         const CallerArguments& arguments, CallerResults* results,
                                         Outcome* outcome) {
  return std::make_unique<CallerLaunch>(gpu, grid, arguments, results, outcome);
}

}  // namespace ringpost::workloads

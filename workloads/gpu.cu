#include "workloads/gpu.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdlib>
#include <variant>

#include "transport/cuda_port.cuh"
#include "transport/memory/cuda_memory.h"
#include "transport/memory/gpu_agent.h"
#include "transport/proxy/pairs.h"
#include "transport/publication/pairs.h"
#include "workloads/caller_kernels.h"

namespace ringpost::workloads {
namespace {

template <class Job, class Publication, class Ordering>
__global__ void Kernel(const __grid_constant__ Job job) {
  extern __shared__ uint32_t stage[];
  CudaPort port;
  const uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
  job.template Run<CudaPort, Publication, Ordering>(port, thread,
                                                    stage + Job::kStageWords * (threadIdx.x / 32));
}

// A job as what is launched. All blocks of a kernel whose threads may wait for each other run at
// once.
template <class Job>
struct Launchable {
  void (*function)(Job) = nullptr;  // null: its policies are not built
  size_t shared = 0;                // bytes for each block
  bool at_once = true;
};

template <class Job>
Launchable<Job> LaunchableOf(const GpuKernel& kernel, const Job&) {
  Launchable<Job> found;
  const uint32_t warps = (kernel.threads_per_block + 31) / 32;
  found.shared = size_t{warps} * Job::kStageWords * sizeof(uint32_t);
  const auto take = [&]<class Publication, class Ordering>() {
    found.function = &Kernel<Job, Publication, Ordering>;
  };
  if (!VisitPair(kernel.publication, kernel.ordering, take)) VisitHandoff(kernel.publication, take);
  return found;
}

Launchable<CallerJob> LaunchableOf(const GpuKernel& kernel, const CallerJob& job) {
  const bool separate =
      job.variant.build == CallerBuild::kSeparate && job.variant.code != CallerCode::kAbsent;
  return {separate ? SeparateCaller(job.variant, kernel.ordering)
                   : InlinedCaller(job.variant, kernel.ordering),
          0, false};
}

// The smallest step of %globaltimer that this many looks at it find.
__global__ void FindTimerStep(uint64_t* step) {
  uint64_t least = ~uint64_t{0};
  uint64_t last = CudaPort::Now();
  for (uint32_t i = 0; i < 20000; ++i) {
    const uint64_t now = CudaPort::Now();
    if (now != last && now - last < least) least = now - last;
    last = now;
  }
  *step = least / 1000;
}

std::string Text(const char* what, cudaError_t error) {
  if (error == cudaSuccess) return {};
  cudaGetLastError();  // it is reported here, and must not show up in a later call
  return std::string(what) + ": " + cudaGetErrorString(error);
}

// Each kernel is in place before any is started: loading one later would wait for those that run.
void LoadEagerly() { setenv("CUDA_MODULE_LOADING", "EAGER", /*overwrite=*/0); }

int Count(std::string* why) {
  LoadEagerly();
  int count = 0;
  *why = Text("CUDA", cudaGetDeviceCount(&count));
  if (count == 0 && why->empty()) *why = "CUDA finds none";
  return why->empty() ? count : 0;
}

class CudaGpu final : public Gpu {
 public:
  explicit CudaGpu(int device) : device_(device), memory_(device) {}
  ~CudaGpu() override {
    if (begin_ != nullptr) cudaEventDestroy(begin_);
    if (end_ != nullptr) cudaEventDestroy(end_);
    if (stream_ != nullptr) cudaStreamDestroy(stream_);
  }

  std::string Open() {
    cudaError_t error = cudaSetDevice(device_);
    if (error == cudaSuccess) error = cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking);
    if (error == cudaSuccess) error = cudaEventCreate(&begin_);
    if (error == cudaSuccess) error = cudaEventCreate(&end_);
    if (error == cudaSuccess) error = cudaGetDeviceProperties(&properties_, device_);
    return error == cudaSuccess ? MeasureTimer() : Text("GPU", error);
  }

  MemoryProvider& Memory() override { return memory_; }
  Result<std::unique_ptr<DeviceAccess>> Reach() override { return StartGpuAgent(device_, memory_); }

  std::string Start(const GpuKernel& kernel) override {
    const std::string wrong = Text("GPU", cudaSetDevice(device_));
    if (!wrong.empty()) return wrong;
    return std::visit([&](const auto& job) { return StartJob(kernel, job); }, kernel.job);
  }

  std::string Wait() override {
    cudaError_t error = cudaSetDevice(device_);
    if (error == cudaSuccess) error = cudaStreamSynchronize(stream_);
    if (error == cudaSuccess) error = cudaEventElapsedTime(&milliseconds_, begin_, end_);
    return Text("kernel", error);
  }
  double Milliseconds() const override { return milliseconds_; }

  Result<Use> UseOf(const GpuKernel& kernel) override {
    Use use;
    const std::string wrong = std::visit(
        [&](const auto& job) { return Ask(kernel, LaunchableOf(kernel, job), &use); }, kernel.job);
    if (!wrong.empty()) return Error{wrong};
    return use;
  }

  std::vector<Fact> Facts() const override {
    int driver = 0;
    cudaDriverGetVersion(&driver);
    int khz = 0;
    cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, device_);
    return {
        {"gpu", std::string(properties_.name) + " " + std::to_string(device_)},
        {"gpu_sms", std::to_string(properties_.multiProcessorCount)},
        {"gpu_clock_most", std::to_string(khz / 1000) + " MHz"},
        {"cuda_driver", std::to_string(driver / 1000) + "." + std::to_string(driver % 1000 / 10)},
        {"gpu_times", "latencies by the SM's cycle counter; rates by %globaltimer, in steps of " +
                          std::to_string(step_ns_) + " ns"}};
  }

 private:
  template <class Job>
  std::string Ask(const GpuKernel& kernel, const Launchable<Job>& launchable, Use* use) {
    if (launchable.function == nullptr) return "a kernel of these policies is not built";
    cudaFuncAttributes attributes{};
    cudaError_t error = cudaFuncGetAttributes(&attributes, launchable.function);
    if (error == cudaSuccess) {
      error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
          &use->blocks_per_sm, launchable.function, static_cast<int>(kernel.threads_per_block),
          launchable.shared);
    }
    use->registers = attributes.numRegs;
    return Text("kernel", error);
  }

  template <class Job>
  std::string StartJob(const GpuKernel& kernel, const Job& job) {
    const Launchable<Job> launchable = LaunchableOf(kernel, job);
    Use use;
    const std::string wrong = Ask(kernel, launchable, &use);
    if (!wrong.empty()) return wrong;
    // One place is left for the agent, for which threads of all blocks may wait.
    const int places = use.blocks_per_sm * properties_.multiProcessorCount - 1;
    if (launchable.at_once && static_cast<int64_t>(kernel.blocks) > places) {
      return std::to_string(kernel.blocks) + " blocks of " +
             std::to_string(kernel.threads_per_block) +
             " threads do not run at once on this GPU: " + std::to_string(std::max(0, places)) +
             " do";
    }
    cudaEventRecord(begin_, stream_);
    launchable.function<<<kernel.blocks, kernel.threads_per_block, launchable.shared, stream_>>>(
        job);
    const cudaError_t error = cudaGetLastError();
    cudaEventRecord(end_, stream_);
    return Text("kernel", error);
  }

  std::string MeasureTimer() {
    uint64_t* step = nullptr;
    cudaError_t error = cudaMalloc(&step, sizeof(*step));
    if (error == cudaSuccess) {
      FindTimerStep<<<1, 1, 0, stream_>>>(step);
      error = cudaMemcpyAsync(&step_ns_, step, sizeof(*step), cudaMemcpyDefault, stream_);
    }
    if (error == cudaSuccess) error = cudaStreamSynchronize(stream_);
    cudaFree(step);
    return Text("GPU", error);
  }

  const int device_;
  CudaMemory memory_;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
  float milliseconds_ = 0;
  cudaDeviceProp properties_{};
  uint64_t step_ns_ = 0;
};

}  // namespace

std::string WhyNoGpu() {
  std::string why;
  return Count(&why) > 0 ? "" : "this machine has no GPU for kernels (" + why + ")";
}

Result<std::unique_ptr<Gpu>> OpenGpu(uint32_t rank) {
  std::string wrong;
  const int count = Count(&wrong);
  if (count == 0) return Error{wrong};
  auto gpu = std::make_unique<CudaGpu>(static_cast<int>(rank) % count);
  wrong = gpu->Open();
  if (!wrong.empty()) return Error{wrong};
  return std::unique_ptr<Gpu>(std::move(gpu));
}

}  // namespace ringpost::workloads

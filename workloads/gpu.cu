#include "workloads/gpu.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdlib>
#include <type_traits>

#include "transport/cuda_port.cuh"
#include "transport/memory/cuda_memory.h"
#include "transport/memory/gpu_agent.h"
#include "transport/publication/pairs.h"

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
    if (stream_ != nullptr) cudaStreamDestroy(stream_);
  }

  std::string Open() {
    cudaError_t error = cudaSetDevice(device_);
    if (error == cudaSuccess) error = cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking);
    if (error == cudaSuccess) error = cudaGetDeviceProperties(&properties_, device_);
    return error == cudaSuccess ? MeasureTimer() : Text("GPU", error);
  }

  MemoryProvider& Memory() override { return memory_; }
  Result<std::unique_ptr<DeviceAccess>> Reach() override { return StartGpuAgent(device_, memory_); }

  std::string Start(const GpuKernel& kernel) override {
    std::string wrong = Text("GPU", cudaSetDevice(device_));
    if (!wrong.empty()) return wrong;
    bool built = false;
    std::visit(
        [&](const auto& job) {
          using Job = std::decay_t<decltype(job)>;
          built = VisitPair(kernel.publication, kernel.ordering,
                            [&]<class Publication, class Ordering>() {
                              wrong = StartJob(&Kernel<Job, Publication, Ordering>, kernel, job);
                            });
        },
        kernel.job);
    return built ? wrong : "this pair of publication and ordering is not built";
  }

  std::string Wait() override {
    cudaError_t error = cudaSetDevice(device_);
    if (error == cudaSuccess) error = cudaStreamSynchronize(stream_);
    return Text("kernel", error);
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
  std::string StartJob(void (*function)(Job), const GpuKernel& kernel, const Job& job) {
    const uint32_t warps = (kernel.threads_per_block + 31) / 32;
    const size_t shared = size_t{warps} * Job::kStageWords * sizeof(uint32_t);
    int resident = 0;
    const cudaError_t asked = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &resident, function, static_cast<int>(kernel.threads_per_block), shared);
    if (asked != cudaSuccess) return Text("kernel", asked);
    // One place is left for the agent, for which threads of all blocks may wait.
    const int places = resident * properties_.multiProcessorCount - 1;
    if (static_cast<int64_t>(kernel.blocks) > places) {
      return std::to_string(kernel.blocks) + " blocks of " +
             std::to_string(kernel.threads_per_block) +
             " threads do not run at once on this GPU: " + std::to_string(std::max(0, places)) +
             " do";
    }
    function<<<kernel.blocks, kernel.threads_per_block, shared, stream_>>>(job);
    return Text("kernel", cudaGetLastError());
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

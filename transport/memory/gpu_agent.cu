#include "transport/memory/gpu_agent.h"

#include <cuda_runtime.h>

#include "transport/memory/agent_client.h"
#include "transport/memory/agent_kernel.cuh"

namespace ringpost {
namespace {

std::string Failed(const char* what, cudaError_t error) {
  cudaGetLastError();  // it is reported here, and must not show up in a later call
  return std::string(what) + ": " + cudaGetErrorString(error);
}

class GpuAgentRuntime final : public AgentRuntime {
 public:
  GpuAgentRuntime(int device, MemoryProvider& memory) : device_(device), memory_(memory) {}
  ~GpuAgentRuntime() override {
    if (stream_ != nullptr) static_cast<void>(cudaStreamDestroy(stream_));
  }

  // A stream of the highest priority that no other waits for: the agent is not held up by what the
  // program has queued, nor holds that up.
  std::string Open() {
    int least = 0, most = 0;
    cudaError_t error = cudaSetDevice(device_);
    if (error == cudaSuccess) error = cudaDeviceGetStreamPriorityRange(&least, &most);
    if (error == cudaSuccess) {
      error = cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, most);
    }
    return error == cudaSuccess ? std::string() : Failed("the stream of the agent", error);
  }

  Result<uint64_t> Take(uint64_t bytes) override {
    const Result<Allocation> taken = memory_.Allocate(Placement::kHost, bytes);
    if (!taken.Ok()) return Error{taken.Message()};
    return taken.Value().address;
  }

  std::string Start(AgentMailbox* mailbox, uint64_t done) override {
    cudaError_t error = cudaSetDevice(device_);
    if (error == cudaSuccess) {
      // Its own result: the last error of this thread may be that of an earlier call.
      uint64_t lease = kLeasePs;
      void* arguments[] = {&mailbox, &done, &lease};
      error = cudaLaunchKernel(reinterpret_cast<const void*>(&RingpostAgent), 1,
                               AgentMailbox::kWords, arguments, 0, stream_);
    }
    return error == cudaSuccess ? std::string() : Failed("the agent's kernel", error);
  }

  bool Runs() override { return cudaStreamQuery(stream_) == cudaErrorNotReady; }

 private:
  const int device_;
  MemoryProvider& memory_;
  cudaStream_t stream_ = nullptr;
};

}  // namespace

Result<std::unique_ptr<DeviceAccess>> StartGpuAgent(int device, MemoryProvider& memory) {
  auto runtime = std::make_unique<GpuAgentRuntime>(device, memory);
  const std::string refusal = runtime->Open();
  if (!refusal.empty()) return Error{refusal};
  return AgentClient::Open(std::move(runtime));
}

}  // namespace ringpost

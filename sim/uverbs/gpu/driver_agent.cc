#include "sim/uverbs/gpu/driver_agent.h"

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "sim/uverbs/gpu/driver_watch.h"
#include "transport/memory/agent_client.h"
#include "transport/memory/agent_image.h"
#include "transport/memory/agent_mailbox.h"

namespace ringpost::sim::uverbs::gpu {
namespace {

// Makes a context current while it lives.
class InContext {
 public:
  InContext(const CudaDriver& driver, CuContext context)
      : driver_(driver), result_(driver.push_context(context)) {}
  InContext(const InContext&) = delete;
  InContext& operator=(const InContext&) = delete;
  ~InContext() {
    CuContext popped = nullptr;
    if (result_ == kCuSuccess) driver_.pop_context(&popped);
  }
  CuResult Result() const { return result_; }

 private:
  const CudaDriver& driver_;
  const CuResult result_;
};

class DriverAgentRuntime final : public AgentRuntime {
 public:
  explicit DriverAgentRuntime(const CudaDriver& driver) : driver_(driver) {}
  ~DriverAgentRuntime() override {
    if (context_ == nullptr) return;
    const InContext current(driver_, context_);
    // At the end of a process the driver may be gone, and has freed what was left.
    if (current.Result() != kCuSuccess) return;
    if (stream_ != nullptr) driver_.destroy_stream(stream_);
    if (module_ != nullptr) driver_.unload_module(module_);
    for (void* memory : taken_) driver_.free_host(memory);
  }

  // A stream of the highest priority that no other waits for: the agent is not held up by what the
  // program has queued, nor holds that up.
  std::string Open(const GpuPlace& place) {
    CuResult result = kCuSuccess;
    context_ = place.context;
    if (context_ == nullptr) result = driver_.retain_primary(&context_, place.device);
    if (result != kCuSuccess) return CudaFailed(driver_, "the primary context", result);
    const InContext current(driver_, context_);
    if (current.Result() != kCuSuccess) {
      return CudaFailed(driver_, "the program's context", current.Result());
    }
    result = driver_.load_module(&module_, kAgentImage);
    if (result != kCuSuccess) {
      return CudaFailed(driver_, "the agent's module", result) +
             (kAgentImageBytes > 1 ? "" : " (this build had no CUDA Toolkit)");
    }
    result = driver_.find_function(&kernel_, module_, kAgentKernel);
    if (result != kCuSuccess) return CudaFailed(driver_, "the agent's kernel", result);
    int least = 0, most = 0;
    result = driver_.priority_range(&least, &most);
    if (result == kCuSuccess) result = driver_.create_stream(&stream_, kCuStreamNonBlocking, most);
    return result == kCuSuccess ? "" : CudaFailed(driver_, "the agent's stream", result);
  }

  ringpost::Result<uint64_t> Take(uint64_t bytes) override {
    const InContext current(driver_, context_);
    void* memory = nullptr;
    CuResult result = current.Result();
    if (result == kCuSuccess) {
      result = driver_.allocate_host(&memory, bytes, kCuHostAllocPortable | kCuHostAllocDeviceMap);
    }
    if (result != kCuSuccess) return Error{CudaFailed(driver_, "pinned memory", result)};
    taken_.push_back(memory);
    std::memset(memory, 0, bytes);
    return reinterpret_cast<uint64_t>(memory);
  }

  std::string Start(AgentMailbox* mailbox, uint64_t done) override {
    const WatchedCall watched("the start of its agent");
    const InContext current(driver_, context_);
    CuResult result = current.Result();
    uint64_t lease = kLeasePs;
    void* arguments[] = {&mailbox, &done, &lease};
    if (result == kCuSuccess) {
      result = driver_.launch(kernel_, 1, 1, 1, AgentMailbox::kWords, 1, 1, 0, stream_, arguments,
                              nullptr);
    }
    return result == kCuSuccess ? "" : CudaFailed(driver_, "the start of the agent", result);
  }

  void Late() override { SayStuck("an answer of its agent"); }

  bool Runs() override {
    const WatchedCall watched("the state of its agent");
    const InContext current(driver_, context_);
    return current.Result() == kCuSuccess && driver_.query_stream(stream_) == kCuNotReady;
  }

 private:
  const CudaDriver& driver_;
  CuContext context_ = nullptr;
  CuModule module_ = nullptr;
  CuFunction kernel_ = nullptr;
  CuStream stream_ = nullptr;
  std::vector<void*> taken_;
};

}  // namespace

Result<std::unique_ptr<DeviceAccess>> StartDriverAgent(const CudaDriver& driver,
                                                       const GpuPlace& place) {
  auto runtime = std::make_unique<DriverAgentRuntime>(driver);
  const std::string refusal = runtime->Open(place);
  if (!refusal.empty()) return Error{refusal};
  return AgentClient::Open(std::move(runtime));
}

}  // namespace ringpost::sim::uverbs::gpu

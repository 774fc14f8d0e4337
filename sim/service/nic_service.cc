#include "sim/service/nic_service.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

#include "transport/host_device.h"

namespace ringpost::sim::service {
namespace {

// Idle turns before the thread gives its core away.
constexpr uint32_t kEagerTurns = 64;

std::string Pin(std::thread& thread, int core) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (core >= CPU_SETSIZE) return "core " + std::to_string(core) + " does not exist";
  CPU_SET(core, &cores);
  const int error = pthread_setaffinity_np(thread.native_handle(), sizeof(cores), &cores);
  if (error == 0) return {};
  return "the NIC's thread cannot run on core " + std::to_string(core) + ": " +
         std::strerror(error);
}

}  // namespace

Result<std::unique_ptr<NicService>> NicService::Start(std::unique_ptr<PacketPort> port,
                                                      const RnicConfig& config,
                                                      const ServiceOptions& options) {
  std::unique_ptr<NicService> service(new NicService(std::move(port), config, options));
  try {
    service->thread_ = std::thread([self = service.get()] { self->Run(); });
  } catch (const std::exception& error) {
    return Error{std::string("the NIC's thread: ") + error.what()};
  }
  if (options.core >= 0) {
    const std::string refusal = Pin(service->thread_, options.core);
    if (!refusal.empty()) return Error{refusal};
  }
  return service;
}

NicService::NicService(std::unique_ptr<PacketPort> port, const RnicConfig& config,
                       const ServiceOptions& options)
    : options_(options), loop_(config, std::move(port), options.on_event, options.overlay) {}

NicService::~NicService() {
  stop_.store(true, std::memory_order_relaxed);
  if (thread_.joinable()) thread_.join();
}

Result<bool> NicService::Call(const std::function<void(NicLoop&)>& body) {
  if (std::this_thread::get_id() == thread_.get_id()) {
    body(loop_);
    return true;
  }
  Command command{body};
  std::unique_lock<std::mutex> lock(mutex_);
  if (!ended_) {
    commands_.push_back(&command);
    has_commands_.store(true, std::memory_order_relaxed);
    done_.wait(lock, [&] { return command.done; });
  }
  if (command.ran) return true;
  return Error{failure_.empty() ? "the NIC's thread has been stopped" : failure_};
}

std::string NicService::Failure() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return failure_;
}

void NicService::Run() {
  try {
    Loop();
    End({});
  } catch (const std::exception& error) {
    End(std::string("the NIC's thread has failed: ") + error.what());
  }
}

void NicService::Loop() {
  uint32_t idle_turns = 0;
  while (!stop_.load(std::memory_order_relaxed)) {
    if (has_commands_.load(std::memory_order_relaxed)) RunCommands();
    const NicLoop::Time now = std::chrono::steady_clock::now();
    idle_turns = loop_.Turn(now) ? 0 : idle_turns + 1;
    if (idle_turns != 0) Rest(idle_turns, now);
  }
}

// The lock is held meanwhile: callers wait anyway.
void NicService::RunCommands() {
  const std::lock_guard<std::mutex> lock(mutex_);
  has_commands_.store(false, std::memory_order_relaxed);
  for (Command* command : commands_) {
    command->body(loop_);
    command->ran = command->done = true;
  }
  commands_.clear();
  done_.notify_all();
}

void NicService::Rest(uint32_t idle_turns, NicLoop::Time now) {
  if (options_.idle == Idle::kSpin || idle_turns < kEagerTurns) {
    SpinPause();
  } else if (options_.idle == Idle::kYield || idle_turns < options_.turns_before_sleep) {
    sched_yield();
  } else {
    const auto timer = std::max(loop_.NextTimer() - now, std::chrono::nanoseconds(1));
    loop_.Port().Sleep(std::min(options_.sleep, timer));
  }
}

// Nobody waits for a thread that is gone.
void NicService::End(const std::string& failure) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ended_ = true;
  failure_ = failure;
  for (Command* command : commands_) command->done = true;
  commands_.clear();
  done_.notify_all();
}

}  // namespace ringpost::sim::service

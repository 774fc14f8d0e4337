#include "tests/conformance/threads_backend.h"

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

namespace ringpost::conformance {
namespace {

constexpr std::chrono::seconds kHangGuard{30};

}  // namespace

const std::vector<PairOf<HostPort>>& ThreadsBackend::Pairs() {
  static const std::vector<PairOf<HostPort>> pairs = [] {
    std::vector<PairOf<HostPort>> ordered = EveryPair<HostPort>();
    std::erase_if(ordered, [](const PairOf<HostPort>& pair) { return !pair.Ordered(); });
    return ordered;
  }();
  return pairs;
}

void ThreadsBackend::Launch(uint32_t, const Shape& shape,
                            std::function<void(P&, uint32_t thread)> kernel) {
  const auto make = [&](uint32_t threads) {
    return warps_.emplace_back(std::make_unique<HostWarp>(threads)).get();
  };
  HostWarp* warp = nullptr;
  HostWarp* block = nullptr;
  for (uint32_t thread = 0; thread < shape.threads; ++thread) {
    const uint32_t place = thread % shape.block;
    const uint32_t lane = place % shape.warp;
    if (place == 0) block = make(shape.block);
    if (lane == 0) warp = make(shape.warp);
    bodies_.push_back([this, kernel, thread, group = HostGroup(*warp, lane, *block, place)] {
      HostPort port(group, &stop_);
      kernel(port, thread);
    });
  }
}

void ThreadsBackend::Serve(uint32_t, uint32_t threads,
                           std::function<void(P&, uint32_t thread)> body) {
  for (uint32_t thread = 0; thread < threads; ++thread) {
    HostWarp* warp = warps_.emplace_back(std::make_unique<HostWarp>(1)).get();
    servers_.push_back([this, body, thread, warp] {
      HostPort port(*warp, 0, &stop_servers_);
      body(port, thread);
    });
  }
}

std::string ThreadsBackend::Run() {
  stop_servers_ = false;
  std::vector<std::thread> servers;
  for (const auto& server : servers_) servers.emplace_back(server);
  const std::string wrong = RunBodies();
  stop_servers_ = true;
  for (std::thread& server : servers) server.join();
  return wrong;
}

std::string ThreadsBackend::RunBodies() {
  std::mutex mutex;
  std::condition_variable changed;
  size_t running = bodies_.size();
  std::vector<std::thread> threads;
  for (const auto& body : bodies_) {
    threads.emplace_back([&] {
      body();
      const std::lock_guard<std::mutex> lock(mutex);
      --running;
      changed.notify_all();
    });
  }
  bool ended = false;
  {
    std::unique_lock<std::mutex> lock(mutex);
    ended = changed.wait_until(lock, std::chrono::steady_clock::now() + kHangGuard,
                               [&] { return running == 0; });
  }
  stop_ = !ended;
  for (std::thread& thread : threads) thread.join();
  bodies_.clear();
  for (uint32_t node = 0; node < 2; ++node) {
    if (!nic(node).Failure().empty()) return nic(node).Failure();
  }
  return ended ? "" : "threads had not ended after 30 s";
}

void ThreadsBackend::Write(uint64_t address, const void* bytes, uint64_t size) {
  std::memcpy(reinterpret_cast<void*>(address), bytes, size);
}

void ThreadsBackend::Read(uint64_t address, void* bytes, uint64_t size) {
  std::memcpy(bytes, reinterpret_cast<const void*>(address), size);
}

}  // namespace ringpost::conformance

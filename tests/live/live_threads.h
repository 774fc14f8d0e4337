// live_threads.h: real threads with a HostPort each, and the guard that ends them if they hang.
#pragma once

#include <cstdint>
#include <thread>
#include <vector>

#include "transport/endpoint.h"
#include "transport/host_port.h"
#include "transport/host_warp.h"

namespace ringpost {

// As long as a hang is, in picoseconds.
inline constexpr uint64_t kHangGuardPs = 30'000'000'000'000;

// Runs body(port, thread) on so many threads at once.
template <class Body>
void OnThreads(uint32_t count, Body&& body) {
  std::vector<std::thread> threads;
  for (uint32_t thread = 0; thread < count; ++thread) {
    threads.emplace_back([&body, thread] {
      HostWarp warp(1);
      HostPort port(warp, 0);
      body(port, thread);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// A table of one QP.
inline QpTable TableOf(const QpView& view) { return {&view, 1, 0, 1, 0}; }

}  // namespace ringpost

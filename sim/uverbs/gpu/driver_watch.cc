#include "sim/uverbs/gpu/driver_watch.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <thread>

namespace ringpost::sim::uverbs::gpu {
namespace {

using Clock = std::chrono::steady_clock;

// All relaxed: the line says nothing that depends on what the caller has done.
struct Slot {
  std::atomic<int64_t> since{0};  // of the clock, never 0 while a call is under way
  std::atomic<const char*> what{nullptr};
};

// Never destroyed: the thread that looks ends with the process.
std::array<Slot, 32>& Slots() {
  static auto* const slots = new std::array<Slot, 32>();
  return *slots;
}

int64_t Now() { return Clock::now().time_since_epoch().count(); }

void Look() {
  std::array<int64_t, 32> told{};
  for (;;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(250));
    for (size_t i = 0; i < told.size(); ++i) {
      const int64_t since = Slots()[i].since.load(std::memory_order_relaxed);
      if (since == 0 || since == told[i]) continue;
      if (Clock::duration(Now() - since) < kWatchPatience) continue;
      told[i] = since;
      const char* const what = Slots()[i].what.load(std::memory_order_relaxed);
      if (what != nullptr) SayStuck(what);
    }
  }
}

}  // namespace

void SayStuck(const char* what) {
  std::fprintf(stderr,
               "ringpost: the NIC has waited for %s for %lld s: CUDA holds it up while the program "
               "is in cudaFree, cudaFreeHost, cudaHostUnregister or the first launch of a kernel, "
               "or kernels fill every SM; set CUDA_MODULE_LOADING=EAGER, and free nothing while a "
               "kernel waits for the NIC\n",
               what, static_cast<long long>(kWatchPatience.count()));
}

WatchedCall::WatchedCall(const char* what) : slot_(-1) {
  static std::once_flag once;
  std::call_once(once, [] { std::thread(Look).detach(); });
  const int64_t now = Now();
  for (size_t i = 0; i < Slots().size() && slot_ < 0; ++i) {
    int64_t free = 0;
    if (Slots()[i].since.load(std::memory_order_relaxed) != 0) continue;
    if (!Slots()[i].since.compare_exchange_strong(free, now, std::memory_order_relaxed)) continue;
    Slots()[i].what.store(what, std::memory_order_relaxed);
    slot_ = static_cast<int>(i);
  }
}

WatchedCall::~WatchedCall() {
  if (slot_ < 0) return;
  Slot& slot = Slots()[static_cast<size_t>(slot_)];
  slot.what.store(nullptr, std::memory_order_relaxed);
  slot.since.store(0, std::memory_order_relaxed);
}

}  // namespace ringpost::sim::uverbs::gpu

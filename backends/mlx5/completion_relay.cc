#include "backends/mlx5/completion_relay.h"

#include <cstring>

#include "transport/abi/cqe.h"

namespace ringpost::mlx5 {

CompletionRelay::~CompletionRelay() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
}

void CompletionRelay::Add(const mlx5dv_cq& cq, uint64_t slot) {
  const std::lock_guard<std::mutex> lock(mutex_);
  sources_.push_back({cq, slot});
  if (!thread_.joinable()) thread_ = std::thread([this] { Serve(); });
}

void CompletionRelay::Remove(uint64_t slot) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::erase_if(sources_, [slot](const Source& source) { return source.slot == slot; });
}

// The next CQE of the ring, if it is there.
bool CompletionRelay::Relay(Source& source) {
  auto* const entry = static_cast<uint8_t*>(source.cq.buf) +
                      (source.read & (source.cq.cqe_cnt - 1)) * abi::kCqeBytes;
  auto* const tail = reinterpret_cast<uint64_t*>(entry + abi::kCqeTailOffset);
  // Acquire: orders the owner bit, which the NIC writes last, before the rest of its CQE.
  const uint64_t found = std::atomic_ref<uint64_t>(*tail).load(std::memory_order_acquire);
  const bool lap = (source.read & source.cq.cqe_cnt) != 0;
  if (abi::TailOpcode(found) == abi::CqeOpcode::kInvalid || abi::TailOwner(found) != lap) {
    return false;
  }
  auto* const slot = reinterpret_cast<uint64_t*>(source.slot);
  constexpr uint32_t kWords = abi::kCqeTailOffset / sizeof(uint64_t);
  for (uint32_t i = 0; i < kWords; ++i) {
    uint64_t word = 0;
    std::memcpy(&word, entry + i * sizeof(word), sizeof(word));
    std::atomic_ref<uint64_t>(slot[i]).store(word, std::memory_order_relaxed);
  }
  // Release: orders the CQE, and the payload before it, before its tail, on which the thread that
  // polls the slot relies.
  std::atomic_ref<uint64_t>(slot[kWords]).store(found, std::memory_order_release);
  ++source.read;
  return true;
}

void CompletionRelay::Serve() {
  while (!stop_.load(std::memory_order_relaxed)) {
    bool any = false;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      for (Source& source : sources_) {
        while (Relay(source)) any = true;
      }
    }
    if (!any) std::this_thread::yield();
  }
}

}  // namespace ringpost::mlx5

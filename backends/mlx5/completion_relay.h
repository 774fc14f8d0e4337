// completion_relay.h: the thread behind QPs whose CQ verbs have made.
//
// The transport polls a collapsed CQ: one slot that each CQE overwrites. Verbs make rings only. The
// thread reads these and leaves each CQE in its QP's slot, its tail last. It starts with the first
// QP and ends with this object. Any thread may call anything.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "backends/mlx5/handles.h"

namespace ringpost::mlx5 {

class CompletionRelay {
 public:
  CompletionRelay() = default;
  CompletionRelay(const CompletionRelay&) = delete;
  CompletionRelay& operator=(const CompletionRelay&) = delete;
  ~CompletionRelay();

  // `slot` is host memory of 64 bytes.
  void Add(const mlx5dv_cq& cq, uint64_t slot);
  // Once it returns the thread no longer touches either.
  void Remove(uint64_t slot);

 private:
  struct Source {
    mlx5dv_cq cq = {};
    uint64_t slot = 0;
    uint32_t read = 0;  // CQEs, since its begin
  };
  static bool Relay(Source& source);
  void Serve();

  std::mutex mutex_;
  std::vector<Source> sources_;  // guarded by mutex_
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace ringpost::mlx5

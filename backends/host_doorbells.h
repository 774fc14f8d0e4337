// host_doorbells.h: the host thread that rings for QPs of doorbell mode cpu.
//
// It starts with the first QP and ends with this object. Any thread may call anything.
#pragma once

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "transport/qp_view.h"

namespace ringpost {

class HostDoorbells {
 public:
  HostDoorbells() = default;
  HostDoorbells(const HostDoorbells&) = delete;
  HostDoorbells& operator=(const HostDoorbells&) = delete;
  ~HostDoorbells();

  void Add(const QpView& qp);
  // Once it returns the thread no longer touches the QP.
  void Remove(uint32_t qpn);

 private:
  struct Bell {
    QpView qp;
    uint64_t rung = 0;
  };
  void Serve();

  std::mutex mutex_;
  std::vector<Bell> bells_;  // guarded by mutex_
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace ringpost

// worker_threads.h: the workers of a proxy as threads of this process.
//
// They start with Start and end with this object, which must end before the ProxyNic. The thread
// that calls keeps its own affinity.
#pragma once

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "transport/proxy/affinity.h"
#include "transport/proxy/proxy_nic.h"

namespace ringpost::proxy {

class WorkerThreads {
 public:
  WorkerThreads() = default;
  WorkerThreads(const WorkerThreads&) = delete;
  WorkerThreads& operator=(const WorkerThreads&) = delete;
  ~WorkerThreads() { Stop(); }

  // Empty, or in one line why none has started.
  std::string Start(ProxyNic& proxy, const Affinity& affinity);
  // Descriptors that are still in a ring are posted first; what they complete is not waited for.
  void Stop();

 private:
  std::atomic<bool> stop_{false};
  std::vector<std::thread> threads_;
};

}  // namespace ringpost::proxy

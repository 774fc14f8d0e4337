#include "transport/proxy/worker_threads.h"

#include <system_error>

#include "transport/host_port.h"
#include "transport/host_warp.h"
#include "transport/proxy/worker.h"

namespace ringpost::proxy {
namespace {

// A core that is not to be had any more is no reason to stop: the worker runs elsewhere.
void ServeOn(const std::vector<uint32_t>& cores, Share& share, const std::atomic<bool>& stop) {
  PinThisThread(cores);
  HostWarp warp(/*lanes=*/1);
  HostPort port(warp, /*lane=*/0, &stop);
  Serve(port, share);
}

}  // namespace

std::string WorkerThreads::Start(ProxyNic& proxy, const Affinity& affinity) {
  const auto cores = CoresOf(affinity, proxy.Workers());
  if (!cores.Ok()) return cores.Message();
  stop_ = false;
  try {
    for (uint32_t i = 0; i < proxy.Workers(); ++i) {
      threads_.emplace_back([this, &share = proxy.ShareOf(i), mine = cores.Value()[i]] {
        ServeOn(mine, share, stop_);
      });
    }
  } catch (const std::system_error& error) {
    Stop();
    return std::string("a proxy worker could not be started: ") + error.what();
  }
  return {};
}

void WorkerThreads::Stop() {
  stop_ = true;
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

}  // namespace ringpost::proxy

#include "backends/host_doorbells.h"

#include "transport/host_port.h"
#include "transport/ring.h"

namespace ringpost {

HostDoorbells::~HostDoorbells() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
}

void HostDoorbells::Add(const QpView& qp) {
  const std::lock_guard<std::mutex> lock(mutex_);
  bells_.push_back({qp});
  if (!thread_.joinable()) thread_ = std::thread([this] { Serve(); });
}

void HostDoorbells::Remove(uint32_t qpn) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::erase_if(bells_, [qpn](const Bell& bell) { return bell.qp.qpn == qpn; });
}

void HostDoorbells::Serve() {
  HostWarp warp(1);
  HostPort port(warp, 0, &stop_);
  do {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (Bell& bell : bells_) RingFor(port, bell.qp, &bell.rung);
  } while (port.Relax(~0ull));
}

}  // namespace ringpost

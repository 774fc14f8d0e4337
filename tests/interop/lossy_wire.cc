#include "tests/interop/lossy_wire.h"

#include <poll.h>
#include <unistd.h>

#include <vector>

#include "tests/interop/loopback.h"

namespace ringpost::interop {
namespace {

constexpr int kLookMilliseconds = 100;
constexpr size_t kMaxFrameBytes = 65536;
// A burst of the largest window.
constexpr int kBufferBytes = 4 << 20;

}  // namespace

LossyWire::LossyWire(uint16_t guest_port)
    : guest_port_(guest_port), socket_(BoundSocket(SOCK_DGRAM, &port_)) {
  setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &kBufferBytes, sizeof(kBufferBytes));
  thread_ = std::thread([this] { Run(); });
}

LossyWire::~LossyWire() {
  stop_ = true;
  thread_.join();
  close(socket_);
}

void LossyWire::Lose(double probability, uint64_t seed) {
  const std::lock_guard<std::mutex> lock(mutex_);
  probability_ = probability;
  random_.seed(seed);
  lost_ = 0;
}

bool LossyWire::Loses() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return std::bernoulli_distribution(probability_)(random_);
}

void LossyWire::Run() {
  std::vector<char> frame(kMaxFrameBytes);
  while (!stop_) {
    pollfd wanted{.fd = socket_, .events = POLLIN, .revents = 0};
    if (poll(&wanted, 1, kLookMilliseconds) <= 0) continue;
    sockaddr_in sender = {};
    socklen_t size = sizeof(sender);
    const ssize_t bytes = recvfrom(socket_, frame.data(), frame.size(), MSG_DONTWAIT,
                                   reinterpret_cast<sockaddr*>(&sender), &size);
    if (bytes < 0) continue;  // what was sent before met nobody
    const bool of_guest = ntohs(sender.sin_port) == guest_port_;
    const uint16_t to = of_guest ? nic_port_.load() : guest_port_;
    if (to == 0) continue;
    if (of_guest && Loses()) {
      ++lost_;
      continue;
    }
    const sockaddr_in target = Loopback(to);
    sendto(socket_, frame.data(), static_cast<size_t>(bytes), 0, Any(target), sizeof(target));
  }
}

}  // namespace ringpost::interop

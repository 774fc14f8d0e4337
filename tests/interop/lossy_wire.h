// lossy_wire.h: between the guest and our NIC: passes on datagrams, of which each is one Ethernet
// frame, and loses some of the guest's, by seed. Our NIC's own faults lose what it sends.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <random>
#include <thread>

namespace ringpost::interop {

class LossyWire {
 public:
  // Its socket, where both ends send to, is on 127.0.0.1. Throws where there is none.
  explicit LossyWire(uint16_t guest_port);
  LossyWire(const LossyWire&) = delete;
  LossyWire& operator=(const LossyWire&) = delete;
  ~LossyWire();

  uint16_t Port() const { return port_; }
  void SetNic(uint16_t port) { nic_port_ = port; }
  // From now on, of the guest's frames.
  void Lose(double probability, uint64_t seed);
  uint64_t Lost() const { return lost_; }

 private:
  void Run();
  bool Loses();

  const uint16_t guest_port_;
  uint16_t port_ = 0;  // before socket_, which sets it
  int socket_;
  std::atomic<uint16_t> nic_port_{0};  // 0: there is none
  std::atomic<uint64_t> lost_{0};
  std::mutex mutex_;
  double probability_ = 0;  // guarded by mutex_, as is the next
  std::mt19937_64 random_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace ringpost::interop

// rxe_pair.h: a QP of our live NIC, connected to one of Linux rxe in the guest.
//
// All pairs of a test program share one guest, which boots for the first of them. Offsets are into
// the 1 MiB that each side has registered; `ours` is local to this process.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "backends/live/live_nic.h"
#include "tests/interop/rxe_guest.h"
#include "transport/endpoint.h"
#include "transport/host_port.h"
#include "transport/host_warp.h"
#include "transport/publication/per_thread.h"
#include "transport/receive_queue.h"

namespace ringpost::interop {

struct PairOptions {
  uint32_t mtu = 1024;
  uint32_t our_psn = 0x1000;
  uint32_t their_psn = 0x2000;
  uint8_t timeout = 17;  // 0.5 s; an emulator may be that slow
  uint8_t rnr_timer = 12;
  double our_loss = 0;    // of frames that our NIC sends: a probability
  double their_loss = 0;  // of the guest's
};

class RxePair {
 public:
  using OurEndpoint = Endpoint<HostPort, PerThread, OrderSystemFence>;
  static constexpr uint64_t kMemoryBytes = 1 << 20;
  static constexpr uint32_t kReceives = 64;

  explicit RxePair(const PairOptions& options = {});
  ~RxePair();

  RxeGuest& Rxe() { return rxe_; }
  OurEndpoint& Ours() { return *endpoint_; }
  LiveNic& Nic() { return *nic_; }

  // What the guest posts towards our memory, and what we post towards the guest's.
  Work Theirs(const std::string& operation, uint64_t offset, uint64_t bytes, uint64_t remote) const;
  LocalSpan Local(uint64_t offset, uint64_t bytes) const { return memory_.Local(offset, bytes); }
  RemoteSpan Remote(uint64_t offset) const { return {rxe_.Address() + offset, rxe_.Rkey()}; }

  uint8_t* Bytes(uint64_t offset) { return reinterpret_cast<uint8_t*>(memory_.address + offset); }
  uint64_t& Word(uint64_t offset) { return *reinterpret_cast<uint64_t*>(Bytes(offset)); }
  void PostReceive(uint64_t offset, uint64_t bytes);
  Received AwaitReceived() { return receives_->Wait(); }

 private:
  RxeGuest& rxe_;
  std::unique_ptr<LiveNic> nic_;
  RegisteredMemory memory_;
  QpView view_;
  ReceiveView receive_view_;
  HostWarp warp_{1};
  HostPort port_{warp_, 0};
  QpTable table_;
  std::unique_ptr<OurEndpoint> endpoint_;
  std::unique_ptr<ReceiveQueue<HostPort, OrderSystemFence>> receives_;
};

}  // namespace ringpost::interop

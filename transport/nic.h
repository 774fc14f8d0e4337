// nic.h: the cold half of a NIC: memory registration, queue pairs, and the views kernels get.
//
// The hot half has no interface: it is the memory behind a QpView, accessed through a Port. A
// backend implements this once (backends/sim, live and mlx5); backends/make_nic.h chooses by name.
// Called from the host before and between kernels, by one thread. Errors come back as a Result with
// one clear line; nothing throws. Everything lives as long as the Nic.
#pragma once

#include <array>
#include <cstdint>

#include "transport/qp_view.h"
#include "transport/result.h"

namespace ringpost {

// Memory that both this side's threads and the NICs may access; lkey and rkey are one key.
struct RegisteredMemory {
  uint64_t address = 0;
  uint64_t bytes = 0;
  uint32_t lkey = 0;
  uint32_t rkey = 0;
  LocalSpan Local(uint64_t offset, uint64_t length) const {
    return {address + offset, length, lkey};
  }
  RemoteSpan Remote(uint64_t offset) const { return {address + offset, rkey}; }
};

struct QpSpec {
  uint32_t depth_wqebbs = 1024;  // a power of two, 8 to 32768
  Placement placement = Placement::kGpu;
  uint32_t batch = 1;
  uint32_t max_inline = 28;
  bool shared = false;
  uint64_t timeout_ps = 0;
  TransportKind kind = TransportKind::kRc;
  uint32_t receive_depth = 0;  // receives that may be posted, a power of two up to 32768; 0: none
  DoorbellMode doorbell = DoorbellMode::kGpu;
  IndexHome indices = IndexHome::kEndpoint;  // of a DCI always kMemory: it has a view for each peer
  uint64_t max_message = 0;                  // bytes that one WQE may move; 0: what the NIC can
};

// What the peer must be told to connect: opaque to everybody but the backend.
struct QpAddress {
  uint32_t node = 0;
  uint32_t qpn = 0;  // kDc: of the DCI
  uint32_t dct = 0;  // kDc: where its peers' WQEs go
  // Of a hardware NIC: its port, as the peer's NIC must know it (backends/mlx5/port_address.h).
  std::array<uint8_t, 32> port = {};
};

class Nic {
 public:
  virtual ~Nic() = default;
  // Zeroed memory in GPU or host memory, registered for all accesses.
  virtual Result<RegisteredMemory> Allocate(Placement placement, uint64_t bytes) = 0;
  virtual Result<QpAddress> CreateQp(const QpSpec& spec) = 0;
  // A DCI may be connected again, to another peer: views from then on name that one.
  virtual Result<bool> Connect(const QpAddress& local, const QpAddress& peer) = 0;
  virtual Result<QpView> View(const QpAddress& local) const = 0;
  // The receives of the same QP: empty where its spec asked for none.
  virtual Result<ReceiveView> Receives(const QpAddress& local) const = 0;
};

}  // namespace ringpost

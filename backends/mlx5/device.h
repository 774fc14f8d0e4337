// device.h: one opened port of a ConnectX: what it says of itself, and what it can do.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/mlx5/handles.h"
#include "backends/mlx5/port_address.h"
#include "transport/result.h"

namespace ringpost::mlx5 {

enum class Route : uint8_t {
  kDevx,   // queues made by commands of the device, wherever they lie
  kVerbs,  // queues made by verbs, in host memory
};

struct DeviceOptions {
  std::vector<std::string> devices;  // see device_choice.h
  std::optional<uint32_t> gid_index;
  uint16_t pkey_index = 0;
  Route route = Route::kDevx;
  // Of those that fit: the one with this number, modulo how many there are in `devices`. With no
  // list all take the first.
  uint32_t number = 0;
};

// As the device and its driver report them.
struct DeviceFacts {
  std::string name;
  std::string firmware;
  std::string board;
  uint32_t vendor_part = 0;
  uint32_t port = 1;
  uint32_t gid_index = 0;
  GidKind gid_kind = GidKind::kInfiniband;
  uint16_t pkey_index = 0;
  PortAddress address;
  uint64_t max_registration = 0;  // bytes of one memory region
  uint32_t max_message = 0;
  uint8_t log_initiator_depth = 0;  // READs and atomics of a QP under way
  uint8_t log_responder_depth = 0;
  // Of its capabilities, for route devx.
  uint32_t max_send_wqe_bytes = 0;
  uint32_t log_max_qp_size = 0;
  bool compact_address_vector = false;
};

class Device {
 public:
  static Result<std::unique_ptr<Device>> Open(const DeviceOptions& options);

  ibv_context* context() const { return context_.get(); }
  ibv_pd* pd() const { return pd_.get(); }
  uint32_t PdNumber() const { return pd_number_; }
  uint32_t Eqn() const { return eqn_; }
  Route route() const { return route_; }
  const DeviceFacts& Facts() const { return facts_; }
  // "mlx5_0 port 1": for messages.
  std::string Name() const;

 private:
  Device() = default;
  std::string Fill(ibv_device* device, const DeviceOptions& options, uint32_t port);
  std::string FillLimits();
  std::string FillPort(const DeviceOptions& options);
  std::string FillGid(const DeviceOptions& options, int entries);
  std::string FillCaps();

  Context context_;
  Pd pd_;
  uint32_t pd_number_ = 0;
  uint32_t eqn_ = 0;
  Route route_ = Route::kDevx;
  DeviceFacts facts_;
};

}  // namespace ringpost::mlx5

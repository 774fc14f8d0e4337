#include "backends/mlx5/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "backends/mlx5/command.h"
#include "backends/mlx5/device_choice.h"
#include "backends/mlx5/failure.h"
#include "backends/mlx5/prm_contexts.h"

namespace ringpost::mlx5 {
namespace {

struct DeviceList {
  DeviceList() : devices(ibv_get_device_list(&count)) {}
  DeviceList(const DeviceList&) = delete;
  DeviceList& operator=(const DeviceList&) = delete;
  ~DeviceList() {
    if (devices != nullptr) ibv_free_device_list(devices);
  }
  int count = 0;
  ibv_device** devices;
};

std::string StateText(ibv_port_state state) {
  constexpr std::string_view kNames[] = {"without state", "down", "init", "armed"};
  return state < std::size(kNames) ? std::string(kNames[state])
                                   : fmt::format("in state {}", static_cast<int>(state));
}

std::string Unreadable(int error) {
  return fmt::format("unreadable (ibv_query_port: {})", std::strerror(error));
}

// Devices of other drivers are not even opened.
FoundDevice Look(ibv_device* device) {
  FoundDevice found;
  found.name = ibv_get_device_name(device);
  found.supported = mlx5dv_is_supported(device);
  if (!found.supported) return found;
  const Context context(ibv_open_device(device));
  ibv_device_attr attributes = {};
  if (context == nullptr) {
    found.problem = CallFailed("it", "ibv_open_device", errno).message;
    return found;
  }
  const int error = ibv_query_device(context.get(), &attributes);
  if (error != 0) found.problem = CallFailed("it", "ibv_query_device", error).message;
  for (uint32_t number = 1; number <= attributes.phys_port_cnt; ++number) {
    ibv_port_attr port = {};
    const int failed = ibv_query_port(context.get(), static_cast<uint8_t>(number), &port);
    const bool active = failed == 0 && port.state == IBV_PORT_ACTIVE;
    found.ports.push_back(
        {number, active, failed == 0 ? StateText(port.state) : Unreadable(failed)});
  }
  return found;
}

std::string BoardOf(const ibv_device* device) {
  std::ifstream file(std::string(device->ibdev_path) + "/board_id");
  std::string board;
  return std::getline(file, board) && !board.empty() ? board : "unknown";
}

GidKind KindOf(uint32_t type) {
  if (type == IBV_GID_TYPE_ROCE_V2) return GidKind::kRoceV2;
  return type == IBV_GID_TYPE_ROCE_V1 ? GidKind::kRoceV1 : GidKind::kInfiniband;
}

uint8_t LogOf(int depth) {
  return static_cast<uint8_t>(depth < 1 ? 0 : std::bit_width(static_cast<unsigned>(depth)) - 1);
}

}  // namespace

std::string Device::Name() const { return fmt::format("{} port {}", facts_.name, facts_.port); }

Result<std::unique_ptr<Device>> Device::Open(const DeviceOptions& options) {
  const DeviceList list;
  std::vector<FoundDevice> found;
  for (int i = 0; i < list.count; ++i) found.push_back(Look(list.devices[i]));
  const Result<std::vector<Choice>> choices = ChoosePorts(found, options.devices);
  if (!choices.Ok()) return Error{choices.Message()};
  const size_t turn = options.devices.empty() ? 0 : options.number % choices.Value().size();
  const Choice choice = choices.Value()[turn];
  std::unique_ptr<Device> device(new Device());
  const std::string wrong = device->Fill(list.devices[choice.device], options, choice.port);
  if (!wrong.empty()) return Error{wrong};
  return device;
}

std::string Device::Fill(ibv_device* device, const DeviceOptions& options, uint32_t port) {
  route_ = options.route;
  facts_.name = ibv_get_device_name(device);
  facts_.port = port;
  facts_.board = BoardOf(device);
  mlx5dv_context_attr attributes = {};
  if (route_ == Route::kDevx) attributes.flags = MLX5DV_CONTEXT_FLAGS_DEVX;
  context_.reset(mlx5dv_open_device(device, &attributes));
  if (context_ == nullptr) return CallFailed(facts_.name, "mlx5dv_open_device", errno).message;
  pd_.reset(ibv_alloc_pd(context_.get()));
  if (pd_ == nullptr) return CallFailed(facts_.name, "ibv_alloc_pd", errno).message;
  std::string wrong = FillLimits();
  if (wrong.empty()) wrong = FillPort(options);
  if (wrong.empty() && route_ == Route::kDevx) wrong = FillCaps();
  return wrong;
}

std::string Device::FillLimits() {
  ibv_device_attr limits = {};
  const int error = ibv_query_device(context_.get(), &limits);
  if (error != 0) return CallFailed(facts_.name, "ibv_query_device", error).message;
  facts_.firmware.assign(limits.fw_ver, strnlen(limits.fw_ver, sizeof(limits.fw_ver)));
  facts_.vendor_part = limits.vendor_part_id;
  facts_.max_registration = limits.max_mr_size;
  facts_.log_initiator_depth = LogOf(limits.max_qp_init_rd_atom);
  facts_.log_responder_depth = LogOf(limits.max_qp_rd_atom);
  return {};
}

std::string Device::FillPort(const DeviceOptions& options) {
  ibv_port_attr port = {};
  const int error = ibv_query_port(context_.get(), static_cast<uint8_t>(facts_.port), &port);
  if (error != 0) return CallFailed(Name(), "ibv_query_port", error).message;
  PortAddress& address = facts_.address;
  address.link = port.link_layer == IBV_LINK_LAYER_ETHERNET ? Link::kEthernet : Link::kInfiniband;
  address.mtu = static_cast<uint8_t>(port.active_mtu);
  address.lid = port.lid;
  address.needs_grh = (port.flags & IBV_QPF_GRH_REQUIRED) != 0;
  facts_.max_message = std::min(port.max_msg_sz, 1u << 30);
  if (address.link == Link::kInfiniband && address.lid == 0) {
    return Name() + " (InfiniBand): LID 0 is no port's; is a subnet manager running?";
  }
  facts_.pkey_index = options.pkey_index;
  __be16 pkey = 0;
  const bool known = ibv_query_pkey(context_.get(), static_cast<uint8_t>(facts_.port),
                                    options.pkey_index, &pkey) == 0;
  address.pkey = be16toh(pkey);
  if (!known || address.pkey == 0) {
    return fmt::format("{}: there is no partition key at mlx5.pkey_index {}; use 0 to {}", Name(),
                       options.pkey_index, std::max(1, int{port.pkey_tbl_len}) - 1);
  }
  return FillGid(options, port.gid_tbl_len);
}

std::string Device::FillGid(const DeviceOptions& options, int entries) {
  std::vector<GidEntry> table;
  for (int i = 0; i < entries; ++i) {
    ibv_gid_entry found = {};
    const int error =
        ibv_query_gid_ex(context_.get(), facts_.port, static_cast<uint32_t>(i), &found, 0);
    if (error != 0) continue;  // an empty entry
    GidEntry entry{static_cast<uint32_t>(i), KindOf(found.gid_type), {}};
    std::copy_n(found.gid.raw, entry.gid.size(), entry.gid.begin());
    if (entry.gid != Gid{}) table.push_back(entry);
  }
  const Result<GidEntry> chosen = ChooseGid(table, facts_.address.link, options.gid_index);
  if (!chosen.Ok()) {
    // A subnet may do without.
    if (facts_.address.link == Link::kInfiniband && !options.gid_index) return {};
    return Name() + ": " + chosen.Message();
  }
  facts_.gid_index = chosen.Value().index;
  facts_.gid_kind = chosen.Value().kind;
  facts_.address.gid = chosen.Value().gid;
  return {};
}

std::string Device::FillCaps() {
  const Result<std::vector<uint8_t>> general = QueryCaps(*this, prm::CapGroup::kGeneral);
  if (!general.Ok()) return general.Message();
  const Result<std::vector<uint8_t>> atomics = QueryCaps(*this, prm::CapGroup::kAtomic);
  if (!atomics.Ok()) return atomics.Message();
  const auto cap = [&](prm::Field field) {
    return static_cast<uint32_t>(prm::Get(general.Value(), field));
  };
  facts_.max_send_wqe_bytes = cap(prm::cap::kMaxSendWqeBytes);
  facts_.log_max_qp_size = cap(prm::cap::kLogMaxQpSize);
  facts_.compact_address_vector = cap(prm::cap::kCompactAddressVector) != 0;
  if (cap(prm::cap::kCqeVersion) != 1) {
    return fmt::format("{}: CQE version {}, and this backend reads version 1; update the firmware",
                       Name(), cap(prm::cap::kCqeVersion));
  }
  if (prm::Get(atomics.Value(), prm::atomic_cap::kReturnsHostOrder) == 0) {
    return Name() +
           ": it returns the results of atomics big-endian, and the transport reads them "
           "in host order; use a ConnectX-5 or newer";
  }
  mlx5dv_pd pd = {};
  mlx5dv_obj object = {};
  object.pd = {pd_.get(), &pd};
  int error = mlx5dv_init_obj(&object, MLX5DV_OBJ_PD);
  if (error != 0) return CallFailed(Name(), "mlx5dv_init_obj of the PD", error).message;
  pd_number_ = pd.pdn;
  error = mlx5dv_devx_query_eqn(context_.get(), 0, &eqn_);
  if (error != 0) return CallFailed(Name(), "mlx5dv_devx_query_eqn", error).message;
  return {};
}

}  // namespace ringpost::mlx5

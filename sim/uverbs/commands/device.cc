// The device: contexts, and what programs ask of device and port.
#include <endian.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>
#include <rdma/mlx5_user_ioctl_cmds.h>

#include <algorithm>
#include <bit>
#include <cerrno>

#include "sim/uverbs/commands/event_types.h"
#include "sim/uverbs/commands/tables.h"
#include "sim/uverbs/identity.h"

namespace ringpost::sim::uverbs {
namespace {

using service::NicLoop;

constexpr uint8_t kPort = 1;
constexpr uint64_t kPage = 4096;

// `enum ib_device_cap_flags`: the current state may be given, the image has a GUID, RNR NAKs.
constexpr uint32_t kCapabilities = 1u << 7 | 1u << 11 | 1u << 12;

// Numbers of the verbs' enumerations.
constexpr uint8_t kActive = 4, kLinkUp = 5, kMtu4096 = 5, kWidth4x = 2, kSpeedNdr = 128;
constexpr uint8_t kLinkInfiniband = 1, kLinkEthernet = 2;

bool IsEthernet(Context& context) { return context.Nic().Device().link == wire::Link::kEthernet; }

// PRM-derived limits that libmlx5 sizes its queues by.
mlx5_ib_alloc_ucontext_resp UserContext(Context& context) {
  const NicLimits& limits = context.Nic().Limits();
  mlx5_ib_alloc_ucontext_resp answer{};
  answer.qp_tab_size = std::bit_ceil(limits.qps);
  answer.bf_reg_size = 512;
  answer.tot_bfregs = 0;  // UARs are asked for one by one
  answer.cache_line_size = 64;
  answer.max_sq_desc_sz = 1024;
  answer.max_rq_desc_sz = static_cast<uint16_t>(limits.receive_wqe_bytes);
  answer.max_send_wqebb = limits.sq_depth_wqebbs;
  answer.max_recv_wr = limits.rq_depth_wqes;
  answer.max_srq_recv_wr = limits.srq_depth_wqes - 1;
  answer.num_ports = 1;
  answer.response_length = sizeof(answer);
  answer.cqe_version = 1;
  answer.cmds_supp_uhw = MLX5_USER_CMDS_SUPP_UHW_QUERY_DEVICE | MLX5_USER_CMDS_SUPP_UHW_CREATE_AH;
  answer.eth_min_inline = MLX5_USER_INLINE_MODE_NONE;
  answer.clock_info_versions = 1 << MLX5_IB_CLOCK_INFO_V1;
  answer.log_uar_size = std::countr_zero(UarPages::kBytes);
  answer.num_uars_per_page = 1;
  answer.num_dyn_bfregs = 1024;
  return answer;
}

int GetContext(Context& context, const Command& command) {
  const int events = context.MakeEvents();
  if (events < 0) return errno;
  const uint32_t words[] = {static_cast<uint32_t>(events), kCompletionVectors};
  Write(command.out, words);
  Write(command.driver_out, UserContext(context));
  return 0;
}

int GetContextByMethod(Context& context, const Attributes& attributes) {
  attributes.Answer(UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, kCompletionVectors);
  attributes.Answer(UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT,
                    uint64_t{IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS});
  attributes.Answer(UVERBS_ATTR_UHW_OUT, UserContext(context));
  return 0;
}

int QueryContext(Context& context, const Attributes& attributes) {
  attributes.Answer(UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS, kCompletionVectors);
  attributes.Answer(UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT,
                    uint64_t{IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS});
  attributes.Answer(MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX, UserContext(context));
  return 0;
}

int AllocateEvents(Context& context, const Attributes& attributes) {
  const int events = context.MakeEvents();
  if (events < 0) return errno;
  attributes.SetDescriptor(UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, events);
  return 0;
}

ib_uverbs_query_device_resp Device(Context& context) {
  const NicLimits& limits = context.Nic().Limits();
  ib_uverbs_query_device_resp answer{};
  answer.fw_ver = identity::kFirmware;
  answer.node_guid = htobe64(context.Nic().Device().Guid());
  answer.sys_image_guid = answer.node_guid;
  answer.max_mr_size = ~uint64_t{0};
  answer.page_size_cap = ~(kPage - 1);
  answer.vendor_id = identity::kVendor;
  answer.vendor_part_id = identity::kPart;
  answer.hw_ver = 0;
  answer.max_qp = limits.qps;
  answer.max_qp_wr = limits.sq_depth_wqebbs;
  answer.device_cap_flags = kCapabilities;
  answer.max_sge = answer.max_sge_rd = limits.sges;
  answer.max_cq = limits.cqs;
  answer.max_cqe = limits.cq_entries - 1;
  answer.max_mr = 65534;  // keys of a slot
  answer.max_pd = 1u << 24;
  answer.max_qp_rd_atom = answer.max_qp_init_rd_atom = limits.rd_atomic;
  answer.max_res_rd_atom = limits.rd_atomic * limits.qps;
  answer.atomic_cap = 1;  // IB_ATOMIC_HCA
  answer.max_ah = 1u << 20;
  answer.max_srq = limits.srqs;
  answer.max_srq_wr = limits.srq_depth_wqes - 1;
  answer.max_srq_sge = limits.receive_wqe_bytes / 16 - 1;
  answer.max_pkeys = 1;
  answer.local_ca_ack_delay = 16;
  answer.phys_port_cnt = 1;
  return answer;
}

int QueryDevice(Context& context, const Command& command) {
  Write(command.out, Device(context));
  return 0;
}

int QueryDeviceExtended(Context& context, const Command& command) {
  const auto request = Read<ib_uverbs_ex_query_device>(command.in);
  if (request.comp_mask != 0) return EINVAL;
  ib_uverbs_ex_query_device_resp answer{};
  answer.base = Device(context);
  answer.response_length = static_cast<uint32_t>(std::min(command.out.size(), sizeof(answer)));
  // CQEs carry the host's steady clock.
  answer.timestamp_mask = ~uint64_t{0};
  answer.hca_core_clock = 1'000'000;  // kHz
  // What ConnectX lists, less XRC.
  constexpr uint32_t kSend = 1, kReceive = 2, kWrite = 4, kRead = 8, kAtomic = 16, kShared = 32;
  answer.odp_caps.general_caps = 1 | 2;  // IBV_ODP_SUPPORT, of all the address space too
  answer.odp_caps.per_transport_caps = {kSend | kReceive | kWrite | kRead | kAtomic | kShared, 0,
                                        kSend | kShared};
  Write(command.out, answer);
  mlx5_ib_query_device_resp driver{};
  driver.flags = MLX5_IB_QUERY_DEV_RESP_FLAGS_CQE_128B_PAD;
  driver.response_length =
      static_cast<uint32_t>(std::min(command.driver_out.size(), sizeof(driver)));
  Write(command.driver_out, driver);
  return 0;
}

ib_uverbs_query_port_resp Port(Context& context, uint32_t qkey_violations) {
  const DeviceSettings& device = context.Nic().Device();
  ib_uverbs_query_port_resp answer{};
  answer.max_msg_sz = context.Nic().Limits().message_bytes;
  answer.qkey_viol_cntr = qkey_violations;
  answer.gid_tbl_len = 1;
  answer.pkey_tbl_len = 1;
  answer.state = kActive;
  answer.max_mtu = answer.active_mtu = kMtu4096;
  answer.max_vl_num = 1;
  answer.active_width = kWidth4x;
  answer.active_speed = kSpeedNdr;
  answer.phys_state = kLinkUp;
  if (IsEthernet(context)) {
    answer.link_layer = kLinkEthernet;
    answer.port_cap_flags = IB_UVERBS_PCF_IP_BASED_GIDS;
    answer.flags = IB_UVERBS_QPF_GRH_REQUIRED;
  } else {
    answer.link_layer = kLinkInfiniband;
    answer.lid = device.lid;
    answer.port_cap_flags = IB_UVERBS_PCF_SYS_IMAGE_GUID_SUP;
  }
  return answer;
}

int QueryPort(Context& context, uint32_t port, ib_uverbs_query_port_resp* answer) {
  if (port != kPort) return EINVAL;
  uint32_t violations = 0;
  const bool ran = context.Nic().Call([&](NicLoop& loop) {
    violations = static_cast<uint32_t>(loop.Function().Count().qkey_violations);
  });
  *answer = Port(context, violations);
  return ran ? 0 : EIO;
}

int QueryPortByCommand(Context& context, const Command& command) {
  ib_uverbs_query_port_resp answer{};
  const int error = QueryPort(context, Read<ib_uverbs_query_port>(command.in).port_num, &answer);
  if (error == 0) Write(command.out, answer);
  return error;
}

int QueryPortByMethod(Context& context, const Attributes& attributes) {
  ib_uverbs_query_port_resp_ex answer{};
  const auto port = attributes.Value<uint8_t>(UVERBS_ATTR_QUERY_PORT_PORT_NUM);
  const int error = QueryPort(context, port, &answer.legacy_resp);
  if (error == 0) attributes.Answer(UVERBS_ATTR_QUERY_PORT_RESP, answer);
  return error;
}

ib_uverbs_gid_entry GidEntry(Context& context) {
  ib_uverbs_gid_entry entry{};
  const wire::Gid gid = context.Nic().Device().DefaultGid();
  std::memcpy(entry.gid, gid.data(), gid.size());
  entry.port_num = kPort;
  entry.gid_type = IsEthernet(context) ? IB_UVERBS_GID_TYPE_ROCE_V2 : IB_UVERBS_GID_TYPE_IB;
  return entry;
}

int QueryGidTable(Context& context, const Attributes& attributes) {
  const auto bytes = attributes.Value<uint64_t>(UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE);
  const Output entries = attributes.Out(UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES);
  if (bytes == 0 || attributes.Value<uint32_t>(UVERBS_ATTR_QUERY_GID_TABLE_FLAGS) != 0) {
    return EINVAL;
  }
  if (entries.size() < bytes) return EINVAL;
  Write(entries.first(bytes), GidEntry(context));
  attributes.Answer(UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, uint64_t{1});
  return 0;
}

int QueryGidEntry(Context& context, const Attributes& attributes) {
  if (attributes.Value<uint32_t>(UVERBS_ATTR_QUERY_GID_ENTRY_PORT) != kPort) return EINVAL;
  if (attributes.Value<uint32_t>(UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX) != 0) return EINVAL;
  attributes.Answer(UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, GidEntry(context));
  return 0;
}

constexpr CommandRow kCommands[] = {
    {IB_USER_VERBS_CMD_GET_CONTEXT, false, "GET_CONTEXT", sizeof(ib_uverbs_get_context),
     sizeof(ib_uverbs_get_context_resp), GetContext},
    {IB_USER_VERBS_CMD_QUERY_DEVICE, false, "QUERY_DEVICE", sizeof(ib_uverbs_query_device),
     sizeof(ib_uverbs_query_device_resp), QueryDevice},
    {IB_USER_VERBS_EX_CMD_QUERY_DEVICE, true, "QUERY_DEVICE_EX", sizeof(ib_uverbs_ex_query_device),
     sizeof(ib_uverbs_ex_query_device_resp), QueryDeviceExtended},
    {IB_USER_VERBS_CMD_QUERY_PORT, false, "QUERY_PORT", sizeof(ib_uverbs_query_port),
     sizeof(ib_uverbs_query_port_resp), QueryPortByCommand},
};
constexpr MethodRow kMethods[] = {
    {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT, "GET_CONTEXT", GetContextByMethod},
    {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT, "QUERY_CONTEXT", QueryContext},
    {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT, "QUERY_PORT", QueryPortByMethod},
    {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_TABLE, "QUERY_GID_TABLE", QueryGidTable},
    {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_ENTRY, "QUERY_GID_ENTRY", QueryGidEntry},
    {UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC, "ASYNC_EVENT_ALLOC",
     AllocateEvents},
};

}  // namespace

CommandRows DeviceCommands() { return kCommands; }
MethodRows DeviceMethods() { return kMethods; }

}  // namespace ringpost::sim::uverbs

#include "sim/uverbs/commands/qp_modify.h"

#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <string>

#include "sim/nic/qp_states.h"

namespace ringpost::sim::uverbs {
namespace {

using service::NicLoop;

constexpr uint8_t kPort = 1;
constexpr uint32_t kKnownMask = (1u << 21) - 1;
constexpr uint32_t kSmallestMtu = 256;  // of the verbs' numbers, 1

uint32_t BytesOfMtu(uint8_t number) { return number == 0 ? 0 : kSmallestMtu << (number - 1); }
uint8_t NumberOfMtu(uint32_t bytes) {
  return bytes < kSmallestMtu ? 0 : static_cast<uint8_t>(std::bit_width(bytes / kSmallestMtu));
}

Address AddressOf(const ib_uverbs_qp_dest& from, wire::Link link) {
  Address address;
  address.lid = from.dlid;
  address.sl = from.sl;
  address.path_bits = from.src_path_bits;
  address.global = from.is_global != 0;
  if (!address.global) return address;
  if (link == wire::Link::kEthernet) address.lid = 0;
  address.traffic_class = from.traffic_class;
  address.hop_limit = from.hop_limit;
  address.gid_index = from.sgid_index;
  address.flow_label = from.flow_label;
  std::copy_n(from.dgid, address.gid.size(), address.gid.begin());
  return address;
}

ib_uverbs_qp_dest DestOf(const Address& address, uint8_t port) {
  ib_uverbs_qp_dest dest{};
  dest.dlid = address.lid;
  dest.sl = address.sl;
  dest.src_path_bits = address.path_bits;
  dest.is_global = address.global ? 1 : 0;
  dest.port_num = port;
  if (!address.global) return dest;
  dest.traffic_class = address.traffic_class;
  dest.hop_limit = address.hop_limit;
  dest.sgid_index = address.gid_index;
  dest.flow_label = address.flow_label;
  std::copy(address.gid.begin(), address.gid.end(), dest.dgid);
  return dest;
}

// A path of this port: GID 0, the only partition.
bool IsPath(const ib_uverbs_qp_dest& dest, wire::Link link) {
  if (dest.is_global == 0) return link == wire::Link::kInfiniband;
  return dest.sgid_index == 0;
}

int Check(const ib_uverbs_modify_qp& request, wire::Link link) {
  const uint32_t mask = request.attr_mask;
  if ((mask & ~kKnownMask) != 0) return EOPNOTSUPP;
  if ((mask & kAttrState) != 0 && request.qp_state > static_cast<uint8_t>(State::kError)) {
    return EINVAL;
  }
  if ((mask & kAttrPort) != 0 && request.port_num != kPort) return EINVAL;
  if ((mask & kAttrPkeyIndex) != 0 && request.pkey_index != 0) return EINVAL;
  if ((mask & kAttrAddress) != 0 && !IsPath(request.dest, link)) return EINVAL;
  if ((mask & kAttrPathMtu) != 0 && (request.path_mtu < 1 || request.path_mtu > 5)) return EINVAL;
  // No path migrates: there is one port, and one path to each other.
  if ((mask & kAttrAlternatePath) != 0) return EOPNOTSUPP;
  return 0;
}

QpAttributes AttributesOf(const ib_uverbs_modify_qp& request, wire::Link link) {
  QpAttributes attributes;
  attributes.state = static_cast<State>(request.qp_state);
  attributes.current_state = static_cast<State>(request.cur_qp_state);
  attributes.drain_notify = request.en_sqd_async_notify != 0;
  attributes.access = static_cast<uint8_t>(request.qp_access_flags);
  attributes.pkey_index = request.pkey_index;
  attributes.port = request.port_num;
  attributes.qkey = request.qkey;
  attributes.address = AddressOf(request.dest, link);
  attributes.path_mtu = BytesOfMtu(request.path_mtu);
  attributes.timeout = request.timeout;
  attributes.retry_count = request.retry_cnt;
  attributes.rnr_retry = request.rnr_retry;
  attributes.receive_psn = request.rq_psn & 0xffffff;
  attributes.max_rd_atomic = request.max_rd_atomic;
  attributes.min_rnr_timer = request.min_rnr_timer;
  attributes.send_psn = request.sq_psn & 0xffffff;
  attributes.max_dest_rd_atomic = request.max_dest_rd_atomic;
  attributes.path_migration = request.path_mig_state;
  attributes.dest_qpn = request.dest_qp_num;
  return attributes;
}

int Modify(Context& context, const ib_uverbs_modify_qp& request, Qp** modified) {
  Qp* qp = context.qps.Find(request.qp_handle);
  if (qp == nullptr) return EINVAL;
  const wire::Link link = context.Nic().Device().link;
  const int error = Check(request, link);
  if (error != 0) return error;
  std::string refusal;
  const bool ran = context.Nic().Call([&](NicLoop& loop) {
    refusal = loop.ModifyQp(qp->number, AttributesOf(request, link), request.attr_mask);
  });
  *modified = qp;
  if (!ran) return EIO;
  return refusal.empty() ? 0 : EINVAL;
}

void Fill(ib_uverbs_query_qp_resp& answer, const QpAttributes& now) {
  answer.dest = DestOf(now.address, now.port);
  answer.qkey = now.qkey;
  answer.rq_psn = now.receive_psn;
  answer.sq_psn = now.send_psn;
  answer.dest_qp_num = now.dest_qpn;
  answer.qp_access_flags = now.access;
  answer.pkey_index = now.pkey_index;
  answer.qp_state = static_cast<uint8_t>(now.state);
  answer.cur_qp_state = static_cast<uint8_t>(now.current_state);
  answer.path_mtu = NumberOfMtu(now.path_mtu);
  answer.path_mig_state = now.path_migration;
  answer.max_rd_atomic = now.max_rd_atomic;
  answer.max_dest_rd_atomic = now.max_dest_rd_atomic;
  answer.min_rnr_timer = now.min_rnr_timer;
  answer.port_num = now.port;
  answer.timeout = now.timeout;
  answer.retry_cnt = now.retry_count;
  answer.rnr_retry = now.rnr_retry;
}

}  // namespace

int ModifyQp(Context& context, const Command& command) {
  Qp* qp = nullptr;
  return Modify(context, Read<ib_uverbs_modify_qp>(command.in), &qp);
}

int ModifyQpExtended(Context& context, const Command& command) {
  Qp* qp = nullptr;
  const int error = Modify(context, Read<ib_uverbs_modify_qp>(command.in), &qp);
  if (error != 0) return error;
  Write(command.out, ib_uverbs_ex_modify_qp_resp{0, sizeof(ib_uverbs_ex_modify_qp_resp)});
  mlx5_ib_modify_qp_resp driver{};
  driver.response_length = sizeof(driver);
  if (qp->target) driver.dctn = qp->number;
  Write(command.driver_out, driver);
  return 0;
}

int QueryQp(Context& context, const Command& command) {
  const Qp* qp = context.qps.Find(Read<ib_uverbs_query_qp>(command.in).qp_handle);
  if (qp == nullptr) return EINVAL;
  ib_uverbs_query_qp_resp answer;
  std::memset(static_cast<void*>(&answer), 0, sizeof(answer));
  // By its address: it ends in an array without a length.
  const bool ran = context.Nic().Call([qp, to = &answer](NicLoop& loop) {
    const QpContext* known = loop.Function().FindQp(qp->number);
    Fill(*to, loop.Function().QueryQp(*known));
    to->sq_draining = known->state == State::kSendQueueDrain && !known->drained_event ? 1 : 0;
  });
  if (!ran) return EIO;
  answer.max_send_wr = qp->max_send_wr;
  answer.max_recv_wr = qp->max_recv_wr;
  answer.max_send_sge = qp->max_send_sge;
  answer.max_recv_sge = qp->max_recv_sge;
  answer.max_inline_data = qp->max_inline;
  answer.sq_sig_all = qp->signal_all;
  Write(command.out, answer);
  return 0;
}

}  // namespace ringpost::sim::uverbs

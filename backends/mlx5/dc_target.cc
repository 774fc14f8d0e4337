#include "backends/mlx5/dc_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "backends/mlx5/failure.h"
#include "backends/mlx5/queue_commands.h"
#include "backends/mlx5/queue_pair.h"
#include "transport/abi/cqe.h"
#include "transport/abi/wqe.h"

namespace ringpost::mlx5 {

Result<Cq> MakeVerbsCq(const Device& device, uint32_t entries) {
  ibv_cq_init_attr_ex attributes = {};
  attributes.cqe = entries - 1;  // the driver adds one and rounds up
  attributes.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS;
  attributes.flags = IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN;
  // The call refuses a missing structure of its own.
  mlx5dv_cq_init_attr own = {};
  ibv_cq_ex* made = mlx5dv_create_cq(device.context(), &attributes, &own);
  if (made == nullptr) {
    return CallFailed(device.Name(), fmt::format("mlx5dv_create_cq of {} entries", entries), errno);
  }
  return Cq(ibv_cq_ex_to_cq(made));
}

Result<mlx5dv_cq> Look(const Device& device, const Cq& cq) {
  mlx5dv_cq found = {};
  mlx5dv_obj object = {};
  object.cq = {cq.get(), &found};
  const int error = mlx5dv_init_obj(&object, MLX5DV_OBJ_CQ);
  if (error != 0) return CallFailed(device.Name(), "mlx5dv_init_obj of a CQ", error);
  if (found.cqe_size != abi::kCqeBytes) {
    return Error{
        fmt::format("{}: CQEs of {} bytes, and the transport reads {}; unset MLX5_CQE_SIZE",
                    device.Name(), found.cqe_size, abi::kCqeBytes)};
  }
  return found;
}

Result<std::unique_ptr<DcTarget>> DcTarget::Make(const Device& device, MemoryAccess& memory,
                                                 ReceiveView* receive) {
  std::unique_ptr<DcTarget> target(new DcTarget());
  receive->depth = std::max(2u, receive->depth);
  std::string wrong = target->Create(device, receive->depth);
  if (wrong.empty()) wrong = target->BringUp(device);
  if (wrong.empty()) wrong = target->Describe(device, memory, receive);
  if (!wrong.empty()) return Error{wrong};
  return target;
}

std::string DcTarget::Create(const Device& device, uint32_t depth) {
  Result<Cq> cq = MakeVerbsCq(device, depth);
  if (!cq.Ok()) return cq.Message();
  cq_ = std::move(cq.Value());
  ibv_srq_init_attr queue = {};
  queue.attr.max_wr = depth - 1;  // the driver adds one and rounds up
  queue.attr.max_sge = 1;
  srq_.reset(ibv_create_srq(device.pd(), &queue));
  if (srq_ == nullptr) {
    return CallFailed(device.Name(), fmt::format("ibv_create_srq of {} receives", depth), errno)
        .message;
  }
  ibv_qp_init_attr_ex attributes = {};
  attributes.qp_type = IBV_QPT_DRIVER;
  attributes.send_cq = attributes.recv_cq = cq_.get();
  attributes.srq = srq_.get();
  attributes.comp_mask = IBV_QP_INIT_ATTR_PD;
  attributes.pd = device.pd();
  mlx5dv_qp_init_attr own = {};
  own.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_DC;
  own.dc_init_attr.dc_type = MLX5DV_DCTYPE_DCT;
  own.dc_init_attr.dct_access_key = abi::kDcAccessKey;
  dct_.reset(mlx5dv_create_qp(device.context(), &attributes, &own));
  if (dct_ == nullptr) {
    return CallFailed(device.Name(), "mlx5dv_create_qp of a DCT", errno).message;
  }
  return {};
}

std::string DcTarget::BringUp(const Device& device) {
  const DeviceFacts& facts = device.Facts();
  ibv_qp_attr attributes = {};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.pkey_index = facts.pkey_index;
  attributes.port_num = static_cast<uint8_t>(facts.port);
  attributes.qp_access_flags =
      IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
  int error = ibv_modify_qp(dct_.get(), &attributes,
                            IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
  if (error != 0) return CallFailed(device.Name(), "ibv_modify_qp of a DCT to INIT", error).message;
  attributes.qp_state = IBV_QPS_RTR;
  attributes.path_mtu = static_cast<ibv_mtu>(facts.address.mtu);
  attributes.min_rnr_timer = kMinRnrTimer;
  attributes.ah_attr = AddressHandle(
      facts, {facts.address.link, facts.address.mtu, facts.address.link == Link::kEthernet,
              facts.address.lid, facts.address.gid});
  error = ibv_modify_qp(dct_.get(), &attributes,
                        IBV_QP_STATE | IBV_QP_PATH_MTU | IBV_QP_MIN_RNR_TIMER | IBV_QP_AV);
  if (error != 0) return CallFailed(device.Name(), "ibv_modify_qp of a DCT to RTR", error).message;
  number_ = dct_->qp_num;  // firmware makes it only now
  if (number_ == 0) return device.Name() + ": the driver gave a DCT no number; update rdma-core";
  return {};
}

std::string DcTarget::Describe(const Device& device, MemoryAccess& memory, ReceiveView* receive) {
  const Result<mlx5dv_cq> cq = Look(device, cq_);
  if (!cq.Ok()) return cq.Message();
  mlx5dv_srq srq = {};
  mlx5dv_obj object = {};
  object.srq = {srq_.get(), &srq};
  const int error = mlx5dv_init_obj(&object, MLX5DV_OBJ_SRQ);
  if (error != 0) return CallFailed(device.Name(), "mlx5dv_init_obj of an SRQ", error).message;
  if (srq.stride != ReceiveStride(TransportKind::kDc) || srq.tail + 1 != receive->depth ||
      cq.Value().cqe_cnt != receive->depth) {
    return fmt::format(
        "{}: the driver made a receive queue of {} WQEs of {} bytes and {} CQEs, and "
        "{} of {} were asked for",
        device.Name(), srq.tail + 1, srq.stride, cq.Value().cqe_cnt, receive->depth,
        ReceiveStride(TransportKind::kDc));
  }
  const Result<uint64_t> ring = memory.MapPages(srq.buf, uint64_t{receive->depth} * srq.stride);
  const Result<uint64_t> record = memory.MapPages(srq.dbrec, sizeof(uint32_t));
  const Result<uint64_t> entries =
      memory.MapPages(cq.Value().buf, uint64_t{receive->depth} * abi::kCqeBytes);
  for (const auto* mapped : {&ring, &record, &entries}) {
    if (!mapped->Ok()) return mapped->Message();
  }
  receive->ring = ring.Value();
  receive->record = record.Value();
  receive->cq = entries.Value();
  return {};
}

}  // namespace ringpost::mlx5

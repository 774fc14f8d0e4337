// Making and ending queue pairs; qp_modify.cc has the rest.
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>

#include <cerrno>
#include <optional>
#include <utility>

#include "sim/uverbs/commands/destroy.h"
#include "sim/uverbs/commands/event_types.h"
#include "sim/uverbs/commands/qp_modify.h"
#include "sim/uverbs/commands/tables.h"

namespace ringpost::sim::uverbs {
namespace {

using service::NicLoop;

constexpr uint64_t kRecordBytes = 8;
constexpr uint64_t kWqebbBytes = 64;
constexpr uint32_t kNone = 0xffffffff;
// What changes nothing that a program could see but as an option it did not get: payload in CQEs
// is offered by the NIC, not promised.
constexpr uint32_t kKnownDriverFlags = MLX5_QP_FLAG_SCATTER_CQE | MLX5_QP_FLAG_ALLOW_SCATTER_CQE |
                                       MLX5_QP_FLAG_UAR_PAGE_INDEX | MLX5_QP_FLAG_TYPE_DCT |
                                       MLX5_QP_FLAG_TYPE_DCI;

struct Request {
  uint64_t user_handle = 0;
  uint32_t pd = kNone, send_cq = kNone, receive_cq = kNone, srq = kNone;
  ib_uverbs_qp_cap cap{};
  uint8_t type = 0;
  bool signal_all = false;
  uint32_t create_flags = 0;
  mlx5_ib_create_qp driver{};
};

struct Answer {
  uint32_t handle = 0;
  uint32_t number = 0;
};

std::optional<QpType> TypeOf(const Request& request) {
  switch (request.type) {
    case IB_UVERBS_QPT_RC:
      return QpType::kRc;
    case IB_UVERBS_QPT_UC:
      return QpType::kUc;
    case IB_UVERBS_QPT_UD:
      return QpType::kUd;
    case IB_UVERBS_QPT_DRIVER:
      if ((request.driver.flags & MLX5_QP_FLAG_TYPE_DCT) != 0) return QpType::kDct;
      if ((request.driver.flags & MLX5_QP_FLAG_TYPE_DCI) != 0) return QpType::kDci;
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

int CheckCap(const NicLimits& limits, const ib_uverbs_qp_cap& cap) {
  const bool fits = cap.max_send_wr <= limits.sq_depth_wqebbs &&
                    cap.max_recv_wr <= limits.rq_depth_wqes && cap.max_send_sge <= limits.sges &&
                    cap.max_recv_sge <= limits.sges;
  return fits ? 0 : EINVAL;
}

// The rings as libmlx5 lays them out: receives, and sends behind them.
void AddRings(const Request& request, RnicQpConfig& config, Qp& qp) {
  const mlx5_ib_create_qp& driver = request.driver;
  config.record = driver.db_addr;
  const bool receives = config.type != QpType::kDci && config.srq == 0;
  const uint64_t receive_bytes = uint64_t{driver.rq_wqe_count} << driver.rq_wqe_shift;
  if (receives && driver.rq_wqe_count != 0) {
    config.rq.ring = driver.buf_addr;
    config.rq.wqes = driver.rq_wqe_count;
    config.rq.stride = 1u << driver.rq_wqe_shift;
  }
  config.sq = driver.buf_addr + receive_bytes;
  config.sq_wqebbs = driver.sq_wqe_count;
  qp.rings = {driver.buf_addr, receive_bytes + uint64_t{driver.sq_wqe_count} * kWqebbBytes};
  qp.record = {config.record, kRecordBytes};
}

// What the NIC is told; an errno where an object is not there, or an option is none of its own.
int Configure(Context& context, const Request& request, RnicQpConfig* config, uint64_t* page,
              Qp* qp) {
  const std::optional<QpType> type = TypeOf(request);
  if (!type) return EOPNOTSUPP;
  if ((request.driver.flags & ~kKnownDriverFlags) != 0 || request.create_flags != 0) {
    return EOPNOTSUPP;
  }
  const int refused = CheckCap(context.Nic().Limits(), request.cap);
  if (refused != 0) return refused;
  const Pd* pd = context.pds.Find(request.pd);
  const Cq* send_cq = context.cqs.Find(request.send_cq);
  const Cq* receive_cq = context.cqs.Find(request.receive_cq);
  if (pd == nullptr || send_cq == nullptr || receive_cq == nullptr) return EINVAL;
  config->type = *type;
  config->pd = pd->number;
  config->send_cq = send_cq->number;
  config->receive_cq = receive_cq->number;
  config->user_index = request.driver.uidx;
  // A DCI that is given an SRQ does not use it, as it does not receive.
  if (request.srq != kNone && *type != QpType::kDci) {
    const Srq* srq = context.srqs.Find(request.srq);
    if (srq == nullptr) return EINVAL;
    config->srq = srq->number;
  }
  if (*type == QpType::kDct) {
    // It has no doorbells; the page is that of its completions.
    config->dc_key = request.driver.access_key;
    qp->target = true;
    *page = 0;
    return config->srq != 0 ? 0 : EINVAL;
  }
  AddRings(request, *config, *qp);
  *page = context.Nic().Uars().AddressOf(request.driver.bfreg_index);
  const bool named = (request.driver.flags & MLX5_QP_FLAG_UAR_PAGE_INDEX) != 0;
  return named && *page != 0 ? 0 : EINVAL;
}

int Create(Context& context, const Request& request, Answer* answer) {
  auto qp = std::make_unique<Qp>();
  RnicQpConfig config;
  uint64_t page = 0;
  const int error = Configure(context, request, &config, &page, qp.get());
  if (error != 0) return error;
  qp->user_handle = request.user_handle;
  qp->type = request.type;
  qp->signal_all = request.signal_all ? 1 : 0;
  qp->max_send_wr = request.cap.max_send_wr;
  qp->max_recv_wr = config.rq.wqes;  // what the queue holds, as mlx5_ib has it
  qp->max_send_sge = request.cap.max_send_sge;
  qp->max_recv_sge = config.rq.wqes == 0 ? 0 : request.cap.max_recv_sge;
  qp->max_inline = request.cap.max_inline_data;
  Created created;
  const bool ran = context.Nic().Call([&](NicLoop& loop) {
    created = loop.CreateQp(config, page);
    if (!created.Ok()) return;
    Context::Allow(loop, qp->rings);
    Context::Allow(loop, qp->record);
    const auto listener = [events = context.EventsShared(),
                           user_handle = qp->user_handle](EventKind kind) {
      Context::PostEvent(events.get(), user_handle, EventTypeOf(kind));
    };
    context.Nic().Listen(Subject::kQp, created.number, listener);
  });
  if (!ran) return EIO;
  if (!created.Ok()) return EINVAL;
  qp->number = created.number;
  answer->number = qp->target ? 0 : created.number;
  answer->handle = context.qps.Add(std::move(qp));
  return 0;
}

template <class T>
Request RequestOf(const T& core, const Command& command) {
  Request request;
  request.user_handle = core.user_handle;
  request.pd = core.pd_handle;
  request.send_cq = core.send_cq_handle;
  request.receive_cq = core.recv_cq_handle;
  if (core.is_srq != 0) request.srq = core.srq_handle;
  request.cap = {core.max_send_wr, core.max_recv_wr, core.max_send_sge, core.max_recv_sge,
                 core.max_inline_data};
  request.type = core.qp_type;
  request.signal_all = core.sq_sig_all != 0;
  request.driver = Read<mlx5_ib_create_qp>(command.driver_in);
  return request;
}

// The first eight words of the answers of both commands are the same.
void AnswerTo(const Command& command, const Request& request, const Answer& answer) {
  const ib_uverbs_qp_cap& cap = request.cap;
  const uint32_t words[] = {answer.handle,
                            answer.number,
                            cap.max_send_wr,
                            cap.max_recv_wr,
                            cap.max_send_sge,
                            cap.max_recv_sge,
                            cap.max_inline_data,
                            0,
                            0,
                            static_cast<uint32_t>(sizeof(ib_uverbs_ex_create_qp_resp))};
  Write(command.out, words);
  Write(command.driver_out, mlx5_ib_create_qp_resp{});
}

int CreateByCommand(Context& context, const Command& command) {
  const Request request = RequestOf(Read<ib_uverbs_create_qp>(command.in), command);
  Answer answer;
  const int error = Create(context, request, &answer);
  if (error == 0) AnswerTo(command, request, answer);
  return error;
}

int CreateByExtended(Context& context, const Command& command) {
  const auto core = Read<ib_uverbs_ex_create_qp>(command.in);
  Request request = RequestOf(core, command);
  request.create_flags = core.create_flags;
  if (core.comp_mask != 0 || core.source_qpn != 0) return EOPNOTSUPP;
  Answer answer;
  const int error = Create(context, request, &answer);
  if (error == 0) AnswerTo(command, request, answer);
  return error;
}

int CreateByMethod(Context& context, const Attributes& attributes) {
  if (attributes.Has(UVERBS_ATTR_CREATE_QP_XRCD_HANDLE) ||
      attributes.Has(UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE) ||
      attributes.Has(UVERBS_ATTR_CREATE_QP_SOURCE_QPN)) {
    return EOPNOTSUPP;
  }
  Request request;
  request.user_handle = attributes.Value<uint64_t>(UVERBS_ATTR_CREATE_QP_USER_HANDLE);
  request.pd = attributes.Handle(UVERBS_ATTR_CREATE_QP_PD_HANDLE);
  request.send_cq = attributes.Handle(UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE);
  request.receive_cq = attributes.Handle(UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE);
  request.srq = attributes.Handle(UVERBS_ATTR_CREATE_QP_SRQ_HANDLE);
  request.cap = attributes.Value<ib_uverbs_qp_cap>(UVERBS_ATTR_CREATE_QP_CAP);
  request.type = static_cast<uint8_t>(attributes.Value<uint32_t>(UVERBS_ATTR_CREATE_QP_TYPE));
  const auto flags = attributes.Value<uint32_t>(UVERBS_ATTR_CREATE_QP_FLAGS);
  request.signal_all = (flags & IB_UVERBS_QP_CREATE_SQ_SIG_ALL) != 0;
  request.create_flags = flags & ~uint32_t{IB_UVERBS_QP_CREATE_SQ_SIG_ALL};
  request.driver = attributes.Value<mlx5_ib_create_qp>(UVERBS_ATTR_UHW_IN);
  Answer answer;
  const int error = Create(context, request, &answer);
  if (error != 0) return error;
  attributes.Answer(UVERBS_ATTR_CREATE_QP_RESP_CAP, request.cap);
  attributes.Answer(UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, answer.number);
  attributes.Answer(UVERBS_ATTR_UHW_OUT, mlx5_ib_create_qp_resp{});
  attributes.SetHandle(UVERBS_ATTR_CREATE_QP_HANDLE, answer.handle);
  return 0;
}

int DestroyByCommand(Context& context, const Command& command) {
  ib_uverbs_destroy_qp_resp answer{};
  const int error =
      DestroyQp(context, Read<ib_uverbs_destroy_qp>(command.in).qp_handle, &answer.events_reported);
  if (error == 0) Write(command.out, answer);
  return error;
}

int DestroyByMethod(Context& context, const Attributes& attributes) {
  ib_uverbs_destroy_qp_resp answer{};
  const int error =
      DestroyQp(context, attributes.Handle(UVERBS_ATTR_DESTROY_QP_HANDLE), &answer.events_reported);
  if (error == 0) attributes.Answer(UVERBS_ATTR_DESTROY_QP_RESP, answer);
  return error;
}

constexpr CommandRow kCommands[] = {
    {IB_USER_VERBS_CMD_CREATE_QP, false, "CREATE_QP", sizeof(ib_uverbs_create_qp),
     sizeof(ib_uverbs_create_qp_resp), CreateByCommand},
    {IB_USER_VERBS_EX_CMD_CREATE_QP, true, "CREATE_QP_EX", sizeof(ib_uverbs_ex_create_qp),
     sizeof(ib_uverbs_ex_create_qp_resp), CreateByExtended},
    {IB_USER_VERBS_CMD_DESTROY_QP, false, "DESTROY_QP", sizeof(ib_uverbs_destroy_qp),
     sizeof(ib_uverbs_destroy_qp_resp), DestroyByCommand},
    {IB_USER_VERBS_CMD_MODIFY_QP, false, "MODIFY_QP", sizeof(ib_uverbs_modify_qp), 0, ModifyQp},
    {IB_USER_VERBS_EX_CMD_MODIFY_QP, true, "MODIFY_QP_EX", sizeof(ib_uverbs_ex_modify_qp),
     sizeof(ib_uverbs_ex_modify_qp_resp), ModifyQpExtended},
    {IB_USER_VERBS_CMD_QUERY_QP, false, "QUERY_QP", sizeof(ib_uverbs_query_qp),
     sizeof(ib_uverbs_query_qp_resp), QueryQp},
};
constexpr MethodRow kMethods[] = {
    {UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE, "QP_CREATE", CreateByMethod},
    {UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY, "QP_DESTROY", DestroyByMethod},
};

}  // namespace

int DestroyQp(Context& context, uint32_t handle, uint32_t* events) {
  const Qp* qp = context.qps.Find(handle);
  if (qp == nullptr) return EINVAL;
  context.Nic().Call([&](NicLoop& loop) {
    loop.DestroyQp(qp->number);
    context.Nic().Forget(Subject::kQp, qp->number);
    Context::Forbid(loop, qp->rings);
    Context::Forbid(loop, qp->record);
  });
  const uint32_t taken = context.ForgetEvents(qp->user_handle);
  if (events != nullptr) *events = taken;
  context.qps.Remove(handle);
  return 0;
}

CommandRows QpCommands() { return kCommands; }
MethodRows QpMethods() { return kMethods; }

}  // namespace ringpost::sim::uverbs

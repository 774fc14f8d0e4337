// Shared receive queues.
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <utility>

#include "sim/uverbs/commands/destroy.h"
#include "sim/uverbs/commands/event_types.h"
#include "sim/uverbs/commands/tables.h"

namespace ringpost::sim::uverbs {
namespace {

using service::NicLoop;

constexpr uint32_t kSegment = 16;
constexpr uint32_t kSmallestStride = 32;
constexpr uint64_t kRecordBytes = 4;

struct Request {
  uint64_t user_handle = 0;
  uint32_t pd = 0;
  uint32_t max_wr = 0;
  uint32_t max_sge = 0;
  uint32_t limit = 0;
  mlx5_ib_create_srq driver{};
};

struct Answer {
  uint32_t handle = 0;
  uint32_t max_wr = 0;
  uint32_t max_sge = 0;
  mlx5_ib_create_srq_resp driver{};
};

// As mlx5_ib lays the queue out: a WQE is a head and its segments.
int Configure(Context& context, const Request& request, ReceiveQueueConfig* config) {
  const NicLimits& limits = context.Nic().Limits();
  if (request.max_wr >= limits.srq_depth_wqes) return EINVAL;
  if (request.max_sge >= limits.receive_wqe_bytes / kSegment) return EINVAL;
  if (request.driver.flags != 0) return EOPNOTSUPP;
  config->ring = request.driver.buf_addr;
  config->record = request.driver.db_addr;
  config->wqes = std::bit_ceil(request.max_wr + 1);
  config->stride = std::max(std::bit_ceil((1 + request.max_sge) * kSegment), kSmallestStride);
  config->linked = true;
  return 0;
}

int Create(Context& context, const Request& request, Answer* answer) {
  ReceiveQueueConfig config;
  const int error = Configure(context, request, &config);
  if (error != 0) return error;
  const Pd* pd = context.pds.Find(request.pd);
  if (pd == nullptr) return EINVAL;
  auto srq = std::make_unique<Srq>();
  srq->user_handle = request.user_handle;
  srq->max_wr = config.wqes - 1;
  srq->max_sge = request.max_sge;
  srq->ring = {config.ring, uint64_t{config.wqes} * config.stride};
  srq->record = {config.record, kRecordBytes};
  Created created;
  const bool ran = context.Nic().Call([&](NicLoop& loop) {
    created = loop.Function().CreateSrq(pd->number, config);
    if (!created.Ok()) return;
    Context::Allow(loop, srq->ring);
    Context::Allow(loop, srq->record);
    const auto listener = [events = context.EventsShared(),
                           user_handle = srq->user_handle](EventKind kind) {
      Context::PostEvent(events.get(), user_handle, EventTypeOf(kind));
    };
    context.Nic().Listen(Subject::kSrq, created.number, listener);
    if (request.limit != 0) loop.ArmSrqLimit(created.number, request.limit);
  });
  if (!ran) return EIO;
  if (!created.Ok()) return ENOMEM;
  srq->number = created.number;
  answer->driver.srqn = created.number;
  answer->max_wr = srq->max_wr;
  answer->max_sge = srq->max_sge;
  answer->handle = context.srqs.Add(std::move(srq));
  return 0;
}

int CreateByCommand(Context& context, const Command& command) {
  const auto core = Read<ib_uverbs_create_srq>(command.in);
  Answer answer;
  const int error = Create(context,
                           {core.user_handle, core.pd_handle, core.max_wr, core.max_sge,
                            core.srq_limit, Read<mlx5_ib_create_srq>(command.driver_in)},
                           &answer);
  if (error != 0) return error;
  Write(command.driver_out, answer.driver);
  const uint32_t words[] = {answer.handle, answer.max_wr, answer.max_sge, answer.driver.srqn};
  Write(command.out, words);
  return 0;
}

int CreateByMethod(Context& context, const Attributes& attributes) {
  if (attributes.Value<uint32_t>(UVERBS_ATTR_CREATE_SRQ_TYPE) != IB_UVERBS_SRQT_BASIC) {
    return EOPNOTSUPP;
  }
  Request request;
  request.user_handle = attributes.Value<uint64_t>(UVERBS_ATTR_CREATE_SRQ_USER_HANDLE);
  request.pd = attributes.Handle(UVERBS_ATTR_CREATE_SRQ_PD_HANDLE);
  request.max_wr = attributes.Value<uint32_t>(UVERBS_ATTR_CREATE_SRQ_MAX_WR);
  request.max_sge = attributes.Value<uint32_t>(UVERBS_ATTR_CREATE_SRQ_MAX_SGE);
  request.limit = attributes.Value<uint32_t>(UVERBS_ATTR_CREATE_SRQ_LIMIT);
  request.driver = attributes.Value<mlx5_ib_create_srq>(UVERBS_ATTR_UHW_IN);
  Answer answer;
  const int error = Create(context, request, &answer);
  if (error != 0) return error;
  attributes.Answer(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, answer.max_wr);
  attributes.Answer(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, answer.max_sge);
  attributes.Answer(UVERBS_ATTR_UHW_OUT, answer.driver);
  attributes.SetHandle(UVERBS_ATTR_CREATE_SRQ_HANDLE, answer.handle);
  return 0;
}

// Its limit alone: no ConnectX resizes one.
int Modify(Context& context, const Command& command) {
  enum : uint32_t { kMaxWr = 1, kLimit = 2 };
  const auto request = Read<ib_uverbs_modify_srq>(command.in);
  const Srq* srq = context.srqs.Find(request.srq_handle);
  if (srq == nullptr || (request.attr_mask & ~uint32_t{kLimit}) != 0) return EINVAL;
  if ((request.attr_mask & kLimit) == 0) return 0;
  if (request.srq_limit >= srq->max_wr) return EINVAL;
  const uint32_t limit = request.srq_limit;
  const bool ran = context.Nic().Call([&](NicLoop& loop) { loop.ArmSrqLimit(srq->number, limit); });
  return ran ? 0 : EIO;
}

int Query(Context& context, const Command& command) {
  const Srq* srq = context.srqs.Find(Read<ib_uverbs_query_srq>(command.in).srq_handle);
  if (srq == nullptr) return EINVAL;
  ib_uverbs_query_srq_resp answer{};
  answer.max_wr = srq->max_wr;
  answer.max_sge = srq->max_sge;
  if (!context.Nic().Call(
          [&](NicLoop& loop) { answer.srq_limit = loop.Function().FindSrq(srq->number)->limit; })) {
    return EIO;
  }
  Write(command.out, answer);
  return 0;
}

int DestroyByCommand(Context& context, const Command& command) {
  ib_uverbs_destroy_srq_resp answer{};
  const int error = DestroySrq(context, Read<ib_uverbs_destroy_srq>(command.in).srq_handle,
                               &answer.events_reported);
  if (error == 0) Write(command.out, answer);
  return error;
}

int DestroyByMethod(Context& context, const Attributes& attributes) {
  ib_uverbs_destroy_srq_resp answer{};
  const int error = DestroySrq(context, attributes.Handle(UVERBS_ATTR_DESTROY_SRQ_HANDLE),
                               &answer.events_reported);
  if (error == 0) attributes.Answer(UVERBS_ATTR_DESTROY_SRQ_RESP, answer);
  return error;
}

constexpr CommandRow kCommands[] = {
    {IB_USER_VERBS_CMD_CREATE_SRQ, false, "CREATE_SRQ", sizeof(ib_uverbs_create_srq),
     sizeof(ib_uverbs_create_srq_resp), CreateByCommand},
    {IB_USER_VERBS_CMD_MODIFY_SRQ, false, "MODIFY_SRQ", sizeof(ib_uverbs_modify_srq), 0, Modify},
    {IB_USER_VERBS_CMD_QUERY_SRQ, false, "QUERY_SRQ", sizeof(ib_uverbs_query_srq),
     sizeof(ib_uverbs_query_srq_resp), Query},
    {IB_USER_VERBS_CMD_DESTROY_SRQ, false, "DESTROY_SRQ", sizeof(ib_uverbs_destroy_srq),
     sizeof(ib_uverbs_destroy_srq_resp), DestroyByCommand},
};
constexpr MethodRow kMethods[] = {
    {UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE, "SRQ_CREATE", CreateByMethod},
    {UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_DESTROY, "SRQ_DESTROY", DestroyByMethod},
};

}  // namespace

int DestroySrq(Context& context, uint32_t handle, uint32_t* events) {
  const Srq* srq = context.srqs.Find(handle);
  if (srq == nullptr) return EINVAL;
  std::string refusal;
  context.Nic().Call([&](NicLoop& loop) {
    refusal = loop.Function().DestroySrq(srq->number);
    if (!refusal.empty()) return;
    context.Nic().Forget(Subject::kSrq, srq->number);
    Context::Forbid(loop, srq->ring);
    Context::Forbid(loop, srq->record);
  });
  if (!refusal.empty()) return EBUSY;
  const uint32_t taken = context.ForgetEvents(srq->user_handle);
  if (events != nullptr) *events = taken;
  context.srqs.Remove(handle);
  return 0;
}

CommandRows SrqCommands() { return kCommands; }
MethodRows SrqMethods() { return kMethods; }

}  // namespace ringpost::sim::uverbs

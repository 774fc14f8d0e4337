// Completion queues and channels.
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>

#include <bit>
#include <cerrno>
#include <utility>

#include "sim/uverbs/commands/destroy.h"
#include "sim/uverbs/commands/event_types.h"
#include "sim/uverbs/commands/tables.h"

namespace ringpost::sim::uverbs {
namespace {

using service::NicLoop;

constexpr uint32_t kNormalCqe = 64, kPaddedCqe = 128;
constexpr uint64_t kRecordBytes = 8;
constexpr uint32_t kKnownFlags =
    IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION | IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN;
// CQEs have the time of the host's clock, so what is asked for is what they have.
constexpr uint16_t kKnownDriverFlags =
    MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX | MLX5_IB_CREATE_CQ_FLAGS_CQE_128B_PAD;

struct Request {
  uint64_t user_handle = 0;
  uint32_t cqe = 0;
  int channel = -1;
  uint32_t vector = 0;
  uint32_t flags = 0;
  mlx5_ib_create_cq driver{};
};

struct Answer {
  uint32_t handle = 0;
  uint32_t cqe = 0;
  mlx5_ib_create_cq_resp driver{};
};

bool IsPadded(const Request& request) {
  return (request.driver.flags & MLX5_IB_CREATE_CQ_FLAGS_CQE_128B_PAD) != 0;
}

int Check(Context& context, const Request& request) {
  if (request.vector >= kCompletionVectors || (request.flags & ~kKnownFlags) != 0) return EINVAL;
  if (request.cqe == 0 || request.cqe >= context.Nic().Limits().cq_entries) return EINVAL;
  const uint32_t size = request.driver.cqe_size;
  if (size != kNormalCqe && size != kPaddedCqe) return EINVAL;
  if (request.driver.cqe_comp_en != 0) return EOPNOTSUPP;
  if ((request.driver.flags & ~kKnownDriverFlags) != 0) return EOPNOTSUPP;
  if (IsPadded(request) && size != kPaddedCqe) return EOPNOTSUPP;  // as mlx5_ib has it
  return (request.driver.flags & MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX) != 0 ? 0 : EINVAL;
}

// The NIC's thread: what an event of a CQ becomes.
NicHost::Listener ListenerOf(std::shared_ptr<EventPipe> channel, std::shared_ptr<EventPipe> events,
                             uint64_t user_handle) {
  return [channel = std::move(channel), events = std::move(events), user_handle](EventKind kind) {
    if (kind != EventKind::kCompletion) {
      Context::PostEvent(events.get(), user_handle, EventTypeOf(kind));
    } else if (channel != nullptr) {
      const ib_uverbs_comp_event_desc record{user_handle};
      channel->Post(&record);
    }
  };
}

int Create(Context& context, const Request& request, Answer* answer) {
  const int refused = Check(context, request);
  if (refused != 0) return refused;
  const uint64_t page = context.Nic().Uars().AddressOf(request.driver.uar_page_index);
  auto cq = std::make_unique<Cq>();
  if (request.channel >= 0) cq->channel = context.ChannelOf(request.channel);
  if (page == 0 || (request.channel >= 0 && cq->channel == nullptr)) return EINVAL;
  CqConfig config;
  config.ring = request.driver.buf_addr;
  config.entries = std::bit_ceil(request.cqe + 1);
  config.entry_bytes = request.driver.cqe_size;
  config.padded = IsPadded(request);
  config.record = request.driver.db_addr;
  config.overrun_ignore = (request.flags & IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN) != 0;
  cq->user_handle = request.user_handle;
  cq->ring = {config.ring, uint64_t{config.entries} * config.entry_bytes};
  cq->record = {config.record, kRecordBytes};
  Created created;
  const bool ran = context.Nic().Call([&](NicLoop& loop) {
    created = loop.CreateCq(config, page);
    if (!created.Ok()) return;
    Context::Allow(loop, cq->ring);
    Context::Allow(loop, cq->record);
    context.Nic().Listen(Subject::kCq, created.number,
                         ListenerOf(cq->channel, context.EventsShared(), cq->user_handle));
  });
  if (!ran) return EIO;
  if (!created.Ok()) return EINVAL;
  cq->number = created.number;
  answer->cqe = config.entries - 1;
  answer->driver.cqn = created.number;
  answer->handle = context.cqs.Add(std::move(cq));
  return 0;
}

template <class T>
Request RequestOf(const T& request, const Command& command) {
  return {request.user_handle, request.cqe, request.comp_channel,
          request.comp_vector, 0,           Read<mlx5_ib_create_cq>(command.driver_in)};
}

int CreateByCommand(Context& context, const Command& command) {
  Answer answer;
  const int error =
      Create(context, RequestOf(Read<ib_uverbs_create_cq>(command.in), command), &answer);
  if (error != 0) return error;
  Write(command.driver_out, answer.driver);
  const uint32_t words[] = {answer.handle, answer.cqe};
  Write(command.out, words);
  return 0;
}

int CreateByExtended(Context& context, const Command& command) {
  const auto core = Read<ib_uverbs_ex_create_cq>(command.in);
  if (core.comp_mask != 0) return EINVAL;
  Request request = RequestOf(core, command);
  request.flags = core.flags;
  Answer answer;
  const int error = Create(context, request, &answer);
  if (error != 0) return error;
  Write(command.driver_out, answer.driver);
  const uint32_t words[] = {answer.handle, answer.cqe, 0,
                            static_cast<uint32_t>(sizeof(ib_uverbs_ex_create_cq_resp))};
  Write(command.out, words);
  return 0;
}

int CreateByMethod(Context& context, const Attributes& attributes) {
  Request request;
  request.user_handle = attributes.Value<uint64_t>(UVERBS_ATTR_CREATE_CQ_USER_HANDLE);
  request.cqe = attributes.Value<uint32_t>(UVERBS_ATTR_CREATE_CQ_CQE);
  request.channel = attributes.Descriptor(UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL);
  request.vector = attributes.Value<uint32_t>(UVERBS_ATTR_CREATE_CQ_COMP_VECTOR);
  request.flags = attributes.Value<uint32_t>(UVERBS_ATTR_CREATE_CQ_FLAGS);
  request.driver = attributes.Value<mlx5_ib_create_cq>(UVERBS_ATTR_UHW_IN);
  Answer answer;
  const int error = Create(context, request, &answer);
  if (error != 0) return error;
  attributes.Answer(UVERBS_ATTR_CREATE_CQ_RESP_CQE, answer.cqe);
  attributes.Answer(UVERBS_ATTR_UHW_OUT, answer.driver);
  attributes.SetHandle(UVERBS_ATTR_CREATE_CQ_HANDLE, answer.handle);
  return 0;
}

// The old ring gets one more CQE, which says that all later ones are in the new ring.
int Resize(Context& context, const Command& command) {
  const auto request = Read<ib_uverbs_resize_cq>(command.in);
  const auto driver = Read<mlx5_ib_resize_cq>(command.driver_in);
  Cq* cq = context.cqs.Find(request.cq_handle);
  if (cq == nullptr || request.cqe == 0 || request.cqe >= context.Nic().Limits().cq_entries) {
    return EINVAL;
  }
  const uint32_t entries = std::bit_ceil(request.cqe + 1);
  const Range ring{driver.buf_addr, uint64_t{entries} * driver.cqe_size};
  std::string refusal;
  const bool ran = context.Nic().Call([&](NicLoop& loop) {
    const CompletionQueue* known = loop.Function().FindCq(cq->number);
    if (known->config.entry_bytes != driver.cqe_size) {
      refusal = "another size of entries";
      return;
    }
    Context::Allow(loop, ring);
    refusal = loop.Function().ResizeCq(cq->number, ring.address, entries);
    Context::Forbid(loop, refusal.empty() ? cq->ring : ring);
  });
  if (!ran) return EIO;
  if (!refusal.empty()) return EINVAL;
  cq->ring = ring;
  Write(command.out, entries - 1);
  return 0;
}

int DestroyByCommand(Context& context, const Command& command) {
  ib_uverbs_destroy_cq_resp answer{};
  const int error = DestroyCq(context, Read<ib_uverbs_destroy_cq>(command.in).cq_handle,
                              &answer.comp_events_reported, &answer.async_events_reported);
  if (error == 0) Write(command.out, answer);
  return error;
}

int DestroyByMethod(Context& context, const Attributes& attributes) {
  ib_uverbs_destroy_cq_resp answer{};
  const int error = DestroyCq(context, attributes.Handle(UVERBS_ATTR_DESTROY_CQ_HANDLE),
                              &answer.comp_events_reported, &answer.async_events_reported);
  if (error == 0) attributes.Answer(UVERBS_ATTR_DESTROY_CQ_RESP, answer);
  return error;
}

int CreateChannel(Context& context, const Command& command) {
  const int file = context.MakeChannel();
  if (file < 0) return errno;
  Write(command.out, static_cast<uint32_t>(file));
  return 0;
}

constexpr CommandRow kCommands[] = {
    {IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, false, "CREATE_COMP_CHANNEL",
     sizeof(ib_uverbs_create_comp_channel), sizeof(ib_uverbs_create_comp_channel_resp),
     CreateChannel},
    {IB_USER_VERBS_CMD_CREATE_CQ, false, "CREATE_CQ", sizeof(ib_uverbs_create_cq),
     sizeof(ib_uverbs_create_cq_resp), CreateByCommand},
    {IB_USER_VERBS_EX_CMD_CREATE_CQ, true, "CREATE_CQ_EX", sizeof(ib_uverbs_ex_create_cq),
     sizeof(ib_uverbs_ex_create_cq_resp), CreateByExtended},
    {IB_USER_VERBS_CMD_RESIZE_CQ, false, "RESIZE_CQ", sizeof(ib_uverbs_resize_cq),
     sizeof(ib_uverbs_resize_cq_resp), Resize},
    {IB_USER_VERBS_CMD_DESTROY_CQ, false, "DESTROY_CQ", sizeof(ib_uverbs_destroy_cq),
     sizeof(ib_uverbs_destroy_cq_resp), DestroyByCommand},
};
constexpr MethodRow kMethods[] = {
    {UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, "CQ_CREATE", CreateByMethod},
    {UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY, "CQ_DESTROY", DestroyByMethod},
};

}  // namespace

int DestroyCq(Context& context, uint32_t handle, uint32_t* completions, uint32_t* events) {
  const Cq* cq = context.cqs.Find(handle);
  if (cq == nullptr) return EINVAL;
  std::string refusal;
  context.Nic().Call([&](NicLoop& loop) {
    refusal = loop.DestroyCq(cq->number);
    if (!refusal.empty()) return;
    context.Nic().Forget(Subject::kCq, cq->number);
    Context::Forbid(loop, cq->ring);
    Context::Forbid(loop, cq->record);
  });
  if (!refusal.empty()) return EBUSY;
  const uint32_t taken = cq->channel ? cq->channel->Forget(cq->user_handle) : 0;
  const uint32_t asynchronous = context.ForgetEvents(cq->user_handle);
  if (completions != nullptr) *completions = taken;
  if (events != nullptr) *events = asynchronous;
  context.cqs.Remove(handle);
  return 0;
}

CommandRows CqCommands() { return kCommands; }
MethodRows CqMethods() { return kMethods; }

}  // namespace ringpost::sim::uverbs

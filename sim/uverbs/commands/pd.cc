// Protection domains.
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>
#include <rdma/mlx5_user_ioctl_cmds.h>

#include <cerrno>

#include "sim/uverbs/commands/destroy.h"
#include "sim/uverbs/commands/tables.h"

namespace ringpost::sim::uverbs {
namespace {

using service::NicLoop;

int AllocatePd(Context& context, const Command& command) {
  auto pd = std::make_unique<Pd>();
  if (!context.Nic().Call(
          [&](NicLoop& loop) { pd->number = loop.Function().Keys().AllocatePd(); })) {
    return EIO;
  }
  Write(command.driver_out, mlx5_ib_alloc_pd_resp{pd->number});
  Write(command.out, context.pds.Add(std::move(pd)));
  return 0;
}

int FreePdByCommand(Context& context, const Command& command) {
  return DestroyPd(context, Read<ib_uverbs_dealloc_pd>(command.in).pd_handle);
}

int FreePdByMethod(Context& context, const Attributes& attributes) {
  return DestroyPd(context, attributes.Handle(UVERBS_ATTR_DESTROY_PD_HANDLE));
}

// What a process that was given the file asks of a domain that it did not make.
int QueryPd(Context& context, const Attributes& attributes) {
  const Pd* pd = context.pds.Find(attributes.Handle(MLX5_IB_ATTR_QUERY_PD_HANDLE));
  if (pd == nullptr) return EINVAL;
  attributes.Answer(MLX5_IB_ATTR_QUERY_PD_RESP_PDN, pd->number);
  return 0;
}

constexpr CommandRow kCommands[] = {
    {IB_USER_VERBS_CMD_ALLOC_PD, false, "ALLOC_PD", sizeof(ib_uverbs_alloc_pd),
     sizeof(ib_uverbs_alloc_pd_resp), AllocatePd},
    {IB_USER_VERBS_CMD_DEALLOC_PD, false, "DEALLOC_PD", sizeof(ib_uverbs_dealloc_pd), 0,
     FreePdByCommand},
};
constexpr MethodRow kMethods[] = {
    {UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY, "PD_DESTROY", FreePdByMethod},
    {UVERBS_OBJECT_PD, MLX5_IB_METHOD_PD_QUERY, "PD_QUERY", QueryPd},
};

}  // namespace

int DestroyPd(Context& context, uint32_t handle) {
  const Pd* pd = context.pds.Find(handle);
  if (pd == nullptr) return EINVAL;
  bool freed = true;
  context.Nic().Call([&](NicLoop& loop) { freed = loop.Function().Keys().FreePd(pd->number); });
  if (!freed) return EBUSY;
  context.pds.Remove(handle);
  return 0;
}

CommandRows PdCommands() { return kCommands; }
MethodRows PdMethods() { return kMethods; }

}  // namespace ringpost::sim::uverbs

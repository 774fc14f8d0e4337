// Address handles: of the kernel a program needs the MAC address of a GID on Ethernet; the vector
// itself is the provider's.
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>

#include <cerrno>

#include "sim/uverbs/commands/destroy.h"
#include "sim/uverbs/commands/tables.h"

namespace ringpost::sim::uverbs {
namespace {

using service::NicLoop;

int CreateAh(Context& context, const Command& command) {
  const auto request = Read<ib_uverbs_create_ah>(command.in);
  const Pd* pd = context.pds.Find(request.pd_handle);
  const bool ethernet = context.Nic().Device().link == wire::Link::kEthernet;
  if (pd == nullptr || request.attr.port_num != 1) return EINVAL;
  if (request.attr.is_global != 0 && request.attr.grh.sgid_index != 0) return EINVAL;
  if (ethernet && request.attr.is_global == 0) return EINVAL;
  auto ah = std::make_unique<Ah>();
  ah->pd = pd->number;
  if (!context.Nic().Call([&](NicLoop& loop) { loop.Function().Keys().UsePd(pd->number); })) {
    return EIO;
  }
  mlx5_ib_create_ah_resp answer{};
  answer.response_length = sizeof(answer);
  // The GIDs of this fabric end in the four bytes that its MAC addresses end in.
  answer.dmac[0] = 2;
  for (int i = 0; i < 4; ++i) answer.dmac[2 + i] = request.attr.grh.dgid[12 + i];
  Write(command.driver_out, answer);
  Write(command.out, context.ahs.Add(std::move(ah)));
  return 0;
}

int DestroyByCommand(Context& context, const Command& command) {
  return DestroyAh(context, Read<ib_uverbs_destroy_ah>(command.in).ah_handle);
}

int DestroyByMethod(Context& context, const Attributes& attributes) {
  return DestroyAh(context, attributes.Handle(UVERBS_ATTR_DESTROY_AH_HANDLE));
}

constexpr CommandRow kCommands[] = {
    {IB_USER_VERBS_CMD_CREATE_AH, false, "CREATE_AH", sizeof(ib_uverbs_create_ah),
     sizeof(ib_uverbs_create_ah_resp), CreateAh},
    {IB_USER_VERBS_CMD_DESTROY_AH, false, "DESTROY_AH", sizeof(ib_uverbs_destroy_ah), 0,
     DestroyByCommand},
};
constexpr MethodRow kMethods[] = {
    {UVERBS_OBJECT_AH, UVERBS_METHOD_AH_DESTROY, "AH_DESTROY", DestroyByMethod},
};

}  // namespace

int DestroyAh(Context& context, uint32_t handle) {
  const std::unique_ptr<Ah> ah = context.ahs.Remove(handle);
  if (ah == nullptr) return EINVAL;
  context.Nic().Call([&](NicLoop& loop) { loop.Function().Keys().LeavePd(ah->pd); });
  return 0;
}

CommandRows AhCommands() { return kCommands; }
MethodRows AhMethods() { return kMethods; }

}  // namespace ringpost::sim::uverbs

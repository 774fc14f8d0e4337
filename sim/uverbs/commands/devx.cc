// DevX: raw firmware commands, objects made by them, and the memory that they name. What a mailbox
// means is sim/uverbs/prm's; here are the attributes that carry it.
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_cmds.h>

#include <cerrno>

#include "sim/uverbs/commands/program_memory.h"
#include "sim/uverbs/commands/tables.h"

namespace ringpost::sim::uverbs {
namespace {

using prm::Devx;

constexpr uint32_t kMailboxBytes = 1 << 16;  // the longest that is copied

// Runs body(devx) on the NIC's thread; EIO where that has ended.
template <class Body>
int OnDevx(Context& context, const Body& body) {
  int error = EIO;
  context.Nic().Call([&](service::NicLoop&) {
    if (context.devx == nullptr) {
      context.devx = std::make_unique<Devx>(context.Nic().Firmware(), FindDmaBufMemory, IsMemory);
    }
    error = body(*context.devx);
  });
  return error;
}

bool IsMailbox(Input in, Output out) {
  return !in.empty() && in.size() <= kMailboxBytes && !out.empty() && out.size() <= kMailboxBytes;
}

int Other(Context& context, const Attributes& attributes) {
  const Input in = attributes.In(MLX5_IB_ATTR_DEVX_OTHER_CMD_IN);
  const Output out = attributes.Out(MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT);
  if (!IsMailbox(in, out)) return EINVAL;
  return OnDevx(context, [&](Devx& devx) { return devx.General(in, out); });
}

int QueryEqn(Context& context, const Attributes& attributes) {
  const auto vector = attributes.Value<uint32_t>(MLX5_IB_ATTR_DEVX_QUERY_EQN_USER_VEC);
  uint32_t eqn = 0;
  const int error = OnDevx(context, [&](Devx& devx) { return devx.QueryEqn(vector, &eqn); });
  if (error == 0) attributes.Answer(MLX5_IB_ATTR_DEVX_QUERY_EQN_DEV_EQN, eqn);
  return error;
}

// Pages are allocated one by one here: what a program calls a page is what the firmware does.
int QueryUar(Context&, const Attributes& attributes) {
  const auto page = attributes.Value<uint32_t>(MLX5_IB_ATTR_DEVX_QUERY_UAR_USER_IDX);
  attributes.Answer(MLX5_IB_ATTR_DEVX_QUERY_UAR_DEV_IDX, page);
  return 0;
}

int CreateObject(Context& context, const Attributes& attributes) {
  const Input in = attributes.In(MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN);
  const Output out = attributes.Out(MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT);
  if (!IsMailbox(in, out)) return EINVAL;
  uint32_t handle = 0;
  const int error = OnDevx(context, [&](Devx& devx) { return devx.Create(in, out, &handle); });
  if (error == 0) attributes.SetHandle(MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE, handle);
  return error;
}

int DestroyObject(Context& context, const Attributes& attributes) {
  const uint32_t handle = attributes.Handle(MLX5_IB_ATTR_DEVX_OBJ_DESTROY_HANDLE);
  return OnDevx(context, [&](Devx& devx) { return devx.Destroy(handle); });
}

int ModifyObject(Context& context, const Attributes& attributes) {
  const uint32_t handle = attributes.Handle(MLX5_IB_ATTR_DEVX_OBJ_MODIFY_HANDLE);
  const Input in = attributes.In(MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_IN);
  const Output out = attributes.Out(MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_OUT);
  if (!IsMailbox(in, out)) return EINVAL;
  return OnDevx(context, [&](Devx& devx) { return devx.Modify(handle, in, out); });
}

int QueryObject(Context& context, const Attributes& attributes) {
  const uint32_t handle = attributes.Handle(MLX5_IB_ATTR_DEVX_OBJ_QUERY_HANDLE);
  const Input in = attributes.In(MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN);
  const Output out = attributes.Out(MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT);
  if (!IsMailbox(in, out)) return EINVAL;
  return OnDevx(context, [&](Devx& devx) { return devx.Query(handle, in, out); });
}

int RegisterUmem(Context& context, const Attributes& attributes) {
  prm::UmemRequest request;
  request.address = attributes.Value<uint64_t>(MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR);
  request.bytes = attributes.Value<uint64_t>(MLX5_IB_ATTR_DEVX_UMEM_REG_LEN);
  request.access = attributes.Value<uint32_t>(MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS);
  if (attributes.Has(MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP)) {
    request.page_sizes = attributes.Value<uint64_t>(MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP);
  }
  if (attributes.Has(MLX5_IB_ATTR_DEVX_UMEM_REG_DMABUF_FD)) {
    request.dmabuf = attributes.Descriptor(MLX5_IB_ATTR_DEVX_UMEM_REG_DMABUF_FD);
  }
  uint32_t handle = 0, number = 0;
  const int error =
      OnDevx(context, [&](Devx& devx) { return devx.RegisterUmem(request, &handle, &number); });
  if (error != 0) return error;
  attributes.Answer(MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID, number);
  attributes.SetHandle(MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE, handle);
  return 0;
}

int DeregisterUmem(Context& context, const Attributes& attributes) {
  const uint32_t handle = attributes.Handle(MLX5_IB_ATTR_DEVX_UMEM_DEREG_HANDLE);
  return OnDevx(context, [&](Devx& devx) { return devx.DeregisterUmem(handle); });
}

constexpr MethodRow kMethods[] = {
    {MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_OTHER, "DEVX_OTHER", Other},
    {MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_QUERY_UAR, "DEVX_QUERY_UAR", QueryUar},
    {MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_QUERY_EQN, "DEVX_QUERY_EQN", QueryEqn},
    {MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_CREATE, "DEVX_OBJ_CREATE", CreateObject},
    {MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_DESTROY, "DEVX_OBJ_DESTROY", DestroyObject},
    {MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_MODIFY, "DEVX_OBJ_MODIFY", ModifyObject},
    {MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_QUERY, "DEVX_OBJ_QUERY", QueryObject},
    {MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_REG, "DEVX_UMEM_REG", RegisterUmem},
    {MLX5_IB_OBJECT_DEVX_UMEM, MLX5_IB_METHOD_DEVX_UMEM_DEREG, "DEVX_UMEM_DEREG", DeregisterUmem},
};

// Which attribute has the mailbox of a method that carries one.
constexpr struct {
  uint16_t object;
  uint16_t method;
  uint16_t in;
} kCarriers[] = {
    {MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_OTHER, MLX5_IB_ATTR_DEVX_OTHER_CMD_IN},
    {MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_CREATE, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN},
    {MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_MODIFY, MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_IN},
    {MLX5_IB_OBJECT_DEVX_OBJ, MLX5_IB_METHOD_DEVX_OBJ_QUERY, MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN},
};

}  // namespace

const char* CarriedCommand(const Attributes& attributes) {
  for (const auto& carrier : kCarriers) {
    if (carrier.object != attributes.Object() || carrier.method != attributes.Method()) continue;
    const uint32_t opcode = prm::Input(attributes.In(carrier.in))[prm::kOpcode];
    const prm::CommandFacts* command = prm::FindCommand(static_cast<uint16_t>(opcode));
    return command == nullptr ? nullptr : command->name;
  }
  return nullptr;
}

MethodRows DevxMethods() { return kMethods; }

}  // namespace ringpost::sim::uverbs

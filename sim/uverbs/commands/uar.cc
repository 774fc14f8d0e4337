// UAR pages: where a program rings its doorbells.
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>

#include <cerrno>

#include "sim/uverbs/commands/destroy.h"
#include "sim/uverbs/commands/tables.h"

namespace ringpost::sim::uverbs {
namespace {

// BlueFlame and non-cached pages are the same here: memory.
int AllocateUar(Context& context, const Attributes& attributes) {
  const auto type = attributes.Value<uint32_t>(MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE);
  if (type != MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF && type != MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC) {
    return EOPNOTSUPP;
  }
  auto uar = std::make_unique<Uar>();
  uar->page = context.Nic().Uars().Allocate();
  if (uar->page == 0) return ENOMEM;
  attributes.Answer(MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, UarPages::OffsetOf(uar->page));
  attributes.Answer(MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH,
                    static_cast<uint32_t>(UarPages::kBytes));
  attributes.Answer(MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, uar->page);
  attributes.SetHandle(MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, context.uars.Add(std::move(uar)));
  return 0;
}

int FreeUar(Context& context, const Attributes& attributes) {
  return DestroyUar(context, attributes.Handle(MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE));
}

constexpr MethodRow kMethods[] = {
    {MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_ALLOC, "UAR_ALLOC", AllocateUar},
    {MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_DESTROY, "UAR_DESTROY", FreeUar},
};

}  // namespace

int DestroyUar(Context& context, uint32_t handle) {
  const Uar* known = context.uars.Find(handle);
  if (known == nullptr) return EINVAL;
  bool used = false;
  context.Nic().Call(
      [&](service::NicLoop&) { used = context.Nic().Firmware().UsesPage(known->page); });
  if (used) return EBUSY;
  const std::unique_ptr<Uar> uar = context.uars.Remove(handle);
  context.Nic().Uars().Free(uar->page);
  return 0;
}

MethodRows UarMethods() { return kMethods; }

}  // namespace ringpost::sim::uverbs

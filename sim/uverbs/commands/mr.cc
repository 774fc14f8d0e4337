// Memory regions: of the program's memory, or of a dma-buf.
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>

#include <cerrno>
#include <utility>

#include "sim/nic/protection.h"
#include "sim/service/present_pages.h"
#include "sim/uverbs/commands/destroy.h"
#include "sim/uverbs/commands/program_memory.h"
#include "sim/uverbs/commands/tables.h"

namespace ringpost::sim::uverbs {
namespace {

using service::NicLoop;
using service::Use;

constexpr uint64_t kPage = 4096;
constexpr uint32_t kRights =
    kMayWriteLocally | kMayWriteRemotely | kMayReadRemotely | kMayUseAtomics;
// Bits that change nothing here: pages are found whatever their size, and names may start at 0.
constexpr uint32_t kHarmless =
    IB_UVERBS_ACCESS_ZERO_BASED | IB_UVERBS_ACCESS_HUGETLB | IB_UVERBS_ACCESS_OPTIONAL_RANGE;
constexpr uint32_t kKnown = kRights | kHarmless | IB_UVERBS_ACCESS_ON_DEMAND;

// As ib_check_mr_access has it.
int CheckAccess(uint32_t access) {
  if ((access & IB_UVERBS_ACCESS_MW_BIND) != 0) return EOPNOTSUPP;
  if ((access & ~kKnown) != 0) return EINVAL;
  constexpr uint32_t kNeedLocalWrite =
      IB_UVERBS_ACCESS_REMOTE_WRITE | IB_UVERBS_ACCESS_REMOTE_ATOMIC;
  const bool local = (access & IB_UVERBS_ACCESS_LOCAL_WRITE) != 0;
  return (access & kNeedLocalWrite) != 0 && !local ? EINVAL : 0;
}

bool IsOnDemand(const Mr& mr) { return (mr.access & IB_UVERBS_ACCESS_ON_DEMAND) != 0; }

// Makes the pages present, as a driver that pins them does; what is on demand comes when the NIC
// touches it. EFAULT where there is none.
int Populate(const Mr& mr) {
  if (mr.bytes == 0 || mr.address + mr.bytes < mr.address) return EINVAL;
  if (IsOnDemand(mr)) return 0;
  const bool writes = (mr.access & IB_UVERBS_ACCESS_LOCAL_WRITE) != 0;
  return IsMemory(mr.address, mr.bytes, writes ? Use::kWrite : Use::kRead) ? 0 : EFAULT;
}

// False: there is no way to that memory.
bool Allow(NicLoop& loop, const Mr& mr) {
  if (!IsOnDemand(mr)) return loop.Memory().Allow(mr.address, mr.bytes);
  loop.Memory().AllowOnDemand(mr.address, mr.bytes);
  return true;
}

void Forbid(NicLoop& loop, const Mr& mr) {
  if (IsOnDemand(mr)) {
    loop.Memory().ForbidOnDemand(mr.address, mr.bytes);
  } else {
    loop.Memory().Forbid(mr.address, mr.bytes);
  }
}

MemoryRegion RegionOf(const Mr& mr, const Pd& pd) {
  return {mr.iova, mr.address, mr.bytes, pd.number, static_cast<uint8_t>(mr.access & kRights)};
}

// Registers what `mr` says; on success it has its key.
int Register(Context& context, Mr& mr) {
  const Pd* pd = context.pds.Find(mr.pd);
  if (pd == nullptr) return EINVAL;
  const MemoryRegion region = RegionOf(mr, *pd);
  int error = EIO;
  context.Nic().Call([&](NicLoop& loop) {
    error = Allow(loop, mr) ? 0 : EOPNOTSUPP;
    if (error != 0) return;
    mr.key = loop.Function().Keys().Register(region);
    if (mr.key != 0) return;
    Forbid(loop, mr);
    error = ENOMEM;
  });
  return error;
}

void Release(Context& context, const Mr& mr) {
  context.Nic().Call([&](NicLoop& loop) {
    loop.Function().Keys().Deregister(mr.key);
    Forbid(loop, mr);
  });
}

int RegisterMemory(Context& context, Mr mr, uint32_t* handle, uint32_t* key) {
  int error = CheckAccess(mr.access);
  if (error == 0) error = Populate(mr);
  if (error == 0) error = Register(context, mr);
  if (error != 0) return error;
  *key = mr.key;
  *handle = context.mrs.Add(std::make_unique<Mr>(mr));
  return 0;
}

int RegisterByCommand(Context& context, const Command& command) {
  const auto request = Read<ib_uverbs_reg_mr>(command.in);
  if ((request.start & (kPage - 1)) != (request.hca_va & (kPage - 1))) return EINVAL;
  Mr mr;
  mr.pd = request.pd_handle;
  mr.iova = request.hca_va;
  mr.address = request.start;
  mr.bytes = request.length;
  mr.access = request.access_flags;
  uint32_t handle = 0, key = 0;
  const int error = RegisterMemory(context, mr, &handle, &key);
  if (error != 0) return error;
  const uint32_t words[] = {handle, key, key};
  Write(command.out, words);
  return 0;
}

// The key of `old` stands for `mr` from now on.
int Change(Context& context, const Mr& old, const Mr& mr) {
  const Pd* pd = context.pds.Find(mr.pd);
  if (pd == nullptr) return EINVAL;
  int error = EIO;
  context.Nic().Call([&](NicLoop& loop) {
    error = Allow(loop, mr) ? 0 : EOPNOTSUPP;
    if (error != 0) return;
    const bool changed = loop.Function().Keys().Change(old.key, RegionOf(mr, *pd));
    Forbid(loop, changed ? old : mr);
    error = changed ? 0 : EINVAL;
  });
  return error;
}

// What is not named stays, as does the key.
int Reregister(Context& context, const Command& command) {
  enum : uint32_t { kTranslation = 1, kDomain = 2, kAccess = 4 };
  const auto request = Read<ib_uverbs_rereg_mr>(command.in);
  Mr* old = context.mrs.Find(request.mr_handle);
  if (old == nullptr || request.flags == 0 || old->dma_buf != nullptr) return EINVAL;
  if ((request.flags & ~uint32_t{kTranslation | kDomain | kAccess}) != 0) return EINVAL;
  Mr mr = *old;
  if ((request.flags & kTranslation) != 0) {
    if ((request.start & (kPage - 1)) != (request.hca_va & (kPage - 1))) return EINVAL;
    mr.iova = request.hca_va;
    mr.address = request.start;
    mr.bytes = request.length;
  }
  if ((request.flags & kDomain) != 0) mr.pd = request.pd_handle;
  if ((request.flags & kAccess) != 0) mr.access = request.access_flags;
  int error = CheckAccess(mr.access);
  if (error == 0) error = Populate(mr);
  if (error == 0) error = Change(context, *old, mr);
  if (error != 0) return error;
  *old = mr;
  const uint32_t keys[] = {mr.key, mr.key};
  Write(command.out, keys);
  return 0;
}

int RegisterDmaBuf(Context& context, const Attributes& attributes) {
  Mr mr;
  mr.pd = attributes.Handle(UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE);
  mr.iova = attributes.Value<uint64_t>(UVERBS_ATTR_REG_DMABUF_MR_IOVA);
  mr.bytes = attributes.Value<uint64_t>(UVERBS_ATTR_REG_DMABUF_MR_LENGTH);
  mr.access = attributes.Value<uint32_t>(UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS);
  const auto offset = attributes.Value<uint64_t>(UVERBS_ATTR_REG_DMABUF_MR_OFFSET);
  if (IsOnDemand(mr)) return EINVAL;
  int error = CheckAccess(mr.access);
  if (error != 0) return error;
  error = FindDmaBufMemory(attributes.Value<int32_t>(UVERBS_ATTR_REG_DMABUF_MR_FD), &mr.dma_buf);
  if (error != 0) return error;
  const uint64_t most = mr.dma_buf->bytes;
  if (mr.bytes == 0 || mr.bytes > most || offset > most - mr.bytes) return EINVAL;
  mr.address = mr.dma_buf->address + offset;
  error = Register(context, mr);
  if (error != 0) return error;
  attributes.Answer(UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, mr.key);
  attributes.Answer(UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY, mr.key);
  attributes.SetHandle(UVERBS_ATTR_REG_DMABUF_MR_HANDLE, context.mrs.Add(std::make_unique<Mr>(mr)));
  return 0;
}

int DeregisterByCommand(Context& context, const Command& command) {
  return DestroyMr(context, Read<ib_uverbs_dereg_mr>(command.in).mr_handle);
}

int DeregisterByMethod(Context& context, const Attributes& attributes) {
  return DestroyMr(context, attributes.Handle(UVERBS_ATTR_DESTROY_MR_HANDLE));
}

int QueryMr(Context& context, const Attributes& attributes) {
  const Mr* mr = context.mrs.Find(attributes.Handle(UVERBS_ATTR_QUERY_MR_HANDLE));
  if (mr == nullptr) return EINVAL;
  attributes.Answer(UVERBS_ATTR_QUERY_MR_RESP_LKEY, mr->key);
  attributes.Answer(UVERBS_ATTR_QUERY_MR_RESP_RKEY, mr->key);
  attributes.Answer(UVERBS_ATTR_QUERY_MR_RESP_LENGTH, mr->bytes);
  attributes.Answer(UVERBS_ATTR_QUERY_MR_RESP_IOVA, mr->iova);
  return 0;
}

// One range of a prefetch, as mlx5_ib_advise_mr checks it.
int Prefetch(Context& context, uint32_t pd, uint32_t advice, const ib_uverbs_sge& range) {
  const Mr* found = nullptr;
  for (const uint32_t handle : context.mrs.Handles()) {
    const Mr* mr = context.mrs.Find(handle);
    if (mr->key == range.lkey && IsOnDemand(*mr)) found = mr;
  }
  if (found == nullptr) return ENOENT;
  if (found->pd != pd) return EPERM;
  const bool writes = advice == IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE;
  if (writes && (found->access & IB_UVERBS_ACCESS_LOCAL_WRITE) == 0) return EPERM;
  const uint64_t offset = range.addr - found->iova;
  if (offset > found->bytes || range.length > found->bytes - offset) return EFAULT;
  // The NIC has no table of pages that could be filled without making them present.
  if (advice == IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT || range.length == 0) return 0;
  const uint64_t address = found->address + offset;
  return service::MakePresent(address, range.length, writes ? Use::kWrite : Use::kRead) ? 0
                                                                                        : EFAULT;
}

int AdviseMr(Context& context, const Attributes& attributes) {
  const auto advice = attributes.Value<uint32_t>(UVERBS_ATTR_ADVISE_MR_ADVICE);
  const auto flags = attributes.Value<uint32_t>(UVERBS_ATTR_ADVISE_MR_FLAGS);
  const uint32_t pd = attributes.Handle(UVERBS_ATTR_ADVISE_MR_PD_HANDLE);
  if (advice > IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT) return EOPNOTSUPP;
  if ((flags & ~uint32_t{IB_UVERBS_ADVISE_MR_FLAG_FLUSH}) != 0) return EINVAL;
  const Input list = attributes.In(UVERBS_ATTR_ADVISE_MR_SGE_LIST);
  if (context.pds.Find(pd) == nullptr || list.empty()) return EINVAL;
  for (size_t at = 0; at + sizeof(ib_uverbs_sge) <= list.size(); at += sizeof(ib_uverbs_sge)) {
    const int error = Prefetch(context, pd, advice, Read<ib_uverbs_sge>(list.subspan(at)));
    // What only a wait for the pages would tell, a caller that does not wait is not told.
    if (error != 0 && (error != EFAULT || flags != 0)) return error;
  }
  return 0;
}

constexpr CommandRow kCommands[] = {
    {IB_USER_VERBS_CMD_REG_MR, false, "REG_MR", sizeof(ib_uverbs_reg_mr),
     sizeof(ib_uverbs_reg_mr_resp), RegisterByCommand},
    {IB_USER_VERBS_CMD_REREG_MR, false, "REREG_MR", sizeof(ib_uverbs_rereg_mr),
     sizeof(ib_uverbs_rereg_mr_resp), Reregister},
    {IB_USER_VERBS_CMD_DEREG_MR, false, "DEREG_MR", sizeof(ib_uverbs_dereg_mr), 0,
     DeregisterByCommand},
};
constexpr MethodRow kMethods[] = {
    {UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY, "MR_DESTROY", DeregisterByMethod},
    {UVERBS_OBJECT_MR, UVERBS_METHOD_ADVISE_MR, "ADVISE_MR", AdviseMr},
    {UVERBS_OBJECT_MR, UVERBS_METHOD_QUERY_MR, "QUERY_MR", QueryMr},
    {UVERBS_OBJECT_MR, UVERBS_METHOD_REG_DMABUF_MR, "REG_DMABUF_MR", RegisterDmaBuf},
};

}  // namespace

int DestroyMr(Context& context, uint32_t handle) {
  const std::unique_ptr<Mr> mr = context.mrs.Remove(handle);
  if (mr == nullptr) return EINVAL;
  Release(context, *mr);
  return 0;
}

CommandRows MrCommands() { return kCommands; }
MethodRows MrMethods() { return kMethods; }

}  // namespace ringpost::sim::uverbs

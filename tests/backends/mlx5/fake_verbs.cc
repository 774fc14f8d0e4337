#include "tests/backends/mlx5/fake_verbs.h"

#include <infiniband/mlx5dv.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>

namespace ringpost::mlx5::fake {
namespace {

struct Object {
  std::string kind;
  std::vector<const void*> parents;
};

std::recursive_mutex mutex;
World world;
std::map<const void*, Object> objects;
std::map<uint32_t, const void*> by_number;  // umems and objects of DevX

alignas(4096) uint8_t rings[4][1 << 16];  // SQ, RQ, CQ and SRQ of any object
alignas(4096) uint8_t uar[4096];
uint32_t record[16];
uint32_t next_number = 1;

// Whether this call is the one that fails.
bool Fails(const char* name, int error = ENOMEM) {
  const std::lock_guard<std::recursive_mutex> lock(mutex);
  if (world.calls++ != world.fail_at) return false;
  world.failed = name;
  errno = error;
  return true;
}

template <class T>
T* Made(T* object, const char* kind, std::vector<const void*> parents) {
  const std::lock_guard<std::recursive_mutex> lock(mutex);
  objects[object] = {kind, std::move(parents)};
  world.alive.insert(kind + std::to_string(objects.size()));
  return object;
}

// `object` goes; nothing may still need it.
int Gone(const void* object, const char* kind) {
  const std::lock_guard<std::recursive_mutex> lock(mutex);
  if (objects.count(object) == 0) {
    world.violations.push_back(std::string(kind) + " destroyed twice");
  }
  for (const auto& [other, what] : objects) {
    for (const void* parent : what.parents) {
      if (parent == object) {
        world.violations.push_back(std::string(kind) + " destroyed before its " + what.kind);
      }
    }
  }
  objects.erase(object);
  world.alive.clear();
  for (const auto& [other, what] : objects) world.alive.insert(what.kind);
  return 0;
}

ibv_device device;

}  // namespace

World& Reset() {
  world = World();
  objects.clear();
  by_number.clear();
  std::memset(rings, 0xf1, sizeof(rings));
  std::strcpy(device.name, "fake_0");
  return world;
}
World& Now() { return world; }

}  // namespace ringpost::mlx5::fake

using namespace ringpost::mlx5::fake;

#undef ibv_query_port
#undef ibv_reg_mr

extern "C" {

ibv_device** ibv_get_device_list(int* count) {
  static ibv_device* list[2] = {&device, nullptr};
  if (count != nullptr) *count = 1;
  return list;
}
void ibv_free_device_list(ibv_device**) {}
const char* ibv_get_device_name(ibv_device* found) { return found->name; }
bool mlx5dv_is_supported(ibv_device*) { return true; }

static ibv_context* Open(ibv_device* opened) {
  auto* context = new ibv_context();
  context->device = opened;
  context->async_fd = eventfd(0, EFD_NONBLOCK);
  return Made(context, "context", {});
}
ibv_context* ibv_open_device(ibv_device* opened) {
  return Fails("ibv_open_device") ? nullptr : Open(opened);
}
ibv_context* mlx5dv_open_device(ibv_device* opened, mlx5dv_context_attr*) {
  return Fails("mlx5dv_open_device") ? nullptr : Open(opened);
}
int ibv_close_device(ibv_context* context) {
  Gone(context, "context");
  close(context->async_fd);
  delete context;
  return 0;
}

int ibv_query_device(ibv_context*, ibv_device_attr* attributes) {
  if (Fails("ibv_query_device")) return ENOMEM;
  *attributes = {};
  std::strcpy(attributes->fw_ver, "1.2.3");
  attributes->phys_port_cnt = 1;
  attributes->max_mr_size = Now().max_registration;
  attributes->max_qp_rd_atom = attributes->max_qp_init_rd_atom = 16;
  return 0;
}
int ibv_query_port(ibv_context*, uint8_t, _compat_ibv_port_attr* compat) {
  if (Fails("ibv_query_port")) return ENOMEM;
  auto* attributes = reinterpret_cast<ibv_port_attr*>(compat);
  attributes->state = IBV_PORT_ACTIVE;
  attributes->active_mtu = IBV_MTU_4096;
  attributes->max_msg_sz = 1u << 30;
  attributes->gid_tbl_len = 8;
  if (Now().global_header) attributes->flags = IBV_QPF_GRH_REQUIRED;
  attributes->pkey_tbl_len = 1;
  attributes->lid = Now().ethernet ? 0 : 7;
  attributes->link_layer = Now().ethernet ? IBV_LINK_LAYER_ETHERNET : IBV_LINK_LAYER_INFINIBAND;
  return 0;
}
int ibv_query_pkey(ibv_context*, uint8_t, int index, __be16* pkey) {
  if (Fails("ibv_query_pkey") || index != 0) return -1;
  *pkey = 0xffff;
  return 0;
}
int _ibv_query_gid_ex(ibv_context*, uint32_t, uint32_t index, ibv_gid_entry* entry, uint32_t,
                      size_t) {
  const World& now = Now();
  if (now.v1.empty() && now.v2.empty()) {
    if (index != 0) return ENODATA;
    entry->gid = {{0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
    entry->gid_type = now.ethernet ? IBV_GID_TYPE_ROCE_V2 : IBV_GID_TYPE_IB;
    return 0;
  }
  const bool second = now.v2.count(index) != 0;
  if (!second && now.v1.count(index) == 0) return ENODATA;
  entry->gid = (second ? now.v2 : now.v1).at(index);
  entry->gid_type = second ? IBV_GID_TYPE_ROCE_V2 : IBV_GID_TYPE_ROCE_V1;
  return 0;
}

ibv_pd* ibv_alloc_pd(ibv_context* context) {
  if (Fails("ibv_alloc_pd")) return nullptr;
  auto* pd = new ibv_pd();
  pd->context = context;
  return Made(pd, "pd", {context});
}
int ibv_dealloc_pd(ibv_pd* pd) {
  Gone(pd, "pd");
  delete pd;
  return 0;
}

static ibv_mr* Register(ibv_pd* pd, const char* call, uint64_t bytes, bool possible) {
  if (Fails(call)) return nullptr;
  if (!possible || bytes > Now().max_registration) {
    errno = possible ? EINVAL : EFAULT;
    return nullptr;
  }
  auto* mr = new ibv_mr();
  mr->pd = pd;
  mr->lkey = mr->rkey = next_number++;
  Now().registered.push_back(bytes);
  return Made(mr, "mr", {pd});
}
ibv_mr* ibv_reg_mr(ibv_pd* pd, void*, size_t bytes, int) {
  return Register(pd, "ibv_reg_mr", bytes, Now().peer_memory);
}
ibv_mr* ibv_reg_mr_iova2(ibv_pd* pd, void* address, size_t bytes, uint64_t, unsigned) {
  return ibv_reg_mr(pd, address, bytes, 0);
}
ibv_mr* ibv_reg_dmabuf_mr(ibv_pd* pd, uint64_t, size_t bytes, uint64_t, int, int) {
  return Register(pd, "ibv_reg_dmabuf_mr", bytes, Now().dma_buf);
}
int ibv_dereg_mr(ibv_mr* mr) {
  Gone(mr, "mr");
  delete mr;
  return 0;
}

ibv_cq_ex* mlx5dv_create_cq(ibv_context* context, ibv_cq_init_attr_ex* attributes,
                            mlx5dv_cq_init_attr*) {
  if (Fails("mlx5dv_create_cq")) return nullptr;
  auto* cq = new ibv_cq_ex();
  cq->context = context;
  cq->cqe = static_cast<int>(attributes->cqe);
  Made(ibv_cq_ex_to_cq(cq), "cq", {context});
  return cq;
}
int ibv_destroy_cq(ibv_cq* cq) {
  Gone(cq, "cq");
  delete reinterpret_cast<ibv_cq_ex*>(cq);
  return 0;
}
ibv_srq* ibv_create_srq(ibv_pd* pd, ibv_srq_init_attr* attributes) {
  if (Fails("ibv_create_srq")) return nullptr;
  auto* srq = new ibv_srq();
  srq->pd = pd;
  srq->handle = attributes->attr.max_wr;
  return Made(srq, "srq", {pd});
}
int ibv_destroy_srq(ibv_srq* srq) {
  Gone(srq, "srq");
  delete srq;
  return 0;
}
ibv_qp* mlx5dv_create_qp(ibv_context* context, ibv_qp_init_attr_ex* attributes,
                         mlx5dv_qp_init_attr*) {
  if (Fails("mlx5dv_create_qp")) return nullptr;
  auto* qp = new ibv_qp();
  qp->context = context;
  qp->qp_num = next_number++;
  // Of what init_obj() says: WQEBBs, of 3 for a request, and receives.
  uint32_t wqebbs = 1;
  while (wqebbs < 3 * attributes->cap.max_send_wr) wqebbs *= 2;
  qp->handle = wqebbs;
  qp->events_completed = attributes->cap.max_recv_wr;
  std::vector<const void*> parents = {context, attributes->pd, attributes->send_cq,
                                      attributes->recv_cq};
  if (attributes->srq != nullptr) parents.push_back(attributes->srq);
  return Made(qp, "qp", parents);
}
int ibv_destroy_qp(ibv_qp* qp) {
  Gone(qp, "qp");
  delete qp;
  return 0;
}
int ibv_modify_qp(ibv_qp*, ibv_qp_attr*, int) { return Fails("ibv_modify_qp") ? EINVAL : 0; }

ibv_ah* ibv_create_ah(ibv_pd* pd, ibv_ah_attr*) {
  if (Fails("ibv_create_ah", ETIMEDOUT)) return nullptr;
  auto* ah = new ibv_ah();
  return Made(ah, "ah", {pd});
}
int ibv_destroy_ah(ibv_ah* ah) {
  Gone(ah, "ah");
  delete ah;
  return 0;
}

int mlx5dv_init_obj(mlx5dv_obj* object, uint64_t kind) {
  if (Fails("mlx5dv_init_obj")) return EINVAL;
  static mlx5_wqe_av vector = {};
  if (kind == MLX5DV_OBJ_PD) object->pd.out->pdn = 5;
  if (kind == MLX5DV_OBJ_AH) object->ah.out->av = &vector;
  if (kind == MLX5DV_OBJ_CQ) {
    *object->cq.out = {};
    object->cq.out->buf = rings[2];
    object->cq.out->dbrec = record;
    object->cq.out->cqe_cnt = static_cast<uint32_t>(object->cq.in->cqe) + 1;
    object->cq.out->cqe_size = 64;
  }
  if (kind == MLX5DV_OBJ_SRQ) {
    object->srq.out->buf = rings[3];
    object->srq.out->dbrec = record;
    object->srq.out->stride = 32;
    object->srq.out->tail = object->srq.in->handle;
  }
  if (kind == MLX5DV_OBJ_QP) {
    *object->qp.out = {};
    object->qp.out->dbrec = record;
    object->qp.out->sq = {rings[0], object->qp.in->handle, 64};
    object->qp.out->rq = {rings[1], object->qp.in->events_completed, 16};
    object->qp.out->bf = {uar + 0x800, 0x100};
  }
  return 0;
}

int mlx5dv_devx_general_cmd(ibv_context*, const void* in, size_t, void* out, size_t) {
  if (Fails("QUERY_HCA_CAP")) return ENOMEM;
  auto* area = static_cast<uint8_t*>(out) + 16;
  if (static_cast<const uint8_t*>(in)[7] == 1) {  // general, current
    area[0x11] = 15;
    area[0x3f] = 1;
    area[0x40] = 0x80;
    area[0x52] = 4;
  } else {
    area[0x08] = 0x40;
  }
  return 0;
}
int mlx5dv_devx_query_eqn(ibv_context*, uint32_t, uint32_t* eqn) {
  *eqn = 1;
  return Fails("mlx5dv_devx_query_eqn") ? ENOMEM : 0;
}
// Opaque to the caller.
mlx5dv_devx_obj* mlx5dv_devx_obj_create(ibv_context* context, const void* in, size_t, void* out,
                                        size_t) {
  const auto* command = static_cast<const uint8_t*>(in);
  const auto number_at = [&](size_t at) {
    return uint32_t{command[at + 1]} << 16 | uint32_t{command[at + 2]} << 8 | command[at + 3];
  };
  const bool cq = command[0] == 4;
  auto* answer = static_cast<uint8_t*>(out);
  if (Fails(cq ? "CREATE_CQ" : "CREATE_QP", EREMOTEIO)) {
    answer[0] = 0x0f;
    return nullptr;
  }
  const uint32_t number = next_number++;
  answer[10] = static_cast<uint8_t>(number >> 8);
  answer[11] = static_cast<uint8_t>(number);
  auto* object = reinterpret_cast<mlx5dv_devx_obj*>(new uint8_t(0));
  const std::lock_guard<std::recursive_mutex> lock(mutex);
  by_number[number] = object;
  // Rings and records lie in umems; a QP names its CQs.
  std::vector<const void*> parents = {context};
  const std::vector<size_t> names =
      cq ? std::vector<size_t>{0x58, 0x14} : std::vector<size_t>{0x108, 0xfc, 0x94, 0xb4};
  for (const size_t at : names) parents.push_back(by_number.at(number_at(at)));
  return Made(object, cq ? "devx cq" : "devx qp", parents);
}
int mlx5dv_devx_obj_modify(mlx5dv_devx_obj*, const void*, size_t, void*, size_t) {
  return Fails("QP") ? EREMOTEIO : 0;
}
int mlx5dv_devx_obj_destroy(mlx5dv_devx_obj* object) {
  Gone(object, "devx object");
  delete reinterpret_cast<uint8_t*>(object);
  return 0;
}
static mlx5dv_devx_umem* MakeUmem(ibv_context* context, const char* call, bool possible) {
  if (Fails(call)) return nullptr;
  if (!possible) {
    errno = EFAULT;
    return nullptr;
  }
  auto* umem = new mlx5dv_devx_umem();
  umem->umem_id = next_number++;
  by_number[umem->umem_id] = umem;
  return Made(umem, "umem", {context});
}
mlx5dv_devx_umem* mlx5dv_devx_umem_reg(ibv_context* context, void*, size_t, uint32_t) {
  return MakeUmem(context, "mlx5dv_devx_umem_reg", Now().peer_memory);
}
mlx5dv_devx_umem* mlx5dv_devx_umem_reg_ex(ibv_context* context, mlx5dv_devx_umem_in*) {
  return MakeUmem(context, "mlx5dv_devx_umem_reg_ex", Now().dma_buf);
}
int mlx5dv_devx_umem_dereg(mlx5dv_devx_umem* umem) {
  Gone(umem, "umem");
  delete umem;
  return 0;
}
mlx5dv_devx_uar* mlx5dv_devx_alloc_uar(ibv_context* context, uint32_t) {
  if (Fails("mlx5dv_devx_alloc_uar")) return nullptr;
  auto* page = new mlx5dv_devx_uar();
  page->reg_addr = uar + 0x800;
  page->base_addr = uar;
  return Made(page, "uar", {context});
}
void mlx5dv_devx_free_uar(mlx5dv_devx_uar* page) {
  Gone(page, "uar");
  delete page;
}

int ibv_get_async_event(ibv_context*, ibv_async_event*) { return -1; }
void ibv_ack_async_event(ibv_async_event*) {}

}  // extern "C"

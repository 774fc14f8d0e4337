// handles.h: objects of rdma-core that destroy themselves.
//
// Members of one object stand in the order of creation, so that the last one made goes first: an MR
// before its PD, a QP before its CQs, a CQ before its umem, a umem before the memory under it, all
// before the context.
#pragma once

#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>

#include <memory>

namespace ringpost::mlx5 {

template <auto destroy>
struct Destroy {
  template <class T>
  void operator()(T* object) const {
    static_cast<void>(destroy(object));
  }
};
// A function of two kinds has no address of one: these have names.
inline int CloseDevice(ibv_context* context) { return ibv_close_device(context); }
inline void FreeUar(mlx5dv_devx_uar* uar) { mlx5dv_devx_free_uar(uar); }

template <class T, auto destroy>
using Handle = std::unique_ptr<T, Destroy<destroy>>;

using Context = Handle<ibv_context, CloseDevice>;
using Pd = Handle<ibv_pd, ibv_dealloc_pd>;
using Mr = Handle<ibv_mr, ibv_dereg_mr>;
using Cq = Handle<ibv_cq, ibv_destroy_cq>;
using Qp = Handle<ibv_qp, ibv_destroy_qp>;
using Srq = Handle<ibv_srq, ibv_destroy_srq>;
using Ah = Handle<ibv_ah, ibv_destroy_ah>;
using DevxObject = Handle<mlx5dv_devx_obj, mlx5dv_devx_obj_destroy>;
using Umem = Handle<mlx5dv_devx_umem, mlx5dv_devx_umem_dereg>;
using Uar = Handle<mlx5dv_devx_uar, FreeUar>;

}  // namespace ringpost::mlx5

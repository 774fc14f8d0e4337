// start.h: how the checks of NVSHMEM begin: two processes, which meet by a file.
#pragma once

#include <nvshmem.h>
#include <nvshmemx.h>

#include "check.h"

namespace vendor {

inline constexpr int kRanks = 2;

inline void StartNvshmem(const std::string& file) {
  UseGpu();
  nvshmemx_uniqueid_t id = NVSHMEMX_UNIQUEID_INITIALIZER;
  if (rank == 0) nvshmemx_get_uniqueid(&id);
  ShareId(&id, file);
  nvshmemx_init_attr_t attributes = NVSHMEMX_INIT_ATTR_INITIALIZER;
  nvshmemx_set_attr_uniqueid_args(rank, kRanks, &id, &attributes);
  Require(nvshmemx_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, &attributes) == 0, "init");
  Say("initialised, PE %d of %d", nvshmem_my_pe(), nvshmem_n_pes());
}

}  // namespace vendor

// program_memory.h: where the memory is that a program registers: its own, a GPU's, or a dma-buf's.
#pragma once

#include <cstdint>
#include <memory>

#include "sim/service/present_pages.h"
#include "sim/uverbs/prm/devx.h"

namespace ringpost::sim::uverbs {

// Memory of a GPU that the program's CUDA driver knows, or pages of the host, which are made
// present as a driver does that pins them.
bool IsMemory(uint64_t address, uint64_t bytes, service::Use use);

// A GPU's, if CUDA made the dma-buf in this process; else what its exporter lets a CPU map, for as
// long as `memory` is held. 0, or an errno.
int FindDmaBufMemory(int file, prm::Devx::Memory* memory);

}  // namespace ringpost::sim::uverbs

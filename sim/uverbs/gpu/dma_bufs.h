// dma_bufs.h: which GPU memory the dma-bufs of this process were made of, as its CUDA driver was
// asked (preload/cuda.cc). A dma-buf itself does not tell.
//
// One is known by its file, not by its descriptor: copies of a descriptor are the same dma-buf, and
// a number that is used again another one. Any thread may call.
#pragma once

#include <cstdint>
#include <optional>

namespace ringpost::sim::uverbs::gpu {

struct DmaBuf {
  uint64_t address = 0;
  uint64_t bytes = 0;
};

void NoteDmaBuf(int file, const DmaBuf& memory);
// Nothing for what is no dma-buf of a GPU, or was made before the program was started under this
// library.
std::optional<DmaBuf> FindDmaBuf(int file);

}  // namespace ringpost::sim::uverbs::gpu

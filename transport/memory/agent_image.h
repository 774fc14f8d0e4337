// agent_image.h: the agent's kernel as CUDA's driver loads it (cuModuleLoadData), for GPUs of
// compute capability 9.0 and newer. Built without the CUDA Toolkit it is one zero byte, which no
// driver takes.
#pragma once

#include <cstddef>

namespace ringpost {

extern const unsigned char kAgentImage[];
extern const size_t kAgentImageBytes;
inline constexpr char kAgentKernel[] = "RingpostAgent";

}  // namespace ringpost

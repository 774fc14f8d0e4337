// A program that was built without the CUDA Toolkit.
#include "workloads/gpu.h"

namespace ringpost::workloads {

std::string WhyNoGpu() { return "this program was built without the CUDA Toolkit"; }

Result<std::unique_ptr<Gpu>> OpenGpu(uint32_t) { return Error{WhyNoGpu()}; }

}  // namespace ringpost::workloads

// caller_kernels.h: the callers as CUDA: which kernel a variant is. Free of CUDA.
#pragma once

#include <string_view>

#include "workloads/callers.h"

namespace ringpost::workloads {

using CallerKernel = void (*)(CallerJob);

// Null: this variant is not built. Orderings are those of `per_thread` alone that kCallerOrderings
// has; values are 8, 16 or 32.
CallerKernel InlinedCaller(const CallerVariant& variant, std::string_view ordering);
CallerKernel SeparateCaller(const CallerVariant& variant, std::string_view ordering);

}  // namespace ringpost::workloads

// Callers without the transport's code, and with it inlined.
#include "workloads/caller_kernels.cuh"

namespace ringpost::workloads {
namespace {

struct Absent {
  static constexpr bool kAbsent = true;
  static __device__ void Send(const CallerJob&, uint32_t, uint32_t) {}
};

template <class Ordering, bool kWait>
struct Inlined {
  static constexpr bool kAbsent = false;
  static __device__ __forceinline__ void Send(const CallerJob& job, uint32_t block,
                                              uint32_t message) {
    CudaPort port;
    CallerSend<CudaPort, Ordering, kWait>(port, job, block, message);
  }
};

}  // namespace

CallerKernel InlinedCaller(const CallerVariant& variant, std::string_view ordering) {
  if (variant.code == CallerCode::kAbsent) return CallerOf<Absent>(variant);
  return CallerThatSends<Inlined>(variant, ordering);
}

}  // namespace ringpost::workloads

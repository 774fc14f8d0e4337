// Callers of puts that were compiled apart.
#include "workloads/caller_kernels.cuh"
#include "workloads/caller_send.cuh"

namespace ringpost::workloads {
namespace {

template <class Ordering, bool kWait>
struct Separate {
  static constexpr bool kAbsent = false;
  static __device__ __forceinline__ void Send(const CallerJob& job, uint32_t block,
                                              uint32_t message) {
    SendSeparately<Ordering, kWait>(job, block, message);
  }
};

}  // namespace

CallerKernel SeparateCaller(const CallerVariant& variant, std::string_view ordering) {
  return CallerThatSends<Separate>(variant, ordering);
}

}  // namespace ringpost::workloads

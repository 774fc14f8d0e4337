// What sim/uverbs/gpu/cuda_abi.h says of the driver's binary interface is what cuda.h says.
#include "sim/uverbs/gpu/cuda_abi.h"

#include <cuda.h>

#include <boost/test/unit_test.hpp>
#include <string>
#include <type_traits>

namespace ringpost::sim::uverbs::gpu {
namespace {

static_assert(kCuSuccess == CUDA_SUCCESS);
static_assert(kCuInvalidValue == CUDA_ERROR_INVALID_VALUE);
static_assert(kCuNotInitialized == CUDA_ERROR_NOT_INITIALIZED);
static_assert(kCuNotReady == CUDA_ERROR_NOT_READY);
static_assert(kCuPointerContext == CU_POINTER_ATTRIBUTE_CONTEXT);
static_assert(kCuPointerMemoryType == CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
static_assert(kCuPointerIsManaged == CU_POINTER_ATTRIBUTE_IS_MANAGED);
static_assert(kCuPointerDeviceOrdinal == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
static_assert(kCuPointerRangeStart == CU_POINTER_ATTRIBUTE_RANGE_START_ADDR);
static_assert(kCuPointerRangeSize == CU_POINTER_ATTRIBUTE_RANGE_SIZE);
static_assert(kCuMemoryTypeDevice == CU_MEMORYTYPE_DEVICE);
static_assert(kCuHostAllocPortable == CU_MEMHOSTALLOC_PORTABLE);
static_assert(kCuHostAllocDeviceMap == CU_MEMHOSTALLOC_DEVICEMAP);
static_assert(kCuHostRegisterIoMemory == CU_MEMHOSTREGISTER_IOMEMORY);
static_assert(kCuStreamNonBlocking == CU_STREAM_NON_BLOCKING);
static_assert(kCuHandleDmaBuf == CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD);
static_assert(std::is_same_v<CuAddress, CUdeviceptr>);
static_assert(std::is_same_v<CuDevice, CUdevice>);

// As many arguments, each as large, and an enumeration for its number.
template <class T>
constexpr size_t SizeOf = sizeof(T);
template <class Ours, class Theirs>
struct SameCall : std::false_type {};
template <class R, class... Ours, class S, class... Theirs>
requires(sizeof...(Ours) == sizeof...(Theirs)) struct SameCall<R(Ours...), S(Theirs...)>
    : std::bool_constant<sizeof(R) == sizeof(S) && ((SizeOf<Ours> == SizeOf<Theirs>)&&...) &&
                         ((std::is_pointer_v<Ours> == std::is_pointer_v<Theirs>)&&...)> {
};

#define RINGPOST_CHECK(MEMBER, NAME, ...) \
  static_assert(SameCall<__VA_ARGS__, decltype(::NAME)>::value, #NAME);
// cuda.h has these under their names without a version.
#undef cuCtxPushCurrent
#undef cuCtxPopCurrent
#undef cuStreamDestroy
RINGPOST_CUDA_FUNCTIONS(RINGPOST_CHECK)

}  // namespace

BOOST_AUTO_TEST_SUITE(CudaAbiTest)

BOOST_AUTO_TEST_CASE(TheInterfaceIsThatOfTheHeader) { BOOST_TEST(CUDA_VERSION >= 12000); }

BOOST_AUTO_TEST_SUITE_END()

}  // namespace ringpost::sim::uverbs::gpu

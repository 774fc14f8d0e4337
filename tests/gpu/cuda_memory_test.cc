#include "transport/memory/cuda_memory.h"

#include <cuda_runtime_api.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <vector>

#include "tests/gpu/needs_gpu.h"

namespace ringpost {
namespace {

using boost::unit_test::precondition;

BOOST_AUTO_TEST_SUITE(CudaMemoryTest)

BOOST_AUTO_TEST_CASE(WithoutAGpuAllocationSaysWhatIsMissing, *precondition(NeedsNoGpu)) {
  CudaMemory memory(0);
  const Result<Allocation> got = memory.Allocate(Placement::kGpu, 64);
  BOOST_REQUIRE(!got.Ok());
  BOOST_TEST(got.Message().size() > 12u);
}

BOOST_AUTO_TEST_CASE(EmptyAllocationIsRefused) {
  CudaMemory memory(0);
  BOOST_TEST(!memory.Allocate(Placement::kHost, 0).Ok());
}

BOOST_AUTO_TEST_CASE(HostMemoryHasNoDmaBuf) {
  CudaMemory memory(0);
  BOOST_TEST(!memory.ExportDmaBuf({4096, 64, Placement::kHost}).Ok());
}

BOOST_AUTO_TEST_CASE(BytesSurviveTheWayThroughGpuMemory, *precondition(NeedsGpu)) {
  CudaMemory memory(0);
  const Result<Allocation> got = memory.Allocate(Placement::kGpu, 1000);
  BOOST_REQUIRE(got.Ok());
  std::vector<char> bytes(1000, 1);
  const uint64_t host = reinterpret_cast<uint64_t>(bytes.data());
  BOOST_TEST(memory.Copy(host, got.Value().address, 1000).Ok());
  BOOST_TEST(bytes == std::vector<char>(1000, 0));
  bytes.assign(1000, 7);
  BOOST_TEST(memory.Copy(got.Value().address, host, 1000).Ok());
  bytes.assign(1000, 0);
  BOOST_TEST(memory.Copy(host, got.Value().address, 1000).Ok());
  BOOST_TEST(bytes == std::vector<char>(1000, 7));
  memory.Free(got.Value());
}

// Of CUDA's runtime only 256 bytes are promised, and a dma-buf is of whole pages.
BOOST_AUTO_TEST_CASE(GpuMemoryIsWholePagesAlsoBesideSmallAllocationsOfTheProgram,
                     *precondition(NeedsGpu)) {
  CudaMemory memory(0);
  std::vector<void*> small;
  for (int i = 0; i < 16; ++i) {
    small.push_back(nullptr);
    BOOST_TEST_REQUIRE(cudaMalloc(&small.back(), 512 * (i % 3 + 1)) == cudaSuccess);
    const Result<Allocation> got = memory.Allocate(Placement::kGpu, 4096);
    BOOST_TEST_REQUIRE(got.Ok());
    BOOST_TEST(got.Value().address % 65536 == 0u);
    const Result<DmaBuf> file = memory.ExportDmaBuf(got.Value());
    BOOST_TEST(file.Ok(), (file.Ok() ? "" : file.Message()));
    if (file.Ok()) close(file.Value().file);
  }
  for (void* one : small) cudaFree(one);
}

BOOST_AUTO_TEST_CASE(PinnedHostMemoryHasOneAddressForBothSides, *precondition(NeedsGpu)) {
  CudaMemory memory(0);
  const Result<Allocation> got = memory.Allocate(Placement::kHost, 4096);
  BOOST_REQUIRE(got.Ok());
  void* device = nullptr;
  void* const host = reinterpret_cast<void*>(got.Value().address);
  BOOST_TEST(cudaHostGetDevicePointer(&device, host, 0) == cudaSuccess);
  BOOST_TEST(device == host);
}

BOOST_AUTO_TEST_CASE(MemoryOfAGpuThatIsNotThereLeavesNoErrorBehind, *precondition(NeedsGpu)) {
  {
    CudaMemory memory(Gpus());
    BOOST_TEST(!memory.Allocate(Placement::kGpu, 4096).Ok());
  }
  BOOST_TEST(cudaGetLastError() == cudaSuccess);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace ringpost

#include "transport/memory/host_memory.h"

#include <boost/test/unit_test.hpp>
#include <cstring>

namespace ringpost {
namespace {

struct Fixture {
  HostMemory memory;
};

BOOST_AUTO_TEST_SUITE(HostMemoryTest)

BOOST_FIXTURE_TEST_CASE(AllocationIsZeroAndPageAligned, Fixture) {
  const Result<Allocation> got = memory.Allocate(Placement::kHost, 5000);
  BOOST_REQUIRE(got.Ok());
  BOOST_TEST(got.Value().bytes == 5000u);
  BOOST_TEST(got.Value().address % 4096 == 0u);
  const char* bytes = reinterpret_cast<const char*>(got.Value().address);
  for (int i = 0; i < 5000; ++i) BOOST_REQUIRE(bytes[i] == 0);
  memory.Free(got.Value());
}

BOOST_FIXTURE_TEST_CASE(GpuPlacementIsRefused, Fixture) {
  const Result<Allocation> got = memory.Allocate(Placement::kGpu, 64);
  BOOST_REQUIRE(!got.Ok());
  BOOST_TEST(got.Message().find("GPU") != std::string::npos);
}

BOOST_FIXTURE_TEST_CASE(ImpossibleSizesAreRefused, Fixture) {
  BOOST_TEST(!memory.Allocate(Placement::kHost, 0).Ok());
  BOOST_TEST(!memory.Allocate(Placement::kHost, 1ull << 62).Ok());
}

BOOST_FIXTURE_TEST_CASE(CopyAndMapReachTheSameBytes, Fixture) {
  const Result<Allocation> got = memory.Allocate(Placement::kHost, 64);
  BOOST_REQUIRE(got.Ok());
  const char text[] = "payload";
  BOOST_TEST(memory.Copy(got.Value().address, reinterpret_cast<uint64_t>(text), sizeof(text)).Ok());
  void* const pages = reinterpret_cast<void*>(got.Value().address);
  BOOST_TEST(memory.Map(pages, 64, Mapping::kMemory).Value() == got.Value().address);
  BOOST_TEST(std::strcmp(static_cast<const char*>(pages), "payload") == 0);
  memory.Unmap(pages);
}

BOOST_FIXTURE_TEST_CASE(HostMemoryHasNoDmaBuf, Fixture) {
  const Result<Allocation> got = memory.Allocate(Placement::kHost, 64);
  BOOST_TEST(!memory.ExportDmaBuf(got.Value()).Ok());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace ringpost

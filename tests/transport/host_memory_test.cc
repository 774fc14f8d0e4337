#include "transport/memory/host_memory.h"

#include <boost/test/unit_test.hpp>
#include <cstring>

namespace ringpost {
namespace {

struct Fixture {
  HostMemory memory;
  std::string error;
};

BOOST_AUTO_TEST_SUITE(HostMemoryTest)

BOOST_FIXTURE_TEST_CASE(AllocationIsZeroAndPageAligned, Fixture) {
  const auto got = memory.Allocate(Placement::kHost, 5000, &error);
  BOOST_REQUIRE(got.has_value());
  BOOST_TEST(got->bytes == 5000u);
  BOOST_TEST(got->address % 4096 == 0u);
  const char* bytes = reinterpret_cast<const char*>(got->address);
  for (int i = 0; i < 5000; ++i) BOOST_REQUIRE(bytes[i] == 0);
  memory.Free(*got);
}

BOOST_FIXTURE_TEST_CASE(GpuPlacementIsRefused, Fixture) {
  BOOST_TEST(!memory.Allocate(Placement::kGpu, 64, &error).has_value());
  BOOST_TEST(error.find("GPU") != std::string::npos);
}

BOOST_FIXTURE_TEST_CASE(ImpossibleSizesAreRefused, Fixture) {
  BOOST_TEST(!memory.Allocate(Placement::kHost, 0, &error).has_value());
  BOOST_TEST(!memory.Allocate(Placement::kHost, 1ull << 62, &error).has_value());
  BOOST_TEST(!error.empty());
}

BOOST_FIXTURE_TEST_CASE(CopyAndMapReachTheSameBytes, Fixture) {
  const auto got = memory.Allocate(Placement::kHost, 64, &error);
  BOOST_REQUIRE(got.has_value());
  const char text[] = "payload";
  BOOST_TEST(memory.Copy(got->address, reinterpret_cast<uint64_t>(text), sizeof(text), &error));
  void* const pages = reinterpret_cast<void*>(got->address);
  BOOST_TEST(memory.Map(pages, 64, Mapping::kMemory, &error).value() == got->address);
  BOOST_TEST(std::strcmp(static_cast<const char*>(pages), "payload") == 0);
  memory.Unmap(pages);
}

BOOST_FIXTURE_TEST_CASE(HostMemoryHasNoDmaBuf, Fixture) {
  const auto got = memory.Allocate(Placement::kHost, 64, &error);
  BOOST_TEST(!memory.ExportDmaBuf(*got, &error).has_value());
  BOOST_TEST(!error.empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace ringpost

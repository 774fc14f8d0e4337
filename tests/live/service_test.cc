// The parts of a live NIC: doorbell pages, memory, the thread.
#include <sys/mman.h>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "sim/service/doorbell_pages.h"
#include "sim/service/nic_service.h"
#include "sim/service/process_dma.h"
#include "transport/abi/cqe.h"
#include "transport/device_access.h"
#include "transport/host_device.h"

namespace ringpost {
namespace {

using sim::service::DoorbellPages;
using sim::service::NicLoop;
using sim::service::NicService;
using sim::service::ProcessDma;

template <class T>
uint64_t AddressOf(T* object) {
  return reinterpret_cast<uint64_t>(object);
}

BOOST_AUTO_TEST_SUITE(DoorbellPagesTest)

struct OnePage {
  alignas(4096) uint64_t words[512] = {};
  DoorbellPages pages;
  DoorbellPages::Time now{};
  int looks = 0;

  OnePage() {
    pages.BindQp(AddressOf(words), 5);
    Scan();  // zeros are no doorbell yet seen
    now += 2 * DoorbellPages::kSecondLook;
    Scan();
    looks = 0;
  }
  uint32_t Scan() {
    return pages.Scan(
        16, now, [this](uint32_t qpn, bool) { looks += qpn == 5; }, [](uint32_t) {});
  }
};

BOOST_FIXTURE_TEST_CASE(TheSameBytesTwiceAreTwoDoorbells, OnePage) {
  for (int i = 0; i < 2; ++i) {
    words[0x800 / 8] = 77;
    BOOST_TEST(Scan() == 1u);
    BOOST_TEST(Scan() == 0u);
  }
  BOOST_TEST(looks == 2);
}

BOOST_FIXTURE_TEST_CASE(AnyOfTheFourRegistersIsSeen, OnePage) {
  for (const uint32_t offset : {0x800, 0x900, 0xa00, 0xb00}) {
    words[offset / 8] = 1;
    BOOST_TEST(Scan() == 1u);
  }
}

BOOST_FIXTURE_TEST_CASE(RecordsAreLookedAtOnceMoreWhenThePageIsQuiet, OnePage) {
  words[0x800 / 8] = 1;
  Scan();
  now += DoorbellPages::kSecondLook / 2;
  Scan();
  BOOST_TEST(looks == 1);
  now += DoorbellPages::kSecondLook;
  Scan();
  Scan();
  BOOST_TEST(looks == 2);
}

BOOST_FIXTURE_TEST_CASE(APageWithoutObjectsIsNotTouched, OnePage) {
  pages.UnbindQp(5);
  words[0x800 / 8] = 1;
  BOOST_TEST(Scan() == 0u);
  BOOST_TEST(words[0x800 / 8] == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

// Memory of a device, all of it one word.
class OneWord final : public DeviceAccess {
 public:
  bool Read(uint64_t, void* bytes, uint64_t size) override {
    std::memcpy(bytes, &word, size);
    return true;
  }
  bool Write(uint64_t, const void* bytes, uint64_t size) override {
    std::memcpy(&word, bytes, size);
    return true;
  }
  bool Settle() override { return true; }
  bool CompareSwap(uint64_t, uint32_t, uint64_t*, uint64_t) override { return false; }
  void Watch(const AnnouncedRing&) override {}
  void Unwatch(uint64_t) override {}
  bool ReadRecord(uint64_t address, uint32_t* record) override {
    return Read(address, record, sizeof(*record));
  }
  uint64_t word = 0;
};

// The runtime of ThreadSanitizer hangs after a handler was left by a jump.
boost::test_tools::assertion_result FaultsCanBeLeft(boost::unit_test::test_unit_id) {
  return !kThreadSanitizer;
}

BOOST_AUTO_TEST_SUITE(ProcessDmaTest)

BOOST_AUTO_TEST_CASE(OnlyAllowedMemoryIsTouched) {
  alignas(64) uint8_t memory[192] = {};
  ProcessDma dma;
  dma.Allow(AddressOf(memory) + 64, 32);
  dma.Allow(AddressOf(memory) + 96, 32);
  uint8_t bytes[64];
  std::memset(bytes, 7, sizeof(bytes));
  BOOST_TEST(dma.Write(0, AddressOf(memory) + 64, bytes, 64));  // both ranges
  BOOST_TEST(!dma.Write(0, AddressOf(memory) + 63, bytes, 2));
  BOOST_TEST(!dma.Write(0, AddressOf(memory) + 127, bytes, 2));
  BOOST_TEST(!dma.Read(0, ~uint64_t{0} - 1, bytes, 64));
  BOOST_TEST(int{memory[63]} == 0);
  BOOST_TEST(int{memory[64]} == 7);
  BOOST_TEST(int{memory[128]} == 0);
  dma.Forbid(AddressOf(memory) + 64, 32);
  BOOST_TEST(!dma.Write(0, AddressOf(memory) + 64, bytes, 1));
  BOOST_TEST(dma.Write(0, AddressOf(memory) + 96, bytes, 1));
  BOOST_TEST(dma.Refused() == 4u);
}

BOOST_AUTO_TEST_CASE(MemoryOfADeviceIsReachedThroughItAlsoWhereRangesOverlap) {
  constexpr uint64_t kDevices = 1ull << 60, kNobodys = 1ull << 59;
  OneWord device;
  ProcessDma dma;
  dma.SetReach([&](uint64_t address, uint64_t, DeviceAccess** found) {
    if (address >= kDevices) *found = &device;
    return address < kNobodys || address >= kDevices;
  });
  alignas(8) uint64_t host = 0;
  BOOST_TEST(dma.Allow(AddressOf(&host), sizeof(host)));
  BOOST_TEST(dma.Allow(kDevices, 4096));
  BOOST_TEST(dma.Allow(kDevices + 1024, 64));
  BOOST_TEST(!dma.Allow(kNobodys, 4096));
  uint64_t value = 5;
  BOOST_TEST(dma.Write(0, kDevices + 2048, &value, sizeof(value)));
  BOOST_TEST(device.word == 5u);
  BOOST_TEST(host == 0u);
  BOOST_TEST(dma.Write(0, AddressOf(&host), &value, sizeof(value)));
  BOOST_TEST(host == 5u);
  dma.Forbid(kDevices, 4096);
  BOOST_TEST(!dma.Write(0, kDevices + 2048, &value, sizeof(value)));
  BOOST_TEST(dma.Write(0, kDevices + 1024, &value, sizeof(value)));
  BOOST_TEST(!dma.Write(0, kDevices + 1024 + 60, &value, sizeof(value)));
  BOOST_TEST(!dma.Write(0, kNobodys, &value, sizeof(value)));
}

BOOST_AUTO_TEST_CASE(BytesOfAnyLengthAndAlignmentAreCopied) {
  alignas(8) uint8_t memory[64];
  ProcessDma dma;
  dma.Allow(AddressOf(memory), sizeof(memory));
  const char text[] = "abcdefghijklmnopqrstuvwxyz";
  for (uint64_t from = 0; from < 9; ++from) {
    for (uint64_t size = 0; size < sizeof(text); ++size) {
      std::memset(memory, 0, sizeof(memory));
      char back[sizeof(text)] = {};
      BOOST_TEST(dma.Write(0, AddressOf(memory) + from, text, size));
      BOOST_TEST(dma.Read(0, AddressOf(memory) + from, back, size));
      BOOST_TEST(std::string(back) == std::string(text, size));
      BOOST_TEST(int{memory[from + size]} == 0);
    }
  }
}

BOOST_AUTO_TEST_CASE(PagesOnDemandMayComeAndGoAndWhereNoneIsMappedAccessIsRefused) {
  constexpr size_t kPage = 4096;
  const auto map = [](void* at, int protection) {
    return mmap(at, 2 * kPage, protection,
                MAP_PRIVATE | MAP_ANONYMOUS | (at == nullptr ? 0 : MAP_FIXED), -1, 0);
  };
  auto* memory = static_cast<uint8_t*>(map(nullptr, PROT_READ | PROT_WRITE));
  ProcessDma dma;
  dma.AllowOnDemand(AddressOf(memory), 2 * kPage);
  const uint64_t across = AddressOf(memory) + kPage - 4;
  uint8_t bytes[8] = {1, 2, 3, 4, 5, 6, 7, 8}, back[8] = {};
  BOOST_TEST(dma.Write(0, across, bytes, 8));
  map(memory, PROT_READ | PROT_WRITE);  // other pages, of zeros
  BOOST_TEST(dma.Read(0, across, back, 8));
  BOOST_TEST(int{back[7]} == 0);
  map(memory, PROT_READ);
  BOOST_TEST(!dma.Write(0, across, bytes, 8));
  BOOST_TEST(dma.Read(0, across, back, 8));
  map(memory, PROT_NONE);
  BOOST_TEST(!dma.Read(0, across, back, 8));
  map(memory, PROT_READ);
  munmap(memory + kPage, kPage);
  BOOST_TEST(!dma.Read(0, across, back, 8));
  BOOST_TEST(dma.Read(0, across, back, 4));
  dma.ForbidOnDemand(AddressOf(memory), 2 * kPage);
  BOOST_TEST(!dma.Read(0, across, back, 4));
  BOOST_TEST(dma.Refused() == 4u);
  munmap(memory, kPage);
}

// Behind the one page that stays nothing is mapped.
BOOST_AUTO_TEST_CASE(MemoryThatIsUnmappedWhileItIsAllowedIsRefusedAsIfItWereNot,
                     *boost::unit_test::precondition(FaultsCanBeLeft)) {
  constexpr size_t kPage = 4096;
  void* mapped =
      mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  auto* memory = static_cast<uint8_t*>(mapped);
  ProcessDma dma;
  dma.GuardAccesses();
  BOOST_TEST(dma.Allow(AddressOf(memory), 2 * kPage));
  munmap(memory + kPage, kPage);
  const uint64_t across = AddressOf(memory) + kPage - 16, gone = AddressOf(memory) + kPage;
  alignas(64) uint8_t bytes[64] = {1, 2, 3};
  uint32_t record = 0;
  uint64_t old = 0;
  const auto next = [](const void*, uint64_t value) { return value + 1; };
  BOOST_TEST(!dma.Write(0, across, bytes, sizeof(bytes)));
  BOOST_TEST(int{memory[kPage - 16]} == 1);  // what was there was written
  BOOST_TEST(!dma.Read(0, across, bytes, sizeof(bytes)));
  BOOST_TEST(!dma.Read(0, across + 13, bytes, sizeof(bytes)));
  BOOST_TEST(!dma.ReadRecord(0, gone + 64, &record));
  BOOST_TEST(!dma.WriteCqe(0, gone, bytes));
  BOOST_TEST(!dma.Modify(0, gone + 8, 8, next, nullptr, &old));
  BOOST_TEST(dma.Refused() == 6u);
  BOOST_TEST(dma.Write(0, AddressOf(memory), bytes, sizeof(bytes)));
  munmap(memory, kPage);
}

// The error word of each CQE is written before its tail, which counts up.
BOOST_AUTO_TEST_CASE(ACqeThatIsRewrittenIsNeverTornAndNeverGoesBack) {
  constexpr uint64_t kCqes = 20000;
  alignas(64) uint64_t slot[8] = {};
  std::atomic<uint64_t> wrong{0};
  std::thread poller([&] {
    std::atomic_ref<uint64_t> error(slot[6]), tail(slot[7]);
    for (uint64_t last = 0; last != kCqes;) {
      const uint64_t seen = tail.load(std::memory_order_acquire);
      wrong += seen < last || error.load(std::memory_order_relaxed) < seen;
      last = seen;
    }
  });
  ProcessDma dma;
  dma.Allow(AddressOf(slot), sizeof(slot));
  for (uint64_t i = 1; i <= kCqes; ++i) {
    const uint64_t cqe[8] = {0, 0, 0, 0, 0, 0, i, i};
    dma.WriteCqe(0, AddressOf(slot), cqe);
  }
  poller.join();
  BOOST_TEST(wrong == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

class NoPort final : public sim::service::PacketPort {
 public:
  bool Send(const sim::service::Address&, const sim::wire::Packet&) override { return false; }
  bool Poll(sim::service::Arrival&) override { return false; }
  void Sleep(std::chrono::nanoseconds) override { std::this_thread::yield(); }
  sim::service::PortCounters Counters() const override { return {}; }
};

BOOST_AUTO_TEST_SUITE(NicServiceTest)

BOOST_AUTO_TEST_CASE(CallsOfManyThreadsRunOneAfterAnother) {
  for (const auto idle : {sim::service::Idle::kYield, sim::service::Idle::kSleep}) {
    auto nic = NicService::Start(std::make_unique<NoPort>(), {.slot = 1}, {.idle = idle});
    BOOST_TEST_REQUIRE(nic.Ok());
    int sum = 0;  // the NIC's thread alone touches it
    std::vector<std::thread> callers;
    for (int i = 0; i < 4; ++i) {
      callers.emplace_back([&] {
        for (int j = 0; j < 50; ++j) (void)nic.Value()->Call([&](NicLoop&) { ++sum; });
      });
    }
    for (std::thread& caller : callers) caller.join();
    BOOST_TEST(nic.Value()->Call([&](NicLoop&) { BOOST_TEST(sum == 200); }).Ok());
  }
}

BOOST_AUTO_TEST_CASE(WhatEndsTheThreadIsToldToEveryCaller) {
  auto nic = NicService::Start(std::make_unique<NoPort>(), {.slot = 1}, {});
  const auto first =
      nic.Value()->Call([](NicLoop&) { throw std::runtime_error("the disk is on fire"); });
  BOOST_TEST_REQUIRE(!first.Ok());
  BOOST_TEST(first.Message() == "the NIC's thread has failed: the disk is on fire");
  BOOST_TEST(!nic.Value()->Call([](NicLoop&) {}).Ok());
  BOOST_TEST(nic.Value()->Failure() == first.Message());
}

BOOST_AUTO_TEST_CASE(ACoreThatIsNotThereIsRefused) {
  const auto nic = NicService::Start(std::make_unique<NoPort>(), {.slot = 1}, {.core = 100000});
  BOOST_TEST_REQUIRE(!nic.Ok());
  BOOST_TEST(nic.Message() == "core 100000 does not exist");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace ringpost

// Processes of a fabric that are killed: their slots come free, and nothing is left in the end.
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <random>

#include "sim/service/fabric_segment.h"
#include "sim/service/segment_port.h"
#include "sim/service/shared_object.h"
#include "tests/seed.h"
#include "tests/sim/service/child_process.h"
#include "tests/sim/service/fabric_fixture.h"
#include "tests/sim/service/numbered_packet.h"

namespace ringpost {
namespace {

using sim::service::AddressOf;
using sim::service::Arrival;
using sim::service::FabricSegment;
using sim::service::FirstQpn;
using sim::service::Polling;
using sim::service::SegmentHeader;
using sim::service::SegmentPort;
using sim::service::SharedObject;
using sim::wire::Link;
using sim::wire::Packet;

constexpr auto kHangGuard = std::chrono::seconds(30);
const sim::service::DeviceInfo kDevice = InfinibandDevice(7);

bool CanAttach(FabricSegment* fabric) {
  return fabric != nullptr && fabric->Attach(kDevice, Polling::kSpin).Ok();
}

BOOST_FIXTURE_TEST_SUITE(FabricDeathTest, NamedFabric)

BOOST_AUTO_TEST_CASE(LastOneKilledLeavesNothingAfterTheNextOpen) {
  ChildProcess child([&] {
    auto fabric = Open();
    if (CanAttach(fabric.get())) Die();
  });
  BOOST_TEST(child.WasKilled());
  BOOST_TEST(IsThere());
  Open().reset();
  BOOST_TEST(!IsThere());
}

BOOST_AUTO_TEST_CASE(MakerKilledBeforeItAttachedLeavesNothingAfterTheNextOpen) {
  ChildProcess child([&] {
    auto fabric = Open();
    if (fabric) Die();
  });
  BOOST_TEST(child.WasKilled());
  Open().reset();
  BOOST_TEST(!IsThere());
}

BOOST_AUTO_TEST_CASE(SlotOfAKilledProcessIsFreeAgain) {
  auto fabric = Open();
  BOOST_REQUIRE(CanAttach(fabric.get()));
  for (int i = 0; i < 3; ++i) {
    ChildProcess child([&] {
      auto own = Open();
      if (CanAttach(own.get())) Die();
    });
    BOOST_TEST(child.WasKilled());
    BOOST_TEST(fabric->Route(Link::kInfiniband, AddressOf(kDevice), FirstQpn(2)).has_value());
    BOOST_TEST(fabric->Reap() == 1);
    BOOST_TEST(!fabric->Route(Link::kInfiniband, AddressOf(kDevice), FirstQpn(2)));
  }
}

BOOST_AUTO_TEST_CASE(WhatKilledProcessesCalledTheirDevicesBindsNobody) {
  ChildProcess child([&] {
    auto own = Open();
    if (CanAttach(own.get())) Die();
  });
  BOOST_TEST(child.WasKilled());
  auto fabric = Open();
  BOOST_REQUIRE(fabric);
  sim::service::DeviceInfo other = kDevice;
  other.name = "other";
  BOOST_TEST(fabric->Attach(other, Polling::kSpin).Ok());
  BOOST_TEST(fabric->Devices().size() == 1u);
}

BOOST_AUTO_TEST_CASE(ProcessKilledWithTheMutexBlocksNobody) {
  auto fabric = Open();
  BOOST_REQUIRE(CanAttach(fabric.get()));
  ChildProcess child([&] {
    auto raw = SharedObject::OpenOrMake(path, 1, [](void*) {});
    const auto lock = static_cast<SegmentHeader*>(raw.Value()->Memory())->mutex.Lock(kHangGuard);
    Die();
  });
  BOOST_TEST(child.WasKilled());
  BOOST_TEST(CanAttach(fabric.get()));
}

BOOST_AUTO_TEST_CASE(MutexHeldForTooLongIsReportedWithItsHolder) {
  spec.lock_deadline = std::chrono::milliseconds(20);
  auto fabric = Open();
  BOOST_REQUIRE(CanAttach(fabric.get()));
  auto raw = SharedObject::OpenOrMake(path, 1, [](void*) {});
  const auto lock = static_cast<SegmentHeader*>(raw.Value()->Memory())->mutex.Lock(kHangGuard);
  ChildProcess child([&] {
    auto own = FabricSegment::Open(spec);
    const auto attachment = own.Value()->Attach(kDevice, Polling::kSpin);
    _exit(attachment.Message().find("has held its lock for 20 ms") == std::string::npos ? 1 : 0);
  });
  BOOST_TEST(child.Succeeded());
}

BOOST_AUTO_TEST_CASE(ProcessesKilledAnywhereLeaveAFabricThatWorks) {
  std::mt19937_64 random(TestSeed());
  for (int round = 0; round < 20; ++round) {
    ChildProcess left([&] {
      for (;;) CanAttach(Open().get());
    });
    ChildProcess right([&] {
      for (;;) CanAttach(Open().get());
    });
    for (uint64_t i = random() % 50; i > 0; --i) BOOST_REQUIRE(CanAttach(Open().get()));
    BOOST_REQUIRE(!left.HasEnded());
    left.Kill();
    for (uint64_t i = random() % 50; i > 0; --i) BOOST_REQUIRE(CanAttach(Open().get()));
    BOOST_REQUIRE(!right.HasEnded());
    right.Kill();
    Open().reset();
    BOOST_REQUIRE(!IsThere());
  }
}

BOOST_AUTO_TEST_CASE(ChildOfForkDetachesNothing) {
  auto fabric = Open();
  BOOST_REQUIRE(CanAttach(fabric.get()));
  ChildProcess child([&] { fabric.reset(); });
  BOOST_TEST(child.Succeeded());
  BOOST_TEST(fabric->Route(Link::kInfiniband, AddressOf(kDevice), FirstQpn(1)).has_value());
}

BOOST_AUTO_TEST_CASE(SenderFindsOutThatAReceiverWasKilled) {
  auto fabric = Open();
  BOOST_REQUIRE(fabric);
  auto port = SegmentPort::Attach(*fabric, kDevice, Polling::kSpin);
  BOOST_REQUIRE(port.Ok());
  ChildProcess child([&] {
    auto own = Open();
    if (CanAttach(own.get())) Die();
  });
  BOOST_TEST(child.WasKilled());
  Packet packet = NumberedPacket(FirstQpn(2), 1, 8);
  const auto guard = std::chrono::steady_clock::now() + kHangGuard;
  while (port.Value()->Counters().no_route == 0) {
    BOOST_REQUIRE(std::chrono::steady_clock::now() < guard);
    port.Value()->Send(AddressOf(kDevice), packet);
  }
  BOOST_TEST(port.Value()->Counters().receiver_full > 0u);
}

BOOST_AUTO_TEST_CASE(KilledSendersAreReplacedWithoutALossOfTheirSuccessors) {
  auto fabric = Open();
  BOOST_REQUIRE(fabric);
  auto port = SegmentPort::Attach(*fabric, kDevice, Polling::kSpin);
  BOOST_REQUIRE(port.Ok());
  for (int round = 0; round < 20; ++round) {
    ChildProcess child([&] {
      auto own = Open();
      auto sender = SegmentPort::Attach(*own, InfinibandDevice(8), Polling::kSpin);
      for (uint64_t i = 1;; ++i) {
        sender.Value()->Send(AddressOf(kDevice), NumberedPacket(FirstQpn(1), i, i * 37 % 4097));
      }
    });
    Arrival arrival;
    const auto guard = std::chrono::steady_clock::now() + kHangGuard;
    for (int received = 0; received < 200;) {
      BOOST_REQUIRE(std::chrono::steady_clock::now() < guard);
      if (!port.Value()->Poll(arrival)) continue;
      ++received;
      BOOST_REQUIRE(IsNumbered(arrival.packet));
      BOOST_REQUIRE((arrival.source == AddressOf(InfinibandDevice(8))));
    }
    BOOST_REQUIRE(!child.HasEnded());
    child.Kill();
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace ringpost

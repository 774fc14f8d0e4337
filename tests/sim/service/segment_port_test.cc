#include "sim/service/segment_port.h"

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <thread>
#include <vector>

#include "tests/sim/service/fabric_fixture.h"
#include "tests/sim/service/numbered_packet.h"

namespace ringpost {
namespace {

using sim::service::AddressOf;
using sim::service::Arrival;
using sim::service::DeviceInfo;
using sim::service::FabricSegment;
using sim::service::FirstQpn;
using sim::service::Polling;
using sim::service::PortCounters;
using sim::service::SegmentPort;
using sim::wire::Packet;

struct Machine {
  std::unique_ptr<FabricSegment> fabric = std::move(FabricSegment::InProcess(1024).Value());

  std::unique_ptr<SegmentPort> Attach(const DeviceInfo& device, Polling polling) {
    auto port = SegmentPort::Attach(*fabric, device, polling);
    BOOST_REQUIRE(port.Ok());
    return std::move(port.Value());
  }
};

BOOST_FIXTURE_TEST_SUITE(SegmentPortTest, Machine)

BOOST_AUTO_TEST_CASE(PacketArrivesWithTheAddressOfItsSender) {
  const auto left = Attach(InfinibandDevice(1), Polling::kSpin);
  const auto right = Attach(InfinibandDevice(2), Polling::kSpin);
  const Packet packet = NumberedPacket(FirstQpn(right->Slot()) + 5, 9, 100);
  BOOST_TEST(left->Send(AddressOf(InfinibandDevice(2)), packet));
  Arrival arrival;
  BOOST_TEST(right->Poll(arrival));
  BOOST_TEST((arrival.packet == packet));
  BOOST_TEST((arrival.source == AddressOf(InfinibandDevice(1))));
  BOOST_TEST(!right->Poll(arrival));
  BOOST_TEST(!left->Poll(arrival));
  BOOST_TEST(left->Counters().sent == 1u);
  BOOST_TEST(right->Counters().received == 1u);
}

BOOST_AUTO_TEST_CASE(PortSendsToItself) {
  const auto port = Attach(RoceDevice(1), Polling::kSpin);
  const Packet packet = NumberedPacket(FirstQpn(port->Slot()), 9, 100);
  BOOST_TEST(port->Send(AddressOf(RoceDevice(1)), packet));
  Arrival arrival;
  BOOST_TEST(port->Poll(arrival));
  BOOST_TEST((arrival.packet == packet));
}

BOOST_AUTO_TEST_CASE(PacketToNobodyIsCountedAndLost) {
  const auto left = Attach(InfinibandDevice(1), Polling::kSpin);
  auto right = Attach(InfinibandDevice(2), Polling::kSpin);
  const Packet packet = NumberedPacket(FirstQpn(right->Slot()), 9, 8);
  BOOST_TEST(!left->Send(AddressOf(InfinibandDevice(3)), packet));
  right.reset();
  BOOST_TEST(!left->Send(AddressOf(InfinibandDevice(2)), packet));
  BOOST_TEST(left->Counters().no_route == 2u);
  BOOST_TEST(left->Counters().sent == 0u);
}

BOOST_AUTO_TEST_CASE(NewOwnerOfASlotGetsNothingOfTheOldOne) {
  const auto left = Attach(InfinibandDevice(1), Polling::kSpin);
  auto right = Attach(InfinibandDevice(2), Polling::kSpin);
  BOOST_TEST(left->Send(AddressOf(InfinibandDevice(2)), NumberedPacket(FirstQpn(2), 9, 8)));
  right.reset();
  right = Attach(InfinibandDevice(2), Polling::kSpin);
  BOOST_TEST(right->Slot() == 2);
  Arrival arrival;
  BOOST_TEST(!right->Poll(arrival));
}

BOOST_AUTO_TEST_CASE(SlowReceiverLosesPacketsThatItsSendersCount) {
  const auto left = Attach(InfinibandDevice(1), Polling::kSpin);
  const auto right = Attach(InfinibandDevice(2), Polling::kSpin);
  for (uint64_t i = 0; i < 2'000; ++i) {
    left->Send(AddressOf(InfinibandDevice(2)), NumberedPacket(FirstQpn(2), i, 8));
  }
  const PortCounters counters = left->Counters();
  BOOST_TEST(counters.receiver_full > 0u);
  BOOST_TEST(counters.sent + counters.receiver_full == 2'000u);
  uint64_t received = 0;
  for (Arrival arrival; right->Poll(arrival);) ++received;
  BOOST_TEST(received == counters.sent);
}

// Two ports, each with a thread that answers what comes.
void PingPong(Machine& machine, Polling polling) {
  constexpr uint64_t kRounds = 5'000;
  const auto left = machine.Attach(RoceDevice(1), polling);
  const auto right = machine.Attach(RoceDevice(2), polling);
  const auto answer = [&](SegmentPort& port, uint8_t device, uint8_t slot) {
    Arrival arrival;
    for (uint64_t number = 0; number < kRounds;) {
      if (!port.Poll(arrival)) {
        if (polling == Polling::kSleep) port.Sleep(std::chrono::seconds(60));
        std::this_thread::yield();
        continue;
      }
      number = arrival.packet.remote_address;
      if (!IsNumbered(arrival.packet)) break;
      port.Send(AddressOf(RoceDevice(device)), NumberedPacket(FirstQpn(slot), number + 1, 8));
    }
  };
  std::thread thread([&] { answer(*right, 1, left->Slot()); });
  left->Send(AddressOf(RoceDevice(2)), NumberedPacket(FirstQpn(right->Slot()), 1, 8));
  answer(*left, 2, right->Slot());
  thread.join();
  BOOST_TEST(left->Counters().received + right->Counters().received >= kRounds);
}

BOOST_AUTO_TEST_CASE(ThreadsThatSpinAnswerEachOther) { PingPong(*this, Polling::kSpin); }
BOOST_AUTO_TEST_CASE(ThreadsThatSleepAnswerEachOther) { PingPong(*this, Polling::kSleep); }

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace ringpost

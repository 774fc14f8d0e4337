#include "sim/service/udp_port.h"

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/udp.hpp>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "sim/wire/codec.h"
#include "tests/seed.h"
#include "tests/sim/service/numbered_packet.h"
#include "tests/sim/wire/random_packet.h"

namespace ringpost {
namespace {

using boost::asio::ip::udp;
using sim::service::Address;
using sim::service::Arrival;
using sim::service::DeviceInfo;
using sim::service::FirstQpn;
using sim::service::PortCounters;
using sim::service::UdpPeer;
using sim::service::UdpPort;
using sim::wire::Gid;
using sim::wire::Link;
using sim::wire::MacAddress;
using sim::wire::Packet;

constexpr auto kHangGuard = std::chrono::seconds(30);
constexpr char kLoopback[] = "127.0.0.1";

Gid GidOf(uint8_t number) { return sim::wire::MappedGid(10, 0, 0, number); }
MacAddress MacOf(uint8_t number) { return {2, 0, 0, 0, 0, number}; }

std::unique_ptr<UdpPort> Open(uint8_t number) {
  const DeviceInfo device{"roce" + std::to_string(number), 0, GidOf(number), Link::kEthernet};
  auto port = UdpPort::Open({device, MacOf(number), kLoopback, 0});
  BOOST_REQUIRE(port.Ok());
  return std::move(port.Value());
}

UdpPeer Peer(uint8_t number, uint16_t port) {
  return {GidOf(number), MacOf(number), std::nullopt, kLoopback, port};
}

bool PollSoon(UdpPort& port, Arrival& arrival) {
  const auto guard = std::chrono::steady_clock::now() + kHangGuard;
  while (!port.Poll(arrival)) {
    if (std::chrono::steady_clock::now() > guard) return false;
    port.Sleep(std::chrono::milliseconds(100));
  }
  return true;
}

struct TwoPorts {
  std::unique_ptr<UdpPort> left = Open(1);
  std::unique_ptr<UdpPort> right = Open(2);
  Arrival arrival;

  TwoPorts() {
    BOOST_REQUIRE(left->AddPeer(Peer(2, right->Port())).Ok());
    BOOST_REQUIRE(right->AddPeer(Peer(1, left->Port())).Ok());
  }
};

// A peer of `right` that sends any bytes.
struct RawPeer : TwoPorts {
  boost::asio::io_context context;
  udp::socket socket{context, udp::endpoint(boost::asio::ip::make_address(kLoopback), 0)};
  udp::endpoint target{boost::asio::ip::make_address(kLoopback), right->Port()};

  RawPeer() { BOOST_REQUIRE(right->AddPeer(Peer(3, socket.local_endpoint().port())).Ok()); }

  void Send(const std::vector<uint8_t>& bytes) {
    boost::system::error_code ignored;
    socket.send_to(boost::asio::buffer(bytes), target, 0, ignored);
  }
  std::vector<uint8_t> Frame(const Packet& packet, uint8_t from, uint8_t to) const {
    const sim::wire::RoceAddressing addressing{.source_mac = MacOf(from),
                                               .target_mac = MacOf(to),
                                               .source = GidOf(from),
                                               .target = GidOf(to)};
    return sim::wire::Encode(packet, addressing);
  }
};

BOOST_FIXTURE_TEST_SUITE(UdpPortTest, TwoPorts)

BOOST_AUTO_TEST_CASE(PacketsOfEveryOpcodeArriveWithTheAddressOfTheirSender) {
  std::mt19937_64 random(TestSeed());
  for (const sim::wire::Opcode opcode : AllOpcodes()) {
    const Packet packet = RandomPacket(random, opcode, 4096);
    BOOST_REQUIRE(left->Send({.gid = GidOf(2)}, packet));
    BOOST_REQUIRE(PollSoon(*right, arrival));
    BOOST_TEST((arrival.packet == packet));
    BOOST_TEST((arrival.source == Address{.gid = GidOf(1)}));
  }
  BOOST_TEST(right->Counters().received == AllOpcodes().size());
}

BOOST_AUTO_TEST_CASE(PacketGoesToTheProcessThatOwnsTheQpn) {
  const auto third = Open(2);  // the same device, another process
  UdpPeer peer = Peer(2, third->Port());
  peer.slot = 9;
  BOOST_REQUIRE(left->AddPeer(peer).Ok());
  BOOST_REQUIRE(third->AddPeer(Peer(1, left->Port())).Ok());
  left->Send({.gid = GidOf(2)}, NumberedPacket(FirstQpn(9) + 1, 1, 8));
  left->Send({.gid = GidOf(2)}, NumberedPacket(FirstQpn(8) + 1, 2, 8));
  BOOST_TEST(PollSoon(*third, arrival));
  BOOST_TEST(arrival.packet.remote_address == 1u);
  BOOST_TEST(PollSoon(*right, arrival));
  BOOST_TEST(arrival.packet.remote_address == 2u);
}

BOOST_AUTO_TEST_CASE(PacketToAnUnknownAddressIsCountedAndLost) {
  BOOST_TEST(!left->Send({.gid = GidOf(77)}, NumberedPacket(1, 1, 8)));
  BOOST_TEST(left->Counters().no_route == 1u);
}

BOOST_AUTO_TEST_CASE(InfinibandDeviceIsRefusedInOneLine) {
  const auto port = UdpPort::Open({{"ib0", 1, GidOf(1), Link::kInfiniband}, {}, kLoopback, 0});
  BOOST_REQUIRE(!port.Ok());
  BOOST_TEST(port.Message() ==
             "ib0: between machines the link is Ethernet (RoCEv2), not InfiniBand");
}

BOOST_AUTO_TEST_CASE(WrongAddressesAreRefused) {
  BOOST_TEST(!UdpPort::Open({{"r", 0, GidOf(1), Link::kEthernet}, {}, "nowhere", 0}).Ok());
  const auto taken =
      UdpPort::Open({{"r", 0, GidOf(1), Link::kEthernet}, {}, kLoopback, left->Port()});
  BOOST_REQUIRE(!taken.Ok());
  BOOST_TEST(taken.Message().find("Address already in use") != std::string::npos);
  UdpPeer peer = Peer(3, 1);
  peer.gid[0] = 0xfd;
  BOOST_TEST(!left->AddPeer(peer).Ok());
}

BOOST_FIXTURE_TEST_CASE(FramesOfOthersAndToOthersAreCountedAndDropped, RawPeer) {
  const Packet packet = NumberedPacket(5, 1, 8);
  Send(Frame(packet, 3, 4));  // to another NIC
  Send(Frame(packet, 4, 2));  // of a NIC that is no peer
  Send(Frame(packet, 1, 2));  // of a peer, but not from where that peer is
  Send(Frame(packet, 3, 2));
  BOOST_TEST(PollSoon(*right, arrival));
  BOOST_TEST((arrival.source == Address{.gid = GidOf(3)}));
  BOOST_TEST(right->Counters().foreign_frames == 3u);
  BOOST_TEST(right->Counters().bad_frames == 0u);
}

// Who has 10.0.0.`target`? As NIC `from` asks.
std::vector<uint8_t> ArpRequestFor(uint8_t from, uint8_t target) {
  return {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2,  0, 0, 0,     0, from,  // Ethernet: to all, from
          0x08, 0x06, 0,    1,    0x08, 0,    6,  4, 0, 1,        // ARP, Ethernet, IPv4, request
          2,    0,    0,    0,    0,    from, 10, 0, 0, from,     // of whom
          0,    0,    0,    0,    0,    0,    10, 0, 0, target};  // for whom
}

BOOST_FIXTURE_TEST_CASE(APeerThatAsksForTheMacAddressIsAnswered, RawPeer) {
  Send(ArpRequestFor(3, 2));
  right->Sleep(kHangGuard);
  BOOST_TEST(!right->Poll(arrival));
  std::array<uint8_t, 64> reply{};
  boost::system::error_code none;
  socket.non_blocking(true);
  const size_t bytes = socket.receive(boost::asio::buffer(reply), 0, none);
  const std::vector<uint8_t> expected = {2, 0, 0, 0, 0, 3, 2,  0, 0, 0,
                                         0, 2,  // Ethernet: to the peer, from us
                                         8, 6, 0, 1, 8, 0, 6,  4, 0, 2,   // an answer
                                         2, 0, 0, 0, 0, 2, 10, 0, 0, 2,   // our addresses
                                         2, 0, 0, 0, 0, 3, 10, 0, 0, 3};  // the peer's
  BOOST_TEST(std::vector<uint8_t>(reply.begin(), reply.begin() + bytes) == expected,
             boost::test_tools::per_element());
  BOOST_TEST(right->Counters().arp_answers == 1u);
  BOOST_TEST(right->Counters().bad_frames == 0u);
}

BOOST_FIXTURE_TEST_CASE(QuestionsForOthersAndOfOthersStayUnanswered, RawPeer) {
  Send(ArpRequestFor(3, 4));  // for another NIC
  Send(ArpRequestFor(1, 2));  // of a peer, but not from where that peer is
  Send(ArpRequestFor(9, 2));  // of nobody known
  std::vector<uint8_t> answer = ArpRequestFor(3, 2);
  answer[21] = 2;
  Send(answer);
  std::vector<uint8_t> cut = ArpRequestFor(3, 2);
  cut.pop_back();
  Send(cut);
  const auto guard = std::chrono::steady_clock::now() + kHangGuard;
  while (right->Counters().bad_frames < 5 && std::chrono::steady_clock::now() < guard) {
    right->Poll(arrival);
  }
  BOOST_TEST(right->Counters().bad_frames == 5u);
  BOOST_TEST(right->Counters().arp_answers == 0u);
  BOOST_TEST(socket.available() == 0u);
}

void Mutate(std::mt19937_64& random, std::vector<uint8_t>& bytes) {
  for (uint64_t changes = 1 + random() % 4; changes > 0; --changes) {
    const uint64_t kind = random() % 8;
    if (kind == 0) {
      bytes.resize(random() % (bytes.size() + 1));
    } else if (kind == 1) {
      bytes.resize(bytes.size() + random() % 64, static_cast<uint8_t>(random()));
    } else if (kind == 2) {
      bytes.assign(random() % 128, static_cast<uint8_t>(random()));
    }
    if (!bytes.empty()) bytes[random() % bytes.size()] ^= static_cast<uint8_t>(1 + random() % 255);
  }
}

uint64_t MutatedFrames() {
  const char* text = std::getenv("RINGPOST_MUTATED_FRAMES");
  return text == nullptr ? 200'000 : std::strtoull(text, nullptr, 10);
}

// But for what no checksum covers, as routers may change it.
bool IsSame(const Packet& packet, const Packet& sent) {
  Packet seen = packet;
  seen.fecn = sent.fecn;
  seen.becn = sent.becn;
  return seen == sent;
}

BOOST_FIXTURE_TEST_CASE(HostileBytesAreCountedAndNothingElse, RawPeer) {
  std::mt19937_64 random(TestSeed());
  const auto opcodes = AllOpcodes();
  const uint64_t frames = MutatedFrames();
  uint64_t passed = 0;
  for (uint64_t sent = 0; sent < frames;) {
    Packet packet;
    // As many as the socket's buffer surely holds.
    const uint64_t batch = std::min<uint64_t>(32, frames - sent);
    packet = RandomPacket(random, opcodes[random() % opcodes.size()], 256);
    const std::vector<uint8_t> good = Frame(packet, 3, 2);
    for (uint64_t i = 0; i < batch; ++i, ++sent) {
      std::vector<uint8_t> bytes = good;
      Mutate(random, bytes);
      Send(bytes);
    }
    const auto seen = [&] {
      const PortCounters counters = right->Counters();
      return counters.received + counters.bad_frames + counters.foreign_frames;
    };
    const auto guard = std::chrono::steady_clock::now() + kHangGuard;
    while (seen() < sent) {
      BOOST_REQUIRE(std::chrono::steady_clock::now() < guard);
      if (!right->Poll(arrival)) continue;
      ++passed;
      BOOST_REQUIRE(IsSame(arrival.packet, packet));
    }
  }
  BOOST_TEST_MESSAGE(passed << " of " << frames << " changed only what no checksum covers");
  BOOST_TEST(right->Counters().bad_frames > frames / 2);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace ringpost

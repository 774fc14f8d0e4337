// A NIC over UDP: hostile frames touch nothing but what their keys allow.
#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/udp.hpp>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <random>
#include <vector>

#include "sim/nic/bring_up.h"
#include "sim/nic/protection.h"
#include "sim/service/nic_loop.h"
#include "sim/service/udp_port.h"
#include "sim/wire/codec.h"
#include "tests/seed.h"
#include "tests/sim/wire/random_packet.h"

namespace ringpost {
namespace {

using boost::asio::ip::udp;
using sim::service::NicLoop;
using sim::service::UdpPort;
using sim::wire::Gid;
using sim::wire::MacAddress;
using sim::wire::Packet;

constexpr char kLoopback[] = "127.0.0.1";
constexpr uint64_t kPart = 4096;

Gid GidOf(uint8_t number) { return sim::wire::MappedGid(10, 0, 0, number); }
MacAddress MacOf(uint8_t number) { return {2, 0, 0, 0, 0, number}; }

uint64_t Frames() {
  const char* wanted = std::getenv("RINGPOST_HOSTILE_FRAMES");
  return wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 50'000;
}

// A NIC with QPs connected to a peer that is this test: its socket sends what it likes.
struct Victim {
  std::mt19937_64 random{TestSeed()};
  boost::asio::io_context context;
  udp::socket socket{context, udp::endpoint(boost::asio::ip::make_address(kLoopback), 0)};
  UdpPort* port = nullptr;
  std::unique_ptr<NicLoop> nic;
  udp::endpoint target;
  // Three parts: no key, all rights, remote reads alone; then what QPs need.
  alignas(4096) uint8_t memory[3 * kPart];
  alignas(4096) uint8_t page[4096] = {};
  alignas(4096) uint8_t rings[8 * 1024] = {};
  uint32_t open_key = 0, read_key = 0;
  std::vector<uint32_t> qpns;

  Victim() {
    std::fill(std::begin(memory), std::end(memory), uint8_t{0x5a});
    auto opened = UdpPort::Open(
        {{"victim", 0, GidOf(2), sim::wire::Link::kEthernet}, MacOf(2), kLoopback, 0});
    BOOST_REQUIRE(opened.Ok());
    port = opened.Value().get();
    target = udp::endpoint(boost::asio::ip::make_address(kLoopback), port->Port());
    BOOST_REQUIRE(
        port->AddPeer({GidOf(1), MacOf(1), std::nullopt, kLoopback, socket.local_endpoint().port()})
            .Ok());
    nic = std::make_unique<NicLoop>(sim::RnicConfig{.slot = 1}, std::move(opened.Value()));
    nic->Memory().Allow(At(memory), sizeof(memory));
    nic->Memory().Allow(At(page), sizeof(page));
    nic->Memory().Allow(At(rings), sizeof(rings));
    sim::Protection& keys = nic->Function().Keys();
    const uint32_t pd = keys.AllocatePd();
    const auto all = sim::kAllRights;
    open_key = keys.Register({At(memory) + kPart, At(memory) + kPart, kPart, pd, all});
    read_key = keys.Register(
        {At(memory) + 2 * kPart, At(memory) + 2 * kPart, kPart, pd, sim::kMayReadRemotely});
    for (uint32_t i = 0; i < 4; ++i) AddQp(pd, i);
  }

  static uint64_t At(const void* object) { return reinterpret_cast<uint64_t>(object); }

  void AddQp(uint32_t pd, uint32_t i) {
    const sim::Created cq = nic->Function().CreateCq({At(rings) + 4096 + 64 * i, 1, 0, true, true});
    sim::RnicQpConfig config;
    config.pd = pd;
    config.send_cq = config.receive_cq = cq.number;
    config.sq = At(rings) + 512 * i;
    config.sq_wqebbs = 8;
    config.record = At(rings) + 6144 + 64 * i;
    const sim::Created qp = nic->CreateQp(config, At(page));
    BOOST_REQUIRE(qp.Ok());
    qpns.push_back(qp.number);
    BringUp(qp.number);
  }

  void BringUp(uint32_t qpn) {
    sim::Address peer{.global = true};
    peer.gid = GidOf(1);
    const std::string refusal = sim::BringUp(sim::UsualAttributes(peer, 0x10040, {.mtu = 1024}),
                                             [&](const sim::QpAttributes& wanted, uint32_t mask) {
                                               return nic->ModifyQp(qpn, wanted, mask);
                                             });
    BOOST_REQUIRE_MESSAGE(refusal.empty(), refusal);
  }

  // Mostly near to what a QP expects, so that it gets far.
  Packet AnyPacket() {
    const auto opcodes = AllOpcodes();
    Packet packet = RandomPacket(random, opcodes[random() % opcodes.size()], 1024);
    packet.dest_qpn = qpns[random() % qpns.size()] + (random() % 16 == 0 ? 8 : 0);
    const sim::QpContext* qp = nic->Function().FindQp(packet.dest_qpn);
    if (qp != nullptr && random() % 4 != 0) packet.psn = qp->responder.expected;
    const uint64_t part = random() % 3;
    packet.remote_address = At(memory) + part * kPart + random() % kPart;
    packet.remote_key = random() % 2 == 0 ? open_key : read_key;
    if (random() % 8 == 0) packet.remote_address = random();
    if (random() % 8 == 0) packet.remote_key = static_cast<uint32_t>(random());
    return packet;
  }

  void Send(const std::vector<uint8_t>& bytes) {
    boost::system::error_code ignored;
    socket.send_to(boost::asio::buffer(bytes), target, 0, ignored);
  }
  void TakeAll(uint64_t sent) {
    const auto guard = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    const auto seen = [&] {
      const auto counters = port->Counters();
      return counters.received + counters.bad_frames + counters.foreign_frames;
    };
    while (seen() < sent) {
      const auto now = std::chrono::steady_clock::now();
      BOOST_REQUIRE(now < guard);
      nic->Turn(now);
    }
  }
};

BOOST_FIXTURE_TEST_CASE(HostileFramesPlaceNothingOutsideWhatTheirKeysAllow, Victim) {
  const uint64_t frames = Frames();
  const sim::wire::RoceAddressing addressing{
      .source_mac = MacOf(1), .target_mac = MacOf(2), .source = GidOf(1), .target = GidOf(2)};
  constexpr uint64_t kBatch = 32;  // as many as the socket's buffer surely holds
  uint64_t restarts = 0;
  for (uint64_t sent = 0; sent < frames; sent += kBatch) {
    for (uint64_t i = 0; i < kBatch; ++i) {
      std::vector<uint8_t> bytes = sim::wire::Encode(AnyPacket(), addressing);
      // Half of them with good checksums, as a hostile peer would send them.
      if (random() % 2 == 0) bytes[random() % bytes.size()] ^= uint8_t(1 + random() % 255);
      if (random() % 16 == 0) bytes.resize(random() % (bytes.size() + 1));
      Send(bytes);
    }
    TakeAll(sent + kBatch);
    for (const uint32_t qpn : qpns) {
      const sim::QpContext* qp = nic->Function().FindQp(qpn);
      if (qp->state == sim::State::kReadyToSend) continue;
      ++restarts;
      sim::QpAttributes reset;
      reset.state = sim::State::kReset;
      BOOST_REQUIRE(nic->ModifyQp(qpn, reset, sim::kAttrState).empty());
      BringUp(qpn);
    }
  }
  const auto untouched = [&](uint64_t part) {
    return std::all_of(memory + part * kPart, memory + (part + 1) * kPart,
                       [](uint8_t byte) { return byte == 0x5a; });
  };
  BOOST_TEST(untouched(0));
  BOOST_TEST(!untouched(1));  // else nothing came that far
  BOOST_TEST(untouched(2));
  BOOST_TEST(nic->Memory().Refused() == 0u);
  BOOST_TEST(nic->Function().Count().packets_received > frames / 8);
  BOOST_TEST_MESSAGE(frames << " frames, " << nic->Function().Count().packets_received
                            << " packets with good checksums, " << restarts << " QPs restarted");
}

}  // namespace
}  // namespace ringpost

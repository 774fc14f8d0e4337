// Mailboxes, byte by byte: the expected dwords are worked out by hand from the manual's tables, not
// from the fields under test.
#include <boost/test/unit_test.hpp>
#include <map>

#include "backends/mlx5/prm_contexts.h"
#include "backends/mlx5/queue_commands.h"

namespace ringpost::mlx5 {
namespace {

// All dwords of a mailbox that are not 0, by byte.
std::map<uint32_t, uint32_t> Dwords(const std::vector<uint8_t>& mailbox) {
  std::map<uint32_t, uint32_t> dwords;
  for (uint32_t at = 0; at < mailbox.size(); at += 4) {
    const uint32_t value = uint32_t{mailbox[at]} << 24 | uint32_t{mailbox[at + 1]} << 16 |
                           uint32_t{mailbox[at + 2]} << 8 | mailbox[at + 3];
    if (value != 0) dwords[at] = value;
  }
  return dwords;
}

void Expect(const std::vector<uint8_t>& mailbox, std::map<uint32_t, uint32_t> expected) {
  std::map<uint32_t, uint32_t> found = Dwords(mailbox);
  BOOST_TEST(mailbox.size() == 272u);
  for (const auto& [at, value] : expected) {
    BOOST_TEST(found[at] == value,
               "byte " << std::hex << at << ": " << found[at] << ", expected " << value);
    found.erase(at);
  }
  for (const auto& [at, value] : found) BOOST_ERROR("byte " << at << " should be 0: " << value);
}

DeviceFacts Facts(Link link) {
  DeviceFacts facts;
  facts.port = 2;
  facts.gid_index = 3;
  facts.gid_kind = link == Link::kEthernet ? GidKind::kRoceV2 : GidKind::kInfiniband;
  facts.pkey_index = 7;
  facts.log_initiator_depth = 4;
  facts.log_responder_depth = 4;
  return facts;
}

BOOST_AUTO_TEST_CASE(ACqIsCollapsedAndIgnoresOverruns) {
  CqPlan plan;
  plan.ring = {0x11, 0x123000};
  plan.record = {0x22, 0x40};
  plan.entries = 1;
  plan.collapsed = true;
  plan.uar_page = 0x333;
  plan.eqn = 5;
  Expect(CreateCqCommand(plan), {{0x00, 0x04000000},
                                 {0x10, 1u << 25 | 1u << 20 | 1u << 17},
                                 {0x14, 0x22},
                                 {0x1c, 0x333},
                                 {0x24, 5},
                                 {0x4c, 0x40},
                                 {0x54, 0x123000},
                                 {0x58, 0x11},
                                 {0x5c, 1u << 31}});
  plan.entries = 64;
  plan.collapsed = false;
  const auto dwords = Dwords(CreateCqCommand(plan));
  BOOST_TEST(dwords.at(0x10) == (1u << 25 | 1u << 17));
  BOOST_TEST(dwords.at(0x1c) == (6u << 24 | 0x333));
}

QpPlan Plan(TransportKind kind, uint32_t receives) {
  QpPlan plan;
  plan.kind = kind;
  plan.ring = {0x11, 0x1'0000'2000};
  plan.record = {0x22, 0x3000};
  plan.send_wqebbs = 1024;
  plan.receives = receives;
  plan.send_cq = 0x44;
  plan.receive_cq = 0x55;
  plan.pd = 0x66;
  plan.uar_page = 0x77;
  return plan;
}

BOOST_AUTO_TEST_CASE(AnRcQpHasItsQueuesAndItsRecordInUmems) {
  const std::map<uint32_t, uint32_t> common = {
      {0x00, 0x05000000},      {0x1c, 0x66},        {0x24, 0x77},
      {0x18 + 0x7c, 0x44},     {0x18 + 0x9c, 0x55}, {0x18 + 0xa4, 0x3000},
      {0x18 + 0xd0, 1u << 28}, {0x18 + 0xe4, 0x22}, {0x100, 1},
      {0x104, 0x2000},         {0x108, 0x11},       {0x10c, 1u << 31}};
  std::map<uint32_t, uint32_t> sends = common;
  sends[0x18] = 3u << 11;
  sends[0x20] = 10u << 11;
  sends[0x18 + 0xac] = 3u << 24;  // no receive queue
  Expect(CreateQpCommand(Plan(TransportKind::kRc, 0)), sends);
  std::map<uint32_t, uint32_t> receives = common;
  receives[0x18] = 3u << 11;
  receives[0x20] = 5u << 19 | 10u << 11;
  Expect(CreateQpCommand(Plan(TransportKind::kRc, 32)), receives);
  std::map<uint32_t, uint32_t> dci = sends;
  dci[0x18] = 5u << 16 | 3u << 11;
  Expect(CreateQpCommand(Plan(TransportKind::kDc, 0)), dci);
}

BringUpPlan BringUp(Link link, TransportKind kind) {
  BringUpPlan plan;
  plan.kind = kind;
  plan.qpn = 0xabc;
  plan.peer_qpn = 0xdef;
  plan.path = {link, 3, link == Link::kEthernet, 0x121, {}};
  for (uint8_t i = 0; i < 16; ++i) plan.path.gid[i] = static_cast<uint8_t>(0xa0 + i);
  if (link == Link::kEthernet) plan.mac = {1, 2, 3, 4, 5, 6};
  return plan;
}

constexpr uint32_t kAds = 0x18 + 0x18;
constexpr uint32_t kRights = 1u << 15 | 1u << 14 | 1u << 13;

BOOST_AUTO_TEST_CASE(InitNamesPortPartitionAndRights) {
  Expect(InitCommand(Facts(Link::kInfiniband), BringUp(Link::kInfiniband, TransportKind::kRc)),
         {{0x00, 0x05020000},
          {0x08, 0xabc},
          {0x18, 3u << 11},
          {kAds, 7},
          {kAds + 0x24, 2u << 16},
          {0x18 + 0x90, 3u << 16 | kRights}});
  Expect(InitCommand(Facts(Link::kInfiniband), BringUp(Link::kInfiniband, TransportKind::kDc)),
         {{0x00, 0x05020000}, {0x08, 0xabc}, {0x18, 3u << 11}, {kAds, 7}, {kAds + 0x24, 2u << 16}});
}

BOOST_AUTO_TEST_CASE(OnInfinibandThePathIsALid) {
  Expect(ReceiveCommand(Facts(Link::kInfiniband), BringUp(Link::kInfiniband, TransportKind::kRc)),
         {{0x00, 0x05030000},
          {0x08, 0xabc},
          {0x18 + 0x08, 3u << 29 | 30u << 24},
          {0x18 + 0x14, 0xdef},
          {kAds, 7},
          {kAds + 0x04, 0x121},
          {kAds + 0x24, 2u << 16},
          {0x18 + 0x90, 4u << 21 | 3u << 16 | kRights},
          {0x18 + 0x94, 12u << 24}});
}

BOOST_AUTO_TEST_CASE(OnEthernetThePathIsAMacAGidAndAUdpPort) {
  const BringUpPlan plan = BringUp(Link::kEthernet, TransportKind::kRc);
  const uint16_t port = UdpSourcePort(plan.qpn, plan.peer_qpn);
  BOOST_TEST(port >= 0xc000);
  Expect(ReceiveCommand(Facts(Link::kEthernet), plan),
         {{0x00, 0x05030000},
          {0x08, 0xabc},
          {0x18 + 0x08, 3u << 29 | 30u << 24},
          {0x18 + 0x14, 0xdef},
          {kAds, 7},
          {kAds + 0x08, 3u << 16 | 64},
          {kAds + 0x10, 0xa0a1a2a3},
          {kAds + 0x14, 0xa4a5a6a7},
          {kAds + 0x18, 0xa8a9aaab},
          {kAds + 0x1c, 0xacadaeaf},
          {kAds + 0x20, port},
          {kAds + 0x24, 2u << 16 | 0x0102},
          {kAds + 0x28, 0x03040506},
          {0x18 + 0x90, 4u << 21 | 3u << 16 | kRights},
          {0x18 + 0x94, 12u << 24}});
}

BOOST_AUTO_TEST_CASE(AGlobalHeaderOnInfinibandNamesBothLidAndGid) {
  BringUpPlan plan = BringUp(Link::kInfiniband, TransportKind::kRc);
  plan.path.global = true;
  const auto dwords = Dwords(ReceiveCommand(Facts(Link::kInfiniband), plan));
  BOOST_TEST(dwords.at(kAds + 0x04) == (1u << 23 | 0x121));
  BOOST_TEST(dwords.at(kAds + 0x08) == (3u << 16 | 64));
  BOOST_TEST(dwords.at(kAds + 0x1c) == 0xacadaeafu);
}

BOOST_AUTO_TEST_CASE(ADciTakesItsPathFromItsWqes) {
  Expect(ReceiveCommand(Facts(Link::kInfiniband), BringUp(Link::kInfiniband, TransportKind::kDc)),
         {{0x00, 0x05030000},
          {0x08, 0xabc},
          {0x18 + 0x08, 3u << 29 | 30u << 24},
          {kAds, 7},
          {kAds + 0x24, 2u << 16}});
}

BOOST_AUTO_TEST_CASE(SendingBeginsWithTimersAndDepth) {
  Expect(SendCommand(Facts(Link::kInfiniband), BringUp(Link::kInfiniband, TransportKind::kRc)),
         {{0x00, 0x05040000},
          {0x08, 0xabc},
          {0x18 + 0x70, 4u << 21 | 7u << 16 | 7u << 13},
          {kAds + 0x08, 14u << 27}});
}

BOOST_AUTO_TEST_CASE(FlowsOfQpsSpreadOverUdpPorts) {
  std::map<uint16_t, int> ports;
  for (uint32_t qpn = 0; qpn < 1000; ++qpn) ++ports[UdpSourcePort(0x100 + qpn, 0x100 + qpn)];
  BOOST_TEST(ports.size() > 900u);
}

BOOST_AUTO_TEST_CASE(CapabilitiesAreReadWhereTheManualHasThem) {
  std::vector<uint8_t> area(0x100);
  area[0x11] = 15;    // log_max_qp_sz
  area[0x3f] = 0x01;  // cqe_version
  area[0x40] = 0x80;  // compact_address_vector
  area[0x52] = 0x04;  // max_wqe_sz_sq 1024
  BOOST_TEST(prm::Get(area, prm::cap::kLogMaxQpSize) == 15u);
  BOOST_TEST(prm::Get(area, prm::cap::kCqeVersion) == 1u);
  BOOST_TEST(prm::Get(area, prm::cap::kCompactAddressVector) == 1u);
  BOOST_TEST(prm::Get(area, prm::cap::kMaxSendWqeBytes) == 1024u);
  area[0x08] = 0x40;
  BOOST_TEST(prm::Get(area, prm::atomic_cap::kReturnsHostOrder) == 1u);
}

BOOST_AUTO_TEST_CASE(AFieldIsReadAsItWasWrittenAndLeavesItsNeighboursAlone) {
  for (const prm::Field field :
       {prm::Field{4, 0, 32}, {4, 7, 3}, {8, 31, 1}, {8, 0, 24}, {0, 0, 64}}) {
    std::vector<uint8_t> bytes(16, 0xff);
    prm::Set(bytes, field, 0);
    BOOST_TEST(prm::Get(bytes, field) == 0u);
    uint32_t cleared = 0;
    for (const uint8_t byte : bytes) cleared += static_cast<uint32_t>(8 - __builtin_popcount(byte));
    BOOST_TEST(cleared == field.width);
    const uint64_t value =
        field.width == 64 ? 0x1122334455667788 : 0x55555555 & prm::MaskOf(field.width);
    prm::Set(bytes, field, value);
    BOOST_TEST(prm::Get(bytes, field) == value);
  }
}

}  // namespace
}  // namespace ringpost::mlx5

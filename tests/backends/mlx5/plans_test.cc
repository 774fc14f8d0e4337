// What a NIC decides before it touches a device: which port, which GID, what both ends agree on,
// and what a failing call comes to.
#include <boost/test/unit_test.hpp>
#include <cerrno>

#include "backends/mlx5/device_choice.h"
#include "backends/mlx5/failure.h"
#include "backends/mlx5/port_address.h"

namespace ringpost::mlx5 {
namespace {

// A NIC with its distribution's name, a renamed one, one of another vendor, one without a link.
const std::vector<FoundDevice> kHost = {{"mlx5_0", true, "", {{1, true, "active"}}},
                                        {"roce_rail1", true, "", {{1, true, "active"}}},
                                        {"erdma_0", false, "", {}},
                                        {"mlx5_bond_0", true, "", {{1, false, "down"}}}};

std::string Chosen(const std::vector<std::string>& wanted) {
  const auto choices = ChoosePorts(kHost, wanted);
  if (!choices.Ok()) return choices.Message();
  std::string text;
  for (const Choice& choice : choices.Value()) {
    text +=
        (text.empty() ? "" : " ") + kHost[choice.device].name + ":" + std::to_string(choice.port);
  }
  return text;
}

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// O-28: a NIC whose name begins otherwise is skipped. Here the driver decides, or a list of names,
// and what was found is said when nothing fits.
BOOST_AUTO_TEST_CASE(APortIsChosenByItsDriverAndNotByItsName) {
  BOOST_TEST(Chosen({}) == "mlx5_0:1 roce_rail1:1");
  BOOST_TEST(Chosen({"roce_rail1:1"}) == "roce_rail1:1");
  BOOST_TEST(Chosen({"^mlx5_0"}) == "roce_rail1:1");
  BOOST_TEST(Chosen({"roce_rail1", "mlx5_0:1"}) == "roce_rail1:1 mlx5_0:1");
}

BOOST_AUTO_TEST_CASE(WhenNoPortFitsOneLineSaysWhatWasFoundAndWhyEachWasSkipped) {
  BOOST_TEST(
      Chosen({"mlx5_7:1"}) ==
      "no port fits with mlx5.devices [mlx5_7:1]: mlx5_0 port 1 is not in mlx5.devices, "
      "roce_rail1 port 1 is not in mlx5.devices, erdma_0 is not of the mlx5 driver, "
      "mlx5_bond_0 port 1 is not in mlx5.devices; name an active mlx5 port, or bring one up");
  BOOST_TEST(Contains(Chosen({"mlx5_bond_0"}), "mlx5_bond_0 port 1 is down"));
  BOOST_TEST(Contains(Chosen({"mlx5_0:2"}), "mlx5_0 port 1 is not in mlx5.devices"));
  BOOST_TEST(Contains(Chosen({"^mlx5_0", "^roce_rail1:1"}),
                      "roce_rail1 port 1 is excluded by mlx5.devices"));
  BOOST_TEST(Contains(ChoosePorts({}, {}).Message(), "no RDMA device is here"));
  const auto closed = ChoosePorts({{"mlx5_0", true, "ibv_open_device: denied", {}}}, {});
  BOOST_TEST(Contains(closed.Message(), "mlx5_0: ibv_open_device: denied"));
}

Gid GidOf(std::initializer_list<uint8_t> first, uint8_t last) {
  Gid gid = {};
  std::copy(first.begin(), first.end(), gid.begin());
  gid[15] = last;
  return gid;
}

std::vector<GidEntry> Ipv6Table() {
  const Gid local = GidOf({0xfe, 0x80}, 1), routable = GidOf({0xfd, 0x93}, 1);
  return {{0, GidKind::kRoceV1, local},
          {1, GidKind::kRoceV2, local},
          {2, GidKind::kRoceV1, routable},
          {3, GidKind::kRoceV2, routable}};
}

// O-27, for one table after the other.
BOOST_AUTO_TEST_CASE(OnEthernetARoutableRoceV2GidIsChosen) {
  std::vector<GidEntry> table = Ipv6Table();
  BOOST_TEST(ChooseGid(table, Link::kEthernet, {}).Value().index == 3u);
  Gid mapped = {};
  mapped[10] = mapped[11] = 0xff;
  mapped[12] = 10;
  table.push_back({5, GidKind::kRoceV2, mapped});
  BOOST_TEST(ChooseGid(table, Link::kEthernet, {}).Value().index == 5u);
  table.resize(2);
  BOOST_TEST(ChooseGid(table, Link::kEthernet, {}).Value().index == 1u);
  table.resize(1);
  BOOST_TEST(Contains(ChooseGid(table, Link::kEthernet, {}).Message(), "no GID is of RoCE v2"));
}

BOOST_AUTO_TEST_CASE(AWantedGidIndexIsTakenOrAnsweredWithTheTable) {
  BOOST_TEST(ChooseGid(Ipv6Table(), Link::kEthernet, 0).Value().index == 0u);
  const std::string refusal = ChooseGid(Ipv6Table(), Link::kEthernet, 9).Message();
  BOOST_TEST(refusal ==
             "there is no GID at mlx5.gid_index 9; the table has "
             "0 fe80:0000:0000:0000:0000:0000:0000:0001 RoCE v1, "
             "1 fe80:0000:0000:0000:0000:0000:0000:0001 RoCE v2, "
             "2 fd93:0000:0000:0000:0000:0000:0000:0001 RoCE v1, "
             "3 fd93:0000:0000:0000:0000:0000:0000:0001 RoCE v2");
}

PortAddress Port(Link link, uint8_t mtu, uint16_t lid) {
  PortAddress port;
  port.link = link;
  port.mtu = mtu;
  port.lid = lid;
  port.pkey = 0xffff;
  port.gid = GidOf({0xfe, 0x80}, static_cast<uint8_t>(lid + 1));
  return port;
}

BOOST_AUTO_TEST_CASE(AnAddressSurvivesItsJourney) {
  PortAddress sent = Port(Link::kEthernet, 5, 0x120);
  sent.needs_grh = true;
  sent.pkey = 0x8123;
  const std::optional<PortAddress> got = Unpack(Pack(sent));
  BOOST_TEST_REQUIRE(got.has_value());
  BOOST_TEST((got->link == sent.link && got->mtu == 5 && got->needs_grh && got->lid == 0x120 &&
              got->pkey == 0x8123 && got->gid == sent.gid));
  BOOST_TEST(!Unpack({}).has_value());
  auto damaged = Pack(sent);
  damaged[2] = 9;
  BOOST_TEST(!Unpack(damaged).has_value());
}

BOOST_AUTO_TEST_CASE(BothEndsTakeTheSmallerMtu) {
  const PortAddress a = Port(Link::kInfiniband, 5, 0x120), b = Port(Link::kInfiniband, 3, 0x121);
  const Path there = Agree("mlx5_0 port 1", a, b).Value();
  const Path back = Agree("mlx5_0 port 1", b, a).Value();
  BOOST_TEST(BytesOfMtu(there.mtu) == 1024u);
  BOOST_TEST(BytesOfMtu(back.mtu) == 1024u);
  BOOST_TEST(there.lid == 0x121);
  BOOST_TEST(!there.global);
}

BOOST_AUTO_TEST_CASE(AGlobalHeaderIsUsedWhereEitherEndOrTheLinkAsksForIt) {
  PortAddress a = Port(Link::kInfiniband, 5, 1), b = Port(Link::kInfiniband, 5, 2);
  b.needs_grh = true;
  BOOST_TEST(Agree("p", a, b).Value().global);
  a = Port(Link::kEthernet, 5, 0);
  b = Port(Link::kEthernet, 5, 0);
  BOOST_TEST(Agree("p", a, b).Value().global);
  b.gid = {};
  BOOST_TEST(Contains(Agree("p", a, b).Message(), "the peer has no GID"));
}

BOOST_AUTO_TEST_CASE(EndsThatCannotReachEachOtherAreRefusedInOneLine) {
  const PortAddress ib = Port(Link::kInfiniband, 5, 0x120);
  BOOST_TEST(Agree("mlx5_0 port 1", ib, Port(Link::kEthernet, 5, 0)).Message() ==
             "mlx5_0 port 1 (InfiniBand): the peer's port is Ethernet (RoCE); choose ports of one "
             "link layer in mlx5.devices");
  BOOST_TEST(Agree("mlx5_0 port 1", ib, Port(Link::kInfiniband, 5, 0)).Message() ==
             "mlx5_0 port 1 (InfiniBand): the peer says LID 0, which is no port's; is its subnet "
             "manager running?");
  BOOST_TEST(Contains(Agree("p", ib, {}).Message(), "use one backend on all ranks"));
  PortAddress other = Port(Link::kInfiniband, 5, 0x121);
  other.pkey = 0x8001;
  BOOST_TEST(Contains(Agree("p", ib, other).Message(), "partition key 0xffff"));
  // Limited members do not hear each other.
  PortAddress limited = ib;
  limited.pkey = other.pkey = 0x7fff;
  BOOST_TEST(Contains(Agree("p", limited, other).Message(), "partition key 0x7fff"));
}

BOOST_AUTO_TEST_CASE(AFailingCallIsOneLineWithObjectReasonAndRemedy) {
  BOOST_TEST(CallFailed("mlx5_0", "ibv_reg_mr of 4096 bytes at 0x1000", ENOMEM).message ==
             "mlx5_0: ibv_reg_mr of 4096 bytes at 0x1000: Cannot allocate memory (errno 12); raise "
             "the limit of locked memory: ulimit -l unlimited");
  BOOST_TEST(Contains(CallFailed("mlx5_0", "mlx5dv_open_device", -EOPNOTSUPP).message,
                      "mlx5.route: verbs"));
}

BOOST_AUTO_TEST_CASE(ACommandThatTheDeviceRefusesNamesItsStatusAndSyndrome) {
  const uint8_t answer[16] = {0x03, 0, 0, 0, 0x00, 0x71, 0x2a, 0x05};
  const std::string line =
      CommandFailed("mlx5_0 port 1", "CREATE_QP of 64 WQEBBs", EREMOTEIO, answer).message;
  BOOST_TEST(Contains(line,
                      "mlx5_0 port 1: CREATE_QP of 64 WQEBBs: the device says bad parameter "
                      "(status 0x03, syndrome 0x00712a05): Remote I/O error"));
  BOOST_TEST(line.find('\n') == std::string::npos);
  const uint8_t silent[16] = {};
  BOOST_TEST(CommandFailed("d", "CREATE_QP", EINVAL, silent).message ==
             CallFailed("d", "CREATE_QP", EINVAL).message);
}

}  // namespace
}  // namespace ringpost::mlx5

// How a NIC addresses its peers, over a stand-in for rdma-core: address handles, and which GID is
// its own.
#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstring>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "backends/mlx5/mlx5_nic.h"
#include "backends/mlx5/port_address.h"
#include "backends/mlx5/queue_pair.h"
#include "tests/backends/mlx5/fake_verbs.h"

namespace ringpost {
namespace {

using mlx5::Link;
namespace fake = mlx5::fake;

// O-24: an address handle with whatever its memory held is refused by the kernel, or leads astray.
// Here each field is set or zero, for every link and peer.
BOOST_AUTO_TEST_CASE(AnAddressHandleIsWholeWhateverItsMemoryHeld) {
  mlx5::DeviceFacts facts;
  facts.port = 2;
  facts.gid_index = 3;
  const auto handle_for = [&](const mlx5::Path& path) {
    alignas(ibv_ah_attr) std::array<uint8_t, sizeof(ibv_ah_attr)> bytes;
    bytes.fill(0xab);
    new (bytes.data()) ibv_ah_attr(mlx5::AddressHandle(facts, path));
    return bytes;
  };
  for (uint8_t peer = 0; peer < 64; ++peer) {
    mlx5::Path path;
    path.mtu = 5;
    path.lid = static_cast<uint16_t>(0x120 + peer);
    path.gid = {0xfd, 0x93};
    path.gid[15] = peer;
    std::array<uint8_t, sizeof(ibv_ah_attr)> golden = {};
    golden[offsetof(ibv_ah_attr, port_num)] = 2;
    std::memcpy(&golden[offsetof(ibv_ah_attr, dlid)], &path.lid, sizeof(path.lid));
    BOOST_TEST((handle_for(path) == golden));  // InfiniBand, in its subnet
    path.global = true;
    golden[offsetof(ibv_ah_attr, is_global)] = 1;
    std::copy(path.gid.begin(), path.gid.end(), golden.begin() + offsetof(ibv_ah_attr, grh.dgid));
    golden[offsetof(ibv_ah_attr, grh.sgid_index)] = 3;
    golden[offsetof(ibv_ah_attr, grh.hop_limit)] = 64;
    BOOST_TEST((handle_for(path) == golden));  // with a global header
    path.link = Link::kEthernet;
    golden[offsetof(ibv_ah_attr, dlid)] = golden[offsetof(ibv_ah_attr, dlid) + 1] = 0;
    BOOST_TEST((handle_for(path) == golden));
  }
}

// O-24: a DC address vector of the transport names a LID: where packets need a GID, there is no DC.
BOOST_AUTO_TEST_CASE(DcIsRefusedWherePacketsNeedAGlobalHeader) {
  const QpSpec rc = {.placement = Placement::kHost};
  QpSpec dc = rc;
  dc.kind = TransportKind::kDc;
  for (const auto& [ethernet, global] : {std::pair{true, false}, {false, true}}) {
    fake::World& world = fake::Reset();
    world.ethernet = ethernet;
    world.global_header = global;
    const std::string refusal = std::move(Mlx5Nic::Open({}).Value())->CreateQp(dc).Message();
    BOOST_TEST(refusal.find("use transport.kind: rc") != std::string::npos, refusal);
  }
  // A peer whose subnet asks for the header, though ours does not.
  fake::World& world = fake::Reset();
  const auto nic = std::move(Mlx5Nic::Open({}).Value());
  const QpAddress ours = nic->CreateQp(dc).Value();
  const QpAddress near = nic->CreateQp(dc).Value();
  world.global_header = true;
  const auto far = std::move(Mlx5Nic::Open({}).Value());
  QpAddress there = near;
  there.port = far->CreateQp(rc).Value().port;
  const std::string refusal = nic->Connect(ours, there).Message();
  BOOST_TEST(refusal.find("use transport.kind: rc") != std::string::npos, refusal);
  BOOST_TEST(nic->Connect(ours, near).Ok());
}

// O-27: a filter that knows IPv4 alone takes a GID that no router forwards, and everything ends in
// retries. Here the device's table decides: a routable one of RoCE v2, whatever its family.
BOOST_AUTO_TEST_CASE(ADeviceTakesARoutableGidAndSaysWhichOrWhatItsTableHas) {
  fake::World& world = fake::Reset();
  world.ethernet = true;
  const ibv_gid local = {{0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
  const ibv_gid routable = {{0xfd, 0x93, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
  world.v1 = {{0, local}, {2, routable}};
  world.v2 = {{1, local}, {3, routable}};
  const auto taken = [](std::optional<uint32_t> wanted) -> std::string {
    Mlx5NicOptions options;
    options.device.gid_index = wanted;
    const auto nic = Mlx5Nic::Open(options);
    if (!nic.Ok()) return nic.Message();
    for (const auto& [name, text] : nic.Value()->Facts()) {
      if (name == "nic_gid") return text;
    }
    return "";
  };
  BOOST_TEST(taken({}) == "fd93:0000:0000:0000:0000:0000:0000:0001 at index 3");
  BOOST_TEST(taken(1) == "fe80:0000:0000:0000:0000:0000:0000:0001 at index 1");
  world.v2[5] = {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 7}};
  BOOST_TEST(taken({}) == "0000:0000:0000:0000:0000:ffff:0a00:0007 at index 5");
  const std::string refusal = taken(9);
  BOOST_TEST(
      refusal.find("fake_0 port 1: there is no GID at mlx5.gid_index 9; the table has 0 fe80") == 0,
      refusal);
  for (const char* entry : {"1 fe80:", "2 fd93:", "3 fd93:", "5 0000:"}) {
    BOOST_TEST(refusal.find(entry) != std::string::npos, refusal);
  }
}

}  // namespace
}  // namespace ringpost

#include "sim/service/fabric_segment.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <fstream>
#include <set>
#include <vector>

#include "sim/service/shared_object.h"
#include "tests/sim/service/fabric_fixture.h"

namespace ringpost {
namespace {

using sim::service::Address;
using sim::service::AddressOf;
using sim::service::DeviceInfo;
using sim::service::FabricSegment;
using sim::service::FirstQpn;
using sim::service::kLayoutVersion;
using sim::service::Polling;
using sim::service::SegmentHeader;
using sim::service::SharedObject;
using sim::wire::Link;

std::string OpenError(const sim::service::FabricSpec& spec) {
  auto fabric = FabricSegment::Open(spec);
  return fabric.Ok() ? "" : fabric.Message();
}

std::string AttachError(FabricSegment& fabric, const DeviceInfo& device) {
  const auto attachment = fabric.Attach(device, Polling::kSpin);
  return attachment.Ok() ? "" : attachment.Message();
}

bool Has(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return text.find('\n') == std::string::npos;
  BOOST_TEST_MESSAGE(text);
  return false;
}

bool IsRoot() { return geteuid() == 0; }
boost::test_tools::assertion_result AsRoot(boost::unit_test::test_unit_id) { return IsRoot(); }

BOOST_FIXTURE_TEST_SUITE(FabricSegmentTest, NamedFabric)

BOOST_AUTO_TEST_CASE(FirstMakesItAndLastRemovesIt) {
  BOOST_TEST(!IsThere());
  auto first = Open();
  BOOST_REQUIRE(first);
  BOOST_TEST(IsThere());
  auto second = Open();
  BOOST_REQUIRE(second);
  BOOST_TEST(AttachError(*second, InfinibandDevice(1)) == "");
  first.reset();
  BOOST_TEST(IsThere());
  second.reset();
  BOOST_TEST(!IsThere());
}

BOOST_AUTO_TEST_CASE(EachAttachmentIsASlotOfItsOwn) {
  auto fabric = Open();
  BOOST_REQUIRE(fabric);
  std::set<int> slots;
  for (int i = 0; i < 255; ++i) {
    const auto attachment = fabric->Attach(InfinibandDevice(1 + i % 3), Polling::kSpin);
    BOOST_REQUIRE(attachment.Ok());
    BOOST_TEST(attachment.Value().device == i % 3);
    slots.insert(attachment.Value().producer.slot);
  }
  BOOST_TEST(slots.size() == 255u);
  BOOST_TEST(!slots.contains(0));
  BOOST_TEST(Has(AttachError(*fabric, InfinibandDevice(1)), "all 255 slots are taken"));
}

BOOST_AUTO_TEST_CASE(DevicesAreListedOnceWithTheirAddresses) {
  auto fabric = Open();
  auto other = Open();
  BOOST_REQUIRE(fabric && other);
  BOOST_TEST(AttachError(*fabric, InfinibandDevice(4)) == "");
  BOOST_TEST(AttachError(*other, RoceDevice(5)) == "");
  BOOST_TEST(AttachError(*other, InfinibandDevice(4)) == "");
  const std::vector<DeviceInfo> expected{InfinibandDevice(4), RoceDevice(5)};
  BOOST_TEST((fabric->Devices() == expected));
}

BOOST_AUTO_TEST_CASE(PacketsGoToTheSlotOfTheQpnIfTheAddressIsItsDevices) {
  auto fabric = Open();
  BOOST_REQUIRE(fabric);
  const auto ib = fabric->Attach(InfinibandDevice(4), Polling::kSpin);
  const auto roce = fabric->Attach(RoceDevice(5), Polling::kSpin);
  BOOST_REQUIRE(ib.Ok() && roce.Ok());
  const uint8_t slot = ib.Value().producer.slot;
  const uint32_t qpn = FirstQpn(slot) + 77;
  BOOST_TEST(fabric->Route(Link::kInfiniband, {.lid = 4}, qpn).value_or(0) == slot);
  const Address by_gid{.gid = InfinibandDevice(4).gid};
  BOOST_TEST(fabric->Route(Link::kInfiniband, by_gid, qpn).value_or(0) == slot);
  const uint32_t roce_qpn = FirstQpn(roce.Value().producer.slot);
  BOOST_TEST(fabric->Route(Link::kEthernet, AddressOf(RoceDevice(5)), roce_qpn).has_value());

  BOOST_TEST(!fabric->Route(Link::kInfiniband, {.lid = 5}, qpn));
  BOOST_TEST(!fabric->Route(Link::kEthernet, by_gid, qpn));
  BOOST_TEST(!fabric->Route(Link::kInfiniband, by_gid, roce_qpn));
  BOOST_TEST(!fabric->Route(Link::kInfiniband, {.lid = 4}, 1));
  fabric->Detach(ib.Value());
  BOOST_TEST(!fabric->Route(Link::kInfiniband, {.lid = 4}, qpn));
}

BOOST_AUTO_TEST_CASE(SlotGivenAgainHasAnotherGeneration) {
  auto fabric = Open();
  BOOST_REQUIRE(fabric);
  const auto first = fabric->Attach(InfinibandDevice(1), Polling::kSpin);
  BOOST_REQUIRE(first.Ok());
  BOOST_TEST(fabric->IsRunning(first.Value().producer));
  fabric->Detach(first.Value());
  const auto second = fabric->Attach(InfinibandDevice(1), Polling::kSpin);
  BOOST_REQUIRE(second.Ok());
  BOOST_TEST(second.Value().producer.slot == first.Value().producer.slot);
  BOOST_TEST(!(second.Value().producer == first.Value().producer));
  BOOST_TEST(!fabric->IsRunning(first.Value().producer));
  fabric->Detach(first.Value());  // too late, and without effect
  BOOST_TEST(fabric->Route(Link::kInfiniband, {.lid = 1}, FirstQpn(second.Value().producer.slot))
                 .has_value());
}

BOOST_AUTO_TEST_CASE(DeviceThatContradictsAnotherIsRefused) {
  auto fabric = Open();
  BOOST_REQUIRE(fabric);
  BOOST_TEST(AttachError(*fabric, InfinibandDevice(1)) == "");
  DeviceInfo device = InfinibandDevice(1);
  device.lid = 2;
  BOOST_TEST(Has(AttachError(*fabric, device), "device ib1 is there with another LID"));
  device = InfinibandDevice(2);
  device.lid = 1;
  BOOST_TEST(Has(AttachError(*fabric, device), "ib1 and ib2 have the same LID or GID"));
  BOOST_TEST(Has(AttachError(*fabric, InfinibandDevice(0)), "needs a LID"));
  device = RoceDevice(1);
  device.lid = 7;
  BOOST_TEST(Has(AttachError(*fabric, device), "on Ethernet has a LID"));
  device = RoceDevice(1);
  device.gid = {};
  BOOST_TEST(Has(AttachError(*fabric, device), "has no GID"));
  device.name = std::string(46, 'x');
  BOOST_TEST(Has(AttachError(*fabric, device), "1 to 45 characters"));
}

BOOST_AUTO_TEST_CASE(ProcessThatOpenedBeforeTheLastLeftMakesANewOne) {
  auto early = Open();
  BOOST_REQUIRE(early);
  Open().reset();  // nobody is attached: removed
  BOOST_TEST(!IsThere());
  BOOST_TEST(AttachError(*early, InfinibandDevice(1)) == "");
  BOOST_TEST(IsThere());
  auto late = Open();
  BOOST_REQUIRE(late);
  BOOST_TEST(late->Devices().size() == 1u);
}

BOOST_AUTO_TEST_CASE(OtherLayoutIsRefusedInOneLine) {
  auto fabric = Open();
  BOOST_REQUIRE(fabric);
  BOOST_TEST(AttachError(*fabric, InfinibandDevice(1)) == "");
  auto other_size = spec;
  other_size.ring_cells = 512;
  BOOST_TEST(Has(OpenError(other_size), "has rings of 256 cells"));
  auto raw = SharedObject::OpenOrMake(path, 1, [](void*) {});
  BOOST_REQUIRE(raw.Ok());
  auto& header = *static_cast<SegmentHeader*>(raw.Value()->Memory());
  header.version = kLayoutVersion + 1;
  BOOST_TEST(Has(OpenError(spec), "this program has layout"));
  header.version = kLayoutVersion;
  ++header.pid_namespace;
  BOOST_TEST(Has(OpenError(spec), "another container"));
  --header.pid_namespace;
}

BOOST_AUTO_TEST_CASE(ForeignFileIsRefusedAndLeftAlone) {
  std::ofstream(path) << "something else";
  BOOST_TEST(Has(OpenError(spec), "is no fabric of this program"));
  BOOST_TEST(IsThere());
  std::filesystem::remove(path);
}

BOOST_AUTO_TEST_CASE(SegmentOfAnotherUserIsRefused, *boost::unit_test::precondition(AsRoot)) {
  std::ofstream(path) << "x";
  if (chown(path.c_str(), 12345, 12345) == 0) {
    BOOST_TEST(Has(OpenError(spec), "belongs to user 12345, not to user 0"));
  }
  std::filesystem::remove(path);
}

BOOST_AUTO_TEST_CASE(NamesThatAreNoFileNamesAreRefused) {
  for (const char* name : {"a/b", "a b", "../x", "\n"}) {
    BOOST_TEST(Has(OpenError({.name = name, .ring_cells = 256}), "letters, digits"));
  }
  BOOST_TEST(Has(OpenError({.name = spec.name, .ring_cells = 300}), "power of two"));
}

BOOST_AUTO_TEST_CASE(TheDefaultNameIsOfOneUserOnAMachineOrInAContainer) {
  const std::string user = std::to_string(geteuid());
  BOOST_TEST(FabricSegment::NameOfUser(0xeffffffc) == user);
  BOOST_TEST(FabricSegment::NameOfUser(0) == user);  // nobody knows
  BOOST_TEST(FabricSegment::NameOfUser(4026532000) == user + "-4026532000");
  BOOST_TEST(FabricSegment::PathOf("") == "/dev/shm/ringpost-" + FabricSegment::NameOfUser());
  BOOST_TEST(FabricSegment::NameOfUser().starts_with(user));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace ringpost

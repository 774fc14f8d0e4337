// Whom a WQE over DC is for, and what comes of a wrong answer.
#include <boost/test/unit_test.hpp>

#include "tests/scenarios/scenario.h"

namespace ringpost {
namespace {

// O-24: an address vector with whatever its memory held goes astray. Here a WQE over DC names its
// target whole, whatever was in its slot.
BOOST_AUTO_TEST_CASE(ADcWqeNamesItsTargetWholeWhateverItsSlotHeld) {
  constexpr uint32_t kPeers = 64;
  FabricFixture f;
  const std::vector<QpPair> pairs =
      f.fabric.ConnectPairs(0, 1, kPeers, {.depth_wqebbs = 2 * kPeers, .kind = TransportKind::kDc});
  const QpView& dci = pairs[0].first;
  const std::vector<uint8_t> poison(dci.depth * abi::kWqebbBytes, 0xab);
  f.fabric.Poke(dci.sq, poison.data(), poison.size());
  const std::vector<uint8_t> sent = f.Pattern(kPeers, 7);
  f.fabric.Poke(f.local.address, sent.data(), sent.size());
  const FabricRun run = f.RunOne([&](SimPort& port) {
    for (uint32_t i = 0; i < kPeers; ++i) {
      QpView towards = dci;  // views of one DCI differ in their target
      towards.target = pairs[i].first.target;
      const QpTable table{&towards, 1, 0, 1, 0};
      TestEndpoint<> endpoint(port, table);
      BOOST_TEST(endpoint.Wait(endpoint.Put(f.remote.Remote(i), f.local.Local(i, 1))).Ok());
    }
  });
  BOOST_TEST(run.ok, run.error);
  BOOST_TEST((f.BytesAt(f.remote.address, kPeers) == sent));
  for (uint32_t i = 0; i < kPeers; ++i) {
    const uint32_t dct = pairs[i].first.target.dct, lid = pairs[i].first.target.lid;
    const auto byte = [](uint32_t value, int at) { return static_cast<uint8_t>(value >> at); };
    const std::vector<uint8_t> golden = {0,
                                         0,
                                         0,
                                         0,
                                         0x56,
                                         0x23,
                                         0xce,
                                         0xaf,
                                         0,
                                         byte(dct, 16),
                                         byte(dct, 8),
                                         byte(dct, 0),
                                         0,
                                         0,
                                         byte(lid, 8),
                                         byte(lid, 0)};
    BOOST_TEST((f.BytesAt(dci.sq + i * abi::kWqebbBytes + 16, 16) == golden));
  }
}

// Views of one DCI differ in their target alone; its indices are in memory.
BOOST_AUTO_TEST_CASE(EndpointsToTwoTargetsOfOneDciPostInTurns) {
  constexpr uint64_t kPuts = 10;
  FabricFixture f;
  const std::vector<QpPair> pairs = f.fabric.ConnectPairs(0, 1, 2, {.kind = TransportKind::kDc});
  const QpView& one = pairs[0].first;
  QpView other = one;
  other.target = pairs[1].first.target;
  const FabricRun run = f.RunOne([&](SimPort& port) {
    TestEndpoint<> to_one(port, {&one, 1, 0, 1, 0});
    TestEndpoint<> to_other(port, {&other, 1, 0, 1, 0});
    for (uint64_t i = 0; i < kPuts; ++i) {
      TestEndpoint<>& to = i % 3 == 0 ? to_one : to_other;
      BOOST_TEST(to.PutValue(f.remote.Remote(8 * i), i + 1).status.Ok());
    }
    BOOST_TEST(to_one.Quiet(kThisQp).Ok());
  });
  BOOST_TEST(run.ok, run.error);
  for (uint64_t i = 0; i < kPuts; ++i) {
    BOOST_TEST(f.fabric.Read<uint64_t>(f.remote.address + 8 * i) == i + 1);
  }
  BOOST_TEST(RingWasSound(f.fabric));
}

// O-24: with another key than the target's, that is a remote error, and no silence.
BOOST_AUTO_TEST_CASE(AWrongKeyOfADcTargetIsARemoteErrorAndMovesNothing) {
  FabricFixture f;
  QpView view = f.fabric.ConnectPairs(0, 1, 1, {.kind = TransportKind::kDc})[0].first;
  view.target.key ^= 1;
  const QpTable table{&view, 1, 0, 1, 0};
  const std::vector<uint8_t> before = f.BytesAt(f.remote.address, 8), sent = f.Pattern(8, 9);
  f.fabric.Poke(f.local.address, sent.data(), sent.size());
  const FabricRun run = f.RunOne([&](SimPort& port) {
    TestEndpoint<> endpoint(port, table);
    const Completion done = endpoint.Wait(endpoint.Put(f.remote.Remote(0), f.local.Local(0, 8)));
    BOOST_TEST((done.status == Status::kErrorCompletion));
    BOOST_TEST(int{done.syndrome} == static_cast<int>(abi::Syndrome::kRemoteAccess));
  });
  BOOST_TEST(run.ok, run.error);
  BOOST_TEST((f.BytesAt(f.remote.address, 8) == before));
}

}  // namespace
}  // namespace ringpost

// Several senders to one receiver: what its port lets through.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <vector>

#include "tests/sim/fabric_fixture.h"

namespace ringpost {
namespace {

constexpr uint64_t kPuts = 32;
constexpr uint64_t kPutBytes = 64 << 10;

struct Sender {
  uint32_t from = 0;
  uint32_t to = 0;
};

// Each sender puts kPuts times, all at once: microseconds until the last put was complete.
double UsOf(uint32_t nodes, const std::vector<Sender>& senders) {
  FabricOptions options;
  options.nodes = nodes;
  Fabric fabric(PlatformIb(), options);
  std::vector<QpPair> pairs;
  std::vector<RegisteredMemory> sources, targets;
  for (const Sender& sender : senders) {
    pairs.push_back(fabric.ConnectPair(sender.from, sender.to, {}));
    sources.push_back(fabric.nic(sender.from).Allocate(Placement::kGpu, kPutBytes).Value());
    targets.push_back(fabric.nic(sender.to).Allocate(Placement::kGpu, kPutBytes).Value());
    const std::vector<uint8_t> bytes = FabricFixture::Pattern(kPutBytes, sender.from);
    fabric.Poke(sources.back().address, bytes.data(), bytes.size());
  }
  uint64_t last = 0;
  for (size_t i = 0; i < senders.size(); ++i) {
    fabric.Launch(senders[i].from, {}, [&, i](SimPort& port) {
      TestEndpoint<> endpoint(port, {&pairs[i].first, 1, 0, 1, 0});
      for (uint64_t put = 0; put < kPuts; ++put) {
        endpoint.Put(targets[i].Remote(0), sources[i].Local(0, kPutBytes));
      }
      BOOST_TEST(endpoint.Quiet(CompletionScope::kSelectedQp).Ok());
      last = std::max(last, port.Now());
    });
  }
  const FabricRun run = fabric.Run();
  BOOST_TEST(run.ok, run.error);
  for (size_t i = 0; i < senders.size(); ++i) {
    std::vector<uint8_t> found(kPutBytes);
    fabric.Peek(targets[i].address, found.data(), found.size());
    BOOST_TEST((found == FabricFixture::Pattern(kPutBytes, senders[i].from)), "sender " << i);
  }
  return 1e-6 * static_cast<double>(last);
}

}  // namespace

BOOST_AUTO_TEST_CASE(SendersToOneReceiverShareTheRateOfItsPort) {
  const double one = UsOf(4, {{1, 0}});
  const double three = UsOf(4, {{1, 0}, {2, 0}, {3, 0}});
  BOOST_TEST(three > 2.8 * one, three << " us, and one alone " << one);
  BOOST_TEST(three < 3 * one, three << " us, and one alone " << one);
}

BOOST_AUTO_TEST_CASE(APortDoesNotHoldUpOneSender) {
  const double bytes_per_us = 200e9 / 8 / 1e6;
  const double one = UsOf(4, {{1, 0}});
  BOOST_TEST(one < 1.05 * kPuts * kPutBytes / bytes_per_us + 6, one << " us");
}

BOOST_AUTO_TEST_CASE(SendersToReceiversOfTheirOwnDoNotShareAPort) {
  const double one = UsOf(6, {{1, 0}});
  const double each = UsOf(6, {{1, 0}, {2, 4}, {3, 5}});
  BOOST_TEST(each == one, boost::test_tools::tolerance(0.001));
}

BOOST_AUTO_TEST_CASE(WhatANicSendsToItselfPassesNoPort) {
  const double alone = UsOf(2, {{0, 0}});
  const double beside = UsOf(2, {{0, 0}, {1, 0}});
  BOOST_TEST(beside < 1.2 * alone, beside << " us, and alone " << alone);
}

}  // namespace ringpost

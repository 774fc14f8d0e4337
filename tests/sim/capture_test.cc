// What --pcap writes, on both link layers: each packet whole, with its addresses, in its order.
#include "backends/sim/capture.h"

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <span>
#include <variant>

#include "sim/wire/codec.h"
#include "tests/sim/fabric_fixture.h"
#include "tests/sim/wire/capture.h"

namespace ringpost {
namespace {

// Puts and gets between the two nodes: the frames, and how many packets were sent.
Capture CaptureOf(const std::string& link_layer, uint64_t* sent) {
  const char* folder = std::getenv("TEST_TMPDIR");
  const std::string path = std::string(folder == nullptr ? "/tmp" : folder) + "/run.pcap";
  sim::Platform platform = PlatformIb();
  platform.link_layer = link_layer;
  WireCapture capture(path, platform);
  FabricFixture f({.tap = capture.Tap()});
  const FabricRun run = f.RunOne([&](SimPort& port) {
    TestEndpoint<> endpoint(port, f.table);
    for (uint64_t i = 0; i < 20; ++i) {
      endpoint.Put(f.remote.Remote(0), f.local.Local(0, 1000 * i));
      endpoint.Get(f.local.Local(0, 1 + 1000 * i), f.remote.Remote(0));
    }
    BOOST_TEST(endpoint.Quiet(CompletionScope::kSelectedQp).Ok());
  });
  BOOST_TEST(run.ok, run.error);
  BOOST_TEST(capture.Finish() == "");
  *sent = f.fabric.Counters(0).packets_sent + f.fabric.Counters(1).packets_sent;
  return ReadCapture(path);
}

}  // namespace

BOOST_AUTO_TEST_CASE(EachPacketIsOneFrameOfThePlatformsLinkLayer) {
  using namespace sim::wire;
  constexpr size_t kErfBytes = 16;
  for (const bool roce : {false, true}) {
    uint64_t sent = 0;
    const Capture capture = CaptureOf(roce ? "roce" : "infiniband", &sent);
    BOOST_TEST(capture.error == "");
    BOOST_TEST(capture.frames.size() == sent);
    int64_t last = 0;
    for (const CapturedFrame& frame : capture.frames) {
      BOOST_TEST(frame.time_ns >= last);
      last = frame.time_ns;
      const std::span<const uint8_t> bytes(frame.bytes);
      const Decoded decoded = roce ? Decode(Link::kEthernet, bytes)
                                   : Decode(Link::kInfiniband, bytes.subspan(kErfBytes));
      BOOST_TEST_REQUIRE(std::holds_alternative<Frame>(decoded));
      const Addressing& addressing = std::get<Frame>(decoded).addressing;
      if (roce) {
        const auto& from = std::get<RoceAddressing>(addressing);
        const bool first = from.source == MappedGid(10, 0, 0, 1);
        BOOST_TEST((from.target == MappedGid(10, 0, 0, first ? 2 : 1)));
        BOOST_TEST((from.source == MappedGid(10, 0, 0, first ? 1 : 2)));
      } else {
        const auto& from = std::get<InfinibandAddressing>(addressing);
        BOOST_TEST(from.source_lid + from.target_lid == 3);
      }
    }
  }
}

}  // namespace ringpost

// WQEs that were fetched and dropped for others before their turn came: they are fetched once more.
#include <boost/test/unit_test.hpp>
#include <vector>

#include "tests/sim/fabric_fixture.h"
#include "transport/publication/batched.h"

namespace ringpost {
namespace {

constexpr uint64_t kWqes = 8;

struct Sent {
  sim::Counters counters;
  int64_t took_ps = 0;
};

// All WQEs of one doorbell.
Sent SendTogether(const sim::Platform& platform) {
  QpSpec spec;
  spec.batch = kWqes;
  Fabric fabric(platform, FabricOptions{});
  const QpPair qp = fabric.ConnectPair(0, 1, spec);
  const RegisteredMemory words = fabric.nic(1).Allocate(Placement::kGpu, 4096).Value();
  Sent sent;
  fabric.Launch(0, {}, [&](SimPort& port) {
    TestEndpoint<OrderGpuFence, Batched> endpoint(port, QpTable{&qp.first, 1, 0, 1, 0});
    const uint64_t begun = port.Now();
    for (uint64_t i = 0; i < kWqes; ++i) endpoint.PutInline(words.Remote(8 * i), &i, 8);
    BOOST_TEST(endpoint.Quiet(CompletionScope::kSelectedQp).Ok());
    sent.took_ps = static_cast<int64_t>(port.Now() - begun);
  });
  const FabricRun run = fabric.Run();
  BOOST_TEST(run.ok, run.error);
  for (uint64_t i = 0; i < kWqes; ++i) {
    BOOST_TEST(fabric.Read<uint64_t>(words.address + 8 * i) == i);
  }
  sent.counters = fabric.Counters(0);
  return sent;
}

sim::Platform WithRoomFor(uint64_t wqes) {
  sim::Platform platform = PlatformIb();
  platform.wqe = {.model = "lru", .entries_count = wqes};
  return platform;
}

}  // namespace

BOOST_AUTO_TEST_CASE(WqesThatAllFitAreFetchedOnce) {
  const Sent usual = SendTogether(PlatformIb());
  const Sent sent = SendTogether(WithRoomFor(kWqes));
  BOOST_TEST(usual.counters.wqe_hits + usual.counters.wqe_misses == 0u);
  BOOST_TEST(sent.counters.wqe_hits == kWqes);
  BOOST_TEST(sent.counters.wqe_misses == 0u);
  BOOST_TEST(sent.took_ps == usual.took_ps);
  BOOST_TEST(sent.counters.dma_reads == usual.counters.dma_reads);
}

// They are used in the order in which they came, which defeats LRU.
BOOST_AUTO_TEST_CASE(OneMoreWqeThanFitsHasAllOfThemFetchedTwice) {
  const Sent usual = SendTogether(PlatformIb());
  const Sent sent = SendTogether(WithRoomFor(kWqes - 1));
  BOOST_TEST(sent.counters.wqe_misses == kWqes);
  BOOST_TEST(sent.counters.wqe_hits == 0u);
  BOOST_TEST(sent.counters.dma_reads == usual.counters.dma_reads + kWqes);
  // Each one's turn comes when the one before is sent, and then it is read; meanwhile the QP's
  // serial stage, which else sets the pace, goes on.
  const double read_ns = PlatformIb().read_gpu.ns;
  const double serial_ns = PlatformIb().qp_serial.ns;
  const double late_ns = static_cast<double>(sent.took_ps - usual.took_ps) / 1000;
  constexpr double kTurnNs = 200;  // of the poller's loop
  BOOST_TEST(late_ns < kWqes * read_ns + kTurnNs);
  BOOST_TEST(late_ns > kWqes * (read_ns - serial_ns) - kTurnNs);
}

}  // namespace ringpost

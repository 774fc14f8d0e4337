#include <boost/test/unit_test.hpp>

#include "backends/sim/fabric.h"
#include "transport/publication/per_thread.h"
using namespace ringpost;

template <Port P>  // your own function: nvcc compiles the same source for a GPU
HOST_DEVICE Completion CountTo(uint64_t last, P& port, const QpTable& qps, RemoteSpan word) {
  Endpoint<P, PerThread, OrderGpuFence> to(port, qps);
  Completion done;
  for (uint64_t n = 1; n <= last && done.Ok(); ++n) done = to.Wait(to.PutInline(word, &n, 8));
  return done;
}

BOOST_AUTO_TEST_CASE(AnErrorStopsItsThreadAlone) {
  Fabric fabric("p_ib");  // configs/platforms/p_ib.yaml: two nodes, each with a GPU and a NIC
  const RegisteredMemory words = fabric.nic(1).Allocate(Placement::kGpu, 4 * 8).Value();
  const std::vector<QpPair> qps = fabric.ConnectPairs(0, 1, /*count=*/4);
  fabric.InjectError(qps[2].first, /*node=*/0, /*wqe=*/5);
  fabric.Launch(0, {.threads = 4}, [&](SimPort& port) {
    const uint32_t i = port.ThreadIndex();
    const Completion done = CountTo(10, port, {&qps[i].first, 1}, words.Remote(8 * i));
    BOOST_TEST(done.wqe_index == (i == 2 ? 5 : 9));  // what the thread learned from its CQEs
  });
  BOOST_TEST(fabric.Run().error == "");
  BOOST_TEST(fabric.Read<uint64_t>(words.address + 8 * 2) == 5);  // memory of the other node
  BOOST_TEST(fabric.Counters(0).error_cqes == 1);
}

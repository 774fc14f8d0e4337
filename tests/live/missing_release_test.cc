// ThreadSanitizer reports a release that an ordering leaves out: to it the NIC is a thread.
#include <sys/mman.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <string>

#include "backends/live/live_fabric.h"
#include "tests/live/live_threads.h"
#include "tests/sim/service/child_process.h"
#include "transport/host_device.h"
#include "transport/publication/per_thread.h"

namespace ringpost {
namespace {

// A copy of system_fence with the release taken out: nothing orders a WQE before its doorbell.
struct ReleaseTakenOut : OrderSystemFence {
  template <class P>
  static void Release(P&, const QpView&) {}
  template <class P>
  static void Ring(P& port, const QpView& qp, uint64_t value) {
    port.template RingDoorbell<Order::kRelaxed, Scope::kSystem>(qp, value);
  }
};

template <class Ordering>
bool PutSome() {
  auto fabric = LiveFabric::Make(2);
  if (!fabric.Ok()) return false;
  const auto qps = fabric.Value()->ConnectPair(
      0, 1, {.placement = Placement::kHost, .timeout_ps = kHangGuardPs});
  const auto target = fabric.Value()->nic(1).Allocate(Placement::kHost, 64);
  HostWarp warp(1);
  HostPort port(warp, 0);
  const QpTable table = TableOf(qps.Value().first);
  Endpoint<HostPort, PerThread, Ordering> endpoint(port, table);
  bool ok = true;
  for (uint64_t i = 0; i < 100; ++i) {
    ok &= endpoint.PutInline(target.Value().Remote(0), &i, sizeof(i)).status.Ok();
  }
  return endpoint.Quiet(CompletionScope::kSelectedQp).Ok() && ok;
}

struct Outcome {
  bool ended_well = false;
  std::string said;
};

// In a process of its own, as a report ends it.
template <class Ordering>
Outcome InAnotherProcess() {
  const int file = memfd_create("report", 0);
  ChildProcess child([&] {
    dup2(file, STDERR_FILENO);
    if (!PutSome<Ordering>()) _exit(1);
  });
  Outcome outcome;
  outcome.ended_well = child.Succeeded();
  outcome.said.resize(1 << 16);
  const ssize_t bytes = pread(file, outcome.said.data(), outcome.said.size(), 0);
  outcome.said.resize(bytes < 0 ? 0 : static_cast<size_t>(bytes));
  close(file);
  return outcome;
}

boost::test_tools::assertion_result UnderThreadSanitizer(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result runs(kThreadSanitizer);
  runs.message() << "it takes --config=tsan to see the race";
  return runs;
}

BOOST_AUTO_TEST_SUITE(MissingReleaseTest)

BOOST_AUTO_TEST_CASE(AnOrderingWithItsReleaseIsNotReported) {
  const Outcome outcome = InAnotherProcess<OrderSystemFence>();
  BOOST_TEST(outcome.ended_well, outcome.said);
}

BOOST_AUTO_TEST_CASE(AnOrderingWithoutItsReleaseIsADataRace,
                     *boost::unit_test::precondition(UnderThreadSanitizer)) {
  const Outcome outcome = InAnotherProcess<ReleaseTakenOut>();
  BOOST_TEST(!outcome.ended_well);
  BOOST_TEST(outcome.said.find("data race") != std::string::npos, outcome.said);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace ringpost

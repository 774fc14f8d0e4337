// What comes back when things go wrong: every backend, every policy pair.
#include <boost/test/unit_test.hpp>
#include <vector>

#include "tests/conformance/backends.h"
#include "tests/conformance/team.h"

namespace ringpost::conformance {
namespace {

constexpr CompletionScope kSelected = CompletionScope::kSelectedQp;

// Every thread posts more than the ring holds, so that some wait for space, some for their turn and
// some for completions when the WQE fails.
BOOST_TEST_DECORATOR(*boost::unit_test::precondition(HasDevice))
BOOST_AUTO_TEST_CASE_TEMPLATE(AnErrorReachesEveryWaiterWithItsQpnAndSyndrome, Backend, Backends) {
  constexpr uint64_t kPuts = 30;
  // In real time it guards against a hang, and other programs run as well.
  constexpr uint64_t kTimeoutPs = Backend::kRealTime ? 30'000'000'000'000 : 10'000'000'000;
  for (const auto& pair : Backend::Pairs()) {
    // DOCA's ordering leaves the record behind its doorbell on purpose: a QP in error may miss it.
    const bool record_ordered = pair.ordering != "gpu_fence";
    Team<Backend> team(pair, {.depth_wqebbs = 16, .batch = 2, .timeout_ps = kTimeoutPs},
                       {.ordered = record_ordered});
    const RegisteredMemory source = team.Allocate(0, 64);
    const RegisteredMemory target = team.Allocate(1, 64);
    if constexpr (Backend::kInjectsErrors) {
      for (uint32_t thread = 0; thread < team.Threads(); ++thread) {
        if (thread != 0 && team.QpOf(thread).qpn == team.QpOf(0).qpn) continue;
        team.Machine().Fail(team.QpOf(thread), 0, 5, abi::Syndrome::kLocalProtection);
      }
    }
    std::vector<uint64_t> ended(team.Threads());
    team.Send([&](auto& port, AnyEndpoint& endpoint, uint32_t thread) {
      const uint64_t start = port.Now();
      Completion done;
      for (uint64_t i = 0; i < kPuts && done.Ok(); ++i) {
        LocalSpan from = source.Local(0, 8);
        if (!Backend::kInjectsErrors && i == 5) from.lkey ^= 0xffff00;
        done = endpoint.Put(target.Remote(0), from).status;
      }
      if (done.Ok()) done = endpoint.Quiet(kSelected);
      team.Expect(done.status == Status::kErrorCompletion,
                  "status " + std::to_string(static_cast<int>(done.status)));
      team.Expect(done.qpn == team.QpOf(thread).qpn, "the QPN of another QP");
      // The QP's later WQEs are flushed, into the same slot of a collapsed CQ.
      const auto syndrome = static_cast<abi::Syndrome>(done.syndrome);
      team.Expect(
          syndrome == abi::Syndrome::kLocalProtection || syndrome == abi::Syndrome::kFlushed,
          "syndrome " + std::to_string(int{done.syndrome}));
      ended[thread] = port.Now() - start;
    });
    team.Run();
    for (const uint64_t end : ended) {
      BOOST_TEST(end < kTimeoutPs, pair.Name() << ": a thread waited for its timeout");
    }
  }
}

#if RINGPOST_CONFORMANCE_SIM
// Live: it has no such faults.
BOOST_TEST_DECORATOR(*boost::unit_test::precondition(HasDevice))
BOOST_AUTO_TEST_CASE_TEMPLATE(AResponseLaterThanTheTimeoutIsATimeout, Backend, DelayingBackends) {
  constexpr uint64_t kTimeoutPs = 100'000'000;
  for (const auto& pair : Backend::Pairs()) {
    Team<Backend> team(pair, {.depth_wqebbs = 64, .timeout_ps = kTimeoutPs},
                       {.response_ps = 10 * kTimeoutPs});
    const RegisteredMemory source = team.Allocate(0, 64);
    const RegisteredMemory target = team.Allocate(1, 64);
    team.Fill(source.address, 64, 3);
    team.Send([&](auto& port, AnyEndpoint& endpoint, uint32_t thread) {
      team.ExpectOk(endpoint.Put(target.Remote(0), source.Local(0, 64)).status, "put");
      const uint64_t start = port.Now();
      const Completion done = endpoint.Quiet(kSelected);
      BOOST_TEST((done.status == Status::kTimeout), pair.Name());
      BOOST_TEST(done.qpn == team.QpOf(thread).qpn, pair.Name());
      BOOST_TEST(port.Now() - start >= kTimeoutPs, pair.Name());
      BOOST_TEST(port.Now() - start < 2 * kTimeoutPs, pair.Name());
    });
    team.Run();
    // The operation itself was not undone.
    BOOST_TEST(team.FirstWrong(target.address, 64, 3) == 64u, pair.Name());
  }
}
#endif

}  // namespace
}  // namespace ringpost::conformance

// What waits promise, and what is ordered: every backend, every policy pair.
#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <vector>

#include "tests/conformance/backends.h"
#include "tests/conformance/team.h"

namespace ringpost::conformance {
namespace {

constexpr CompletionScope kSelected = CompletionScope::kSelectedQp;

// Threads of node 0 put and signal in turn; those of node 1 wait for each signal and read.
template <class Backend>
void PutAndSignal(const PairOf<typename Backend::P>& pair, Placement placement,
                  DoorbellMode doorbell = DoorbellMode::kGpu) {
  constexpr uint64_t kRounds = 10;
  constexpr uint64_t kBytes = 200;
  constexpr uint64_t kStride = 256;
  Team<Backend> team(
      pair, {.depth_wqebbs = 16, .placement = placement, .batch = 2, .doorbell = doorbell});
  const uint64_t slots = team.Threads() * kRounds;
  const RegisteredMemory source = team.Allocate(0, slots * kStride);
  const RegisteredMemory target = team.Allocate(1, slots * kStride);
  const RegisteredMemory flags = team.Allocate(1, team.Threads() * 64);
  std::vector<uint64_t> wrong(team.Threads());
  team.Send([&](auto& port, AnyEndpoint& endpoint, uint32_t thread) {
    uint8_t payload[kBytes];
    for (uint64_t i = 0; i < kRounds; ++i) {
      const uint64_t slot = thread * kRounds + i;
      for (uint64_t b = 0; b < kBytes; ++b) payload[b] = PatternByte(slot, b);
      const LocalSpan from = source.Local(slot * kStride, kBytes);
      port.StorePayload(from.address, payload, kBytes);
      const RemoteSpan to = target.Remote(slot * kStride);
      const Posted posted = endpoint.PutSignal(to, from, flags.Remote(thread * 64), i + 1);
      team.ExpectOk(posted.status, "put and signal");
    }
    team.ExpectOk(endpoint.Quiet(kSelected), "quiet");
  });
  team.Receive([&](auto& port, AnyEndpoint& endpoint, uint32_t thread) {
    for (uint64_t i = 0; i < kRounds; ++i) {
      team.ExpectOk(endpoint.WaitSignal({flags.address + thread * 64}, i + 1), "signal");
      const uint64_t slot = thread * kRounds + i;
      uint8_t found[kBytes] = {};
      port.LoadPayload(found, target.address + slot * kStride, kBytes);
      for (uint64_t b = 0; b < kBytes; ++b) wrong[thread] += found[b] != PatternByte(slot, b);
    }
  });
  team.Run();
  for (const uint64_t bytes : wrong) BOOST_TEST(bytes == 0u, pair.Name());
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(HasDevice))
BOOST_AUTO_TEST_CASE_TEMPLATE(WhoSeesTheSignalReadsThePayload, Backend, Backends) {
  for (const auto& pair : Backend::Pairs()) PutAndSignal<Backend>(pair, Placement::kGpu);
}

// Why the backend's NICs have no QPs of this mode; empty if they have.
template <class Backend>
std::string RefusalOf(DoorbellMode doorbell) {
  Backend backend({});
  const Result<QpAddress> qp = backend.nic(0).CreateQp({.doorbell = doorbell});
  return qp.Ok() ? "" : qp.Message();
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(HasDevice))
BOOST_AUTO_TEST_CASE_TEMPLATE(EachWayToRingCarriesEveryPolicy, Backend, Backends) {
  for (const auto doorbell : {DoorbellMode::kCpu, DoorbellMode::kAuto, DoorbellMode::kBlueFlame,
                              DoorbellMode::kRecordFree}) {
    const std::string refusal = RefusalOf<Backend>(doorbell);
    BOOST_TEST(refusal.empty() == Backend::Rings(doorbell), refusal);
    if (!refusal.empty()) {
      std::printf("skipped: %s\n", refusal.c_str());
      continue;
    }
    for (const auto& pair : Backend::Pairs()) {
      PutAndSignal<Backend>(pair, Placement::kGpu, doorbell);
    }
  }
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(HasDevice))
BOOST_AUTO_TEST_CASE_TEMPLATE(QueuesAndPayloadMayLieInHostMemoryWithSystemScope, Backend,
                              Backends) {
  int pairs = 0;
  for (const auto& pair : Backend::Pairs()) {
    if (!pair.host_placement) continue;
    PutAndSignal<Backend>(pair, Placement::kHost);
    ++pairs;
  }
  BOOST_TEST(pairs > 0);
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(HasDevice))
BOOST_AUTO_TEST_CASE_TEMPLATE(AWaitForASignalThatNobodySendsTimesOut, Backend, Backends) {
  for (const auto& pair : Backend::Pairs()) {
    Team<Backend> team(pair, {.depth_wqebbs = 64, .timeout_ps = 50'000'000});
    const RegisteredMemory flags = team.Allocate(1, 64);
    team.Receive([&](auto&, AnyEndpoint& endpoint, uint32_t) {
      const Completion done = endpoint.WaitSignal({flags.address}, 1);
      team.Expect(done.status == Status::kTimeout, "the wait ended without a signal");
    });
    team.Run();
  }
}

// A table of three QPs, of which two lead to the peer. Puts to all, a wait in one scope, and what
// is then at the target, as a get on each QP in scope finds it.
template <class Backend>
void QuietIn(const PairOf<typename Backend::P>& pair, CompletionScope scope, uint32_t waited_for) {
  Team<Backend> team(pair, {.depth_wqebbs = 64}, {}, 3);
  const uint64_t bytes = team.Threads() * 64;  // of each QP
  const RegisteredMemory source = team.Allocate(0, bytes);
  const RegisteredMemory result = team.Allocate(0, 3 * bytes);
  const RegisteredMemory target = team.Allocate(1, 3 * bytes);
  team.Fill(source.address, bytes, 9);
  team.Send([&](auto& port, AnyEndpoint& endpoint, uint32_t thread) {
    std::vector<std::unique_ptr<AnyEndpoint>> others;
    for (uint32_t qp = 1; qp < 3; ++qp) others.push_back(team.On(port, thread, qp));
    const uint64_t at = thread * 64;
    for (uint32_t qp = 0; qp < 3; ++qp) {
      AnyEndpoint& on = qp == 0 ? endpoint : *others[qp - 1];
      const Posted posted = on.Put(target.Remote(qp * bytes + at), source.Local(at, 64));
      team.ExpectOk(posted.status, "put");
      // Quiet publishes what is left of a batch on its own QP alone.
      if (qp != 0) team.ExpectOk(on.Wait(posted), "wait");
    }
    team.ExpectOk(endpoint.Quiet(scope), "quiet");
    for (uint32_t qp = 0; qp < waited_for; ++qp) {
      const LocalSpan to = result.Local(qp * bytes + at, 64);
      team.ExpectOk(endpoint.Get(to, target.Remote(qp * bytes + at)).status, "get");
    }
    team.ExpectOk(endpoint.Flush(), "flush");
  });
  team.Run();
  for (uint32_t qp = 0; qp < waited_for; ++qp) {
    BOOST_TEST(team.FirstWrong(result.address + qp * bytes, bytes, 9) == bytes, pair.Name());
  }
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(HasDevice))
BOOST_AUTO_TEST_CASE_TEMPLATE(QuietOfTheSelectedQpPlacesItsPuts, Backend, Backends) {
  for (const auto& pair : Backend::Pairs()) QuietIn<Backend>(pair, kSelected, 1);
}
BOOST_TEST_DECORATOR(*boost::unit_test::precondition(HasDevice))
BOOST_AUTO_TEST_CASE_TEMPLATE(QuietOfThePeerPlacesPutsOfAllItsQps, Backend, Backends) {
  for (const auto& pair : Backend::Pairs()) QuietIn<Backend>(pair, CompletionScope::kPeer, 2);
}
BOOST_TEST_DECORATOR(*boost::unit_test::precondition(HasDevice))
BOOST_AUTO_TEST_CASE_TEMPLATE(QuietOfAllQpsPlacesEveryPut, Backend, Backends) {
  for (const auto& pair : Backend::Pairs()) QuietIn<Backend>(pair, CompletionScope::kAllQps, 3);
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(HasDevice))
BOOST_AUTO_TEST_CASE_TEMPLATE(AFenceKeepsALaterPutBehindAnEarlierGet, Backend, Backends) {
  for (const auto& pair : Backend::Pairs()) {
    Team<Backend> team(pair, {.depth_wqebbs = 64});
    constexpr uint64_t kBytes = 8192;
    const uint64_t bytes = team.Threads() * kBytes;
    const RegisteredMemory source = team.Allocate(0, bytes);
    const RegisteredMemory result = team.Allocate(0, bytes);
    const RegisteredMemory target = team.Allocate(1, bytes);
    team.Fill(target.address, bytes, 1);
    team.Fill(source.address, bytes, 2);
    team.Send([&](auto&, AnyEndpoint& endpoint, uint32_t thread) {
      const uint64_t at = thread * kBytes;
      team.ExpectOk(endpoint.Get(result.Local(at, kBytes), target.Remote(at)).status, "get");
      team.ExpectOk(endpoint.Fence(), "fence");
      team.ExpectOk(endpoint.Put(target.Remote(at), source.Local(at, kBytes)).status, "put");
      team.ExpectOk(endpoint.Quiet(kSelected), "quiet");
    });
    team.Run();
    BOOST_TEST(team.FirstWrong(result.address, bytes, 1) == bytes, pair.Name());
    BOOST_TEST(team.FirstWrong(target.address, bytes, 2) == bytes, pair.Name());
  }
}

}  // namespace
}  // namespace ringpost::conformance

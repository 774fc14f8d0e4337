// What operations move: every backend, every policy pair.
#include <boost/test/unit_test.hpp>
#include <vector>

#include "tests/conformance/backends.h"
#include "tests/conformance/team.h"

namespace ringpost::conformance {
namespace {

constexpr CompletionScope kSelected = CompletionScope::kSelectedQp;

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(HasDevice))
BOOST_AUTO_TEST_CASE_TEMPLATE(APutPlacesItsBytes, Backend, Backends) {
  constexpr uint64_t kSizes[] = {1, 8, 64, 100, 4096, 10000};
  for (const auto& pair : Backend::Pairs()) {
    Team<Backend> team(pair, {.depth_wqebbs = 64});
    constexpr uint64_t kStride = 16384;
    const uint64_t slots = team.Threads() * std::size(kSizes);
    const RegisteredMemory source = team.Allocate(0, slots * kStride);
    const RegisteredMemory target = team.Allocate(1, slots * kStride);
    for (uint64_t slot = 0; slot < slots; ++slot) {
      team.Fill(source.address + slot * kStride, kSizes[slot % std::size(kSizes)], slot);
    }
    team.Send([&](auto&, AnyEndpoint& endpoint, uint32_t thread) {
      for (uint64_t i = 0; i < std::size(kSizes); ++i) {
        const uint64_t at = (thread * std::size(kSizes) + i) * kStride;
        team.ExpectOk(endpoint.Put(target.Remote(at), source.Local(at, kSizes[i])).status, "put");
      }
      team.ExpectOk(endpoint.Quiet(kSelected), "quiet");
    });
    team.Run();
    for (uint64_t slot = 0; slot < slots; ++slot) {
      const uint64_t bytes = kSizes[slot % std::size(kSizes)];
      const uint64_t at = target.address + slot * kStride;
      BOOST_TEST(team.FirstWrong(at, bytes, slot) == bytes, pair.Name() << ", " << bytes << " B");
      BOOST_TEST(team.Word(at + bytes) == 0u, pair.Name() << ": wrote beyond the end");
    }
  }
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(HasDevice))
BOOST_AUTO_TEST_CASE_TEMPLATE(AnInlinePutPlacesItsBytesAndItsSourceIsFreeAtOnce, Backend,
                              Backends) {
  constexpr uint32_t kSizes[] = {1, 4, 12, 13, 28, 29, 44, 100, 220};
  for (const auto& pair : Backend::Pairs()) {
    Team<Backend> team(pair, {.depth_wqebbs = 64});
    constexpr uint64_t kStride = 256;
    const uint64_t slots = team.Threads() * std::size(kSizes);
    const RegisteredMemory target = team.Allocate(1, slots * kStride);
    team.Send([&](auto&, AnyEndpoint& endpoint, uint32_t thread) {
      uint8_t payload[220];
      for (uint64_t i = 0; i < std::size(kSizes); ++i) {
        const uint64_t slot = thread * std::size(kSizes) + i;
        for (uint32_t b = 0; b < kSizes[i]; ++b) payload[b] = PatternByte(slot, b);
        const RemoteSpan to = target.Remote(slot * kStride);
        team.ExpectOk(endpoint.PutInline(to, payload, kSizes[i]).status, "put");
      }
      team.ExpectOk(endpoint.Quiet(kSelected), "quiet");
    });
    team.Run();
    for (uint64_t slot = 0; slot < slots; ++slot) {
      const uint32_t bytes = kSizes[slot % std::size(kSizes)];
      const uint64_t at = target.address + slot * kStride;
      BOOST_TEST(team.FirstWrong(at, bytes, slot) == bytes, pair.Name() << ", " << bytes << " B");
      BOOST_TEST(team.Word(at + bytes) == 0u, pair.Name() << ": wrote beyond the end");
    }
  }
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(HasDevice))
BOOST_AUTO_TEST_CASE_TEMPLATE(AGetBringsTheBytesOfThePeer, Backend, Backends) {
  constexpr uint64_t kSizes[] = {1, 8, 100, 10000};
  for (const auto& pair : Backend::Pairs()) {
    Team<Backend> team(pair, {.depth_wqebbs = 64});
    constexpr uint64_t kStride = 16384;
    const uint64_t slots = team.Threads() * std::size(kSizes);
    const RegisteredMemory source = team.Allocate(1, slots * kStride);
    const RegisteredMemory result = team.Allocate(0, slots * kStride);
    team.Fill(source.address, slots * kStride, 5);
    std::vector<uint8_t> first(team.Threads());
    team.Send([&](auto& port, AnyEndpoint& endpoint, uint32_t thread) {
      for (uint64_t i = 0; i < std::size(kSizes); ++i) {
        const uint64_t at = (thread * std::size(kSizes) + i) * kStride;
        team.ExpectOk(endpoint.Get(result.Local(at, kSizes[i]), source.Remote(at)).status, "get");
      }
      team.ExpectOk(endpoint.Quiet(kSelected), "quiet");
      // The thread itself may use what it waited for.
      const uint64_t at = (thread + 1) * std::size(kSizes) * kStride - kStride;
      port.LoadPayload(&first[thread], result.address + at, 1);
    });
    team.Run();
    std::vector<uint8_t> found(slots * kStride);
    team.Machine().Read(result.address, found.data(), found.size());
    for (uint64_t slot = 0; slot < slots; ++slot) {
      uint64_t right = 0;
      const uint64_t bytes = kSizes[slot % std::size(kSizes)];
      while (right < bytes &&
             found[slot * kStride + right] == PatternByte(5, slot * kStride + right)) {
        ++right;
      }
      BOOST_TEST(right == bytes, pair.Name() << ", " << bytes << " B");
    }
    for (uint32_t thread = 0; thread < team.Threads(); ++thread) {
      const uint64_t at = (thread + 1) * std::size(kSizes) * kStride - kStride;
      BOOST_TEST(first[thread] == PatternByte(5, at), pair.Name());
    }
  }
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(HasDevice))
BOOST_AUTO_TEST_CASE_TEMPLATE(APutOfNothingWritesNothingAndCompletes, Backend, Backends) {
  for (const auto& pair : Backend::Pairs()) {
    Team<Backend> team(pair, {.depth_wqebbs = 64});
    const RegisteredMemory source = team.Allocate(0, 4096);
    const RegisteredMemory target = team.Allocate(1, 4096);
    team.Fill(source.address, 4096, 1);
    team.Send([&](auto&, AnyEndpoint& endpoint, uint32_t thread) {
      const RemoteSpan to = target.Remote(thread * 64);
      team.ExpectOk(endpoint.Wait(endpoint.Put(to, source.Local(0, 0))), "put");
      team.ExpectOk(endpoint.PutInline(to, nullptr, 0).status, "inline put");
      team.ExpectOk(endpoint.Quiet(kSelected), "quiet");
    });
    team.Run();
    for (uint64_t at = 0; at < 4096; at += 8) {
      BOOST_TEST(team.Word(target.address + at) == 0u, pair.Name());
    }
  }
}

// Each thread puts `puts` numbers in turn to 16 words of its own.
template <class Backend>
void PutMany(const PairOf<typename Backend::P>& pair, uint32_t depth, uint64_t puts) {
  Team<Backend> team(pair, {.depth_wqebbs = depth, .batch = 2});
  const RegisteredMemory target = team.Allocate(1, team.Threads() * 128);
  team.Send([&](auto&, AnyEndpoint& endpoint, uint32_t thread) {
    Completion done;
    for (uint64_t i = 0; i < puts && done.Ok(); ++i) {
      done = endpoint.PutInline(target.Remote(thread * 128 + i % 16 * 8), &i, sizeof(i)).status;
    }
    team.ExpectOk(done, "put");
    team.ExpectOk(endpoint.Quiet(kSelected), "quiet");
  });
  team.Run();
  for (uint32_t thread = 0; thread < team.Threads(); ++thread) {
    for (uint64_t i = puts - 16; i < puts; ++i) {
      BOOST_TEST(team.Word(target.address + thread * 128 + i % 16 * 8) == i, pair.Name());
    }
  }
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(HasDevice))
BOOST_AUTO_TEST_CASE_TEMPLATE(ARingOfEightWrapsManyTimes, Backend, Backends) {
  for (const auto& pair : Backend::Pairs()) PutMany<Backend>(pair, 8, 100);
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(HasDevice))
BOOST_AUTO_TEST_CASE_TEMPLATE(SixteenBitIndicesWrapAfter65536Puts, Backend, Backends) {
  for (const auto& pair : Backend::Pairs()) {
    if (pair.Name() == "per_thread with gpu_fence") PutMany<Backend>(pair, 64, 70000);
  }
}

}  // namespace
}  // namespace ringpost::conformance

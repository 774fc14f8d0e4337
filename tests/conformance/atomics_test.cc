// Values, atomics and signals, and messages in pieces: every backend, every policy pair, RC and DC.
#include <boost/test/unit_test.hpp>
#include <set>
#include <vector>

#include "tests/conformance/backends.h"
#include "tests/conformance/team.h"

namespace ringpost::conformance {
namespace {

constexpr CompletionScope kSelected = CompletionScope::kSelectedQp;

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(HasDevice))
BOOST_AUTO_TEST_CASE_TEMPLATE(APutOfAValueWritesItsBytesAndNoMore, Backend, Backends) {
  constexpr uint64_t kValue = 0x8877665544332211;
  for (const auto& pair : Backend::Pairs()) {
    Team<Backend> team(pair, {.depth_wqebbs = 64});
    const RegisteredMemory target = team.Allocate(1, team.Threads() * 64);
    team.Send([&](auto&, AnyEndpoint& endpoint, uint32_t thread) {
      for (uint32_t i = 0; i < 4; ++i) {
        const RemoteSpan to = target.Remote(thread * 64 + i * 16);
        team.ExpectOk(endpoint.PutValue(to, kValue, 1u << i).status, "put");
      }
      team.ExpectOk(endpoint.Quiet(kSelected), "quiet");
    });
    team.Run();
    for (uint32_t slot = 0; slot < team.Threads() * 4; ++slot) {
      const uint32_t bits = 8u << (slot % 4);
      const uint64_t expected = bits == 64 ? kValue : kValue & ((1ull << bits) - 1);
      BOOST_TEST(team.Word(target.address + slot * 16) == expected, pair.Name());
      BOOST_TEST(team.Word(target.address + slot * 16 + 8) == 0u, pair.Name());
    }
  }
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(HasDevice))
BOOST_AUTO_TEST_CASE_TEMPLATE(ManyValuesInOneCallArriveEachAtItsPlace, Backend, Backends) {
  // More than the ring holds, and than a batch.
  constexpr uint32_t kEach = 40;
  for (const auto& pair : Backend::Pairs()) {
    Team<Backend> team(pair, {.depth_wqebbs = 16});
    const RegisteredMemory target = team.Allocate(1, team.Threads() * kEach * 8);
    team.Send([&](auto&, AnyEndpoint& endpoint, uint32_t thread) {
      const RemoteSpan to = target.Remote(thread * kEach * 8);
      const uint64_t first = 1 + 1000 * uint64_t{thread};
      team.ExpectOk(endpoint.PutValues(to, first, kEach).status, "puts");
      team.ExpectOk(endpoint.Quiet(kSelected), "quiet");
    });
    team.Run();
    for (uint32_t i = 0; i < team.Threads() * kEach; ++i) {
      const uint64_t expected = 1 + 1000 * uint64_t{i / kEach} + i % kEach;
      BOOST_TEST(team.Word(target.address + i * 8) == expected, pair.Name());
    }
  }
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(HasDevice))
BOOST_AUTO_TEST_CASE_TEMPLATE(EachFetchAddSeesTheSumOfThoseBeforeIt, Backend, Backends) {
  constexpr uint64_t kEach = 12;
  constexpr uint64_t kAddend = 0x100000001;
  for (const auto& pair : Backend::Pairs()) {
    Team<Backend> team(pair, {.depth_wqebbs = 16});
    const RegisteredMemory counter = team.Allocate(1, 64);
    const RegisteredMemory results = team.Allocate(0, team.Threads() * kEach * 8);
    std::vector<std::vector<uint64_t>> seen(team.Threads(), std::vector<uint64_t>(kEach));
    team.Send([&](auto& port, AnyEndpoint& endpoint, uint32_t thread) {
      for (uint64_t i = 0; i < kEach; ++i) {
        const LocalSpan result = results.Local((thread * kEach + i) * 8, 8);
        team.ExpectOk(endpoint.FetchAdd(result, counter.Remote(8), kAddend).status, "add");
      }
      team.ExpectOk(endpoint.Quiet(kSelected), "quiet");
      const uint64_t at = results.address + thread * kEach * 8;
      port.LoadPayload(seen[thread].data(), at, kEach * 8);
    });
    team.Run();
    std::set<uint64_t> all;
    for (const auto& of_thread : seen) {
      // Those of one thread are executed in the order posted.
      BOOST_TEST(std::is_sorted(of_thread.begin(), of_thread.end()), pair.Name());
      all.insert(of_thread.begin(), of_thread.end());
    }
    const uint64_t adds = team.Threads() * kEach;
    BOOST_TEST(all.size() == adds, pair.Name() << ": two saw the same value");
    BOOST_TEST(*all.rbegin() == (adds - 1) * kAddend, pair.Name());
    BOOST_TEST(team.Word(counter.address + 8) == adds * kAddend, pair.Name());
    BOOST_TEST(team.Word(counter.address) == 0u, pair.Name());
  }
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(HasDevice))
BOOST_AUTO_TEST_CASE_TEMPLATE(ACompareSwapStoresOnlyWhereItFindsWhatItExpects, Backend, Backends) {
  constexpr uint64_t kFirst = 0x0123456789abcdef, kSecond = 0xfedcba9876543210;
  for (const auto& pair : Backend::Pairs()) {
    Team<Backend> team(pair, {.depth_wqebbs = 16});
    const RegisteredMemory target = team.Allocate(1, team.Threads() * 8);
    const RegisteredMemory results = team.Allocate(0, team.Threads() * 16);
    team.Send([&](auto& port, AnyEndpoint& endpoint, uint32_t thread) {
      const RemoteSpan word = target.Remote(thread * 8);
      const LocalSpan found = results.Local(thread * 16, 8);
      const LocalSpan kept = results.Local(thread * 16 + 8, 8);
      team.ExpectOk(endpoint.Wait(endpoint.CompareSwap(found, word, 0, kFirst)), "swap");
      team.ExpectOk(endpoint.Wait(endpoint.CompareSwap(kept, word, kSecond, 1)), "no swap");
      uint64_t values[2] = {};
      port.LoadPayload(values, found.address, sizeof(values));
      team.Expect(values[0] == 0 && values[1] == kFirst, "the values found are wrong");
    });
    team.Run();
    for (uint32_t thread = 0; thread < team.Threads(); ++thread) {
      BOOST_TEST(team.Word(target.address + thread * 8) == kFirst, pair.Name());
    }
  }
}

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(HasDevice))
BOOST_AUTO_TEST_CASE_TEMPLATE(AnAtomicOnWhatIsNotEightAlignedBytesIsRefused, Backend, Backends) {
  for (const auto& pair : Backend::Pairs()) {
    Team<Backend> team(pair, {.depth_wqebbs = 16});
    const RegisteredMemory target = team.Allocate(1, 64);
    const RegisteredMemory result = team.Allocate(0, 64);
    team.Send([&](auto&, AnyEndpoint& endpoint, uint32_t) {
      const Posted odd = endpoint.FetchAdd(result.Local(0, 8), target.Remote(4), 1);
      const Posted small = endpoint.FetchAdd(result.Local(0, 4), target.Remote(0), 1);
      team.Expect(odd.status.status == Status::kInvalidArgument, "an odd target is accepted");
      team.Expect(small.status.status == Status::kInvalidArgument, "a small result is accepted");
    });
    team.Run();
    BOOST_TEST(team.Word(target.address) == 0u, pair.Name());
  }
}

// Of threads that post together nobody waits for one that was refused.
BOOST_TEST_DECORATOR(*boost::unit_test::precondition(HasDevice))
BOOST_AUTO_TEST_CASE_TEMPLATE(AnAtomicOfOneLaneThatIsRefusedIsRefusedForItsWarp, Backend,
                              Backends) {
  for (const auto& pair : Backend::Pairs()) {
    Team<Backend> team(pair, {.depth_wqebbs = 16});
    const RegisteredMemory target = team.Allocate(1, 64);
    const RegisteredMemory result = team.Allocate(0, 64);
    team.Send([&](auto&, AnyEndpoint& endpoint, uint32_t thread) {
      const bool odd = thread == 1;
      const Posted posted = endpoint.FetchAdd(result.Local(0, 8), target.Remote(odd ? 4 : 0), 1);
      team.Expect(posted.status.Ok() == (!odd && !pair.warp_wide), "refused, or not");
      team.ExpectOk(endpoint.Quiet(kSelected), "quiet");
    });
    team.Run();
    const uint64_t added = pair.warp_wide ? 0 : team.Threads() - 1;
    BOOST_TEST(team.Word(target.address) == added, pair.Name());
  }
}

// Threads of node 0 put, and then count up; those of node 1 wait for each count and read.
BOOST_TEST_DECORATOR(*boost::unit_test::precondition(HasDevice))
BOOST_AUTO_TEST_CASE_TEMPLATE(ASignalCountsAfterAllEarlierPutsOfItsQp, Backend, Backends) {
  constexpr uint64_t kRounds = 8;
  constexpr uint64_t kBytes = 200;
  for (const auto& pair : Backend::Pairs()) {
    Team<Backend> team(pair, {.depth_wqebbs = 32});
    const uint64_t slots = team.Threads() * kRounds;
    const RegisteredMemory source = team.Allocate(0, slots * 256);
    const RegisteredMemory target = team.Allocate(1, slots * 256);
    const RegisteredMemory flags = team.Allocate(1, team.Threads() * 64);
    for (uint64_t slot = 0; slot < slots; ++slot) {
      team.Fill(source.address + slot * 256, kBytes, slot);
    }
    std::vector<uint64_t> wrong(team.Threads());
    team.Send([&](auto&, AnyEndpoint& endpoint, uint32_t thread) {
      for (uint64_t i = 0; i < kRounds; ++i) {
        const uint64_t at = (thread * kRounds + i) * 256;
        const Posted put = endpoint.Put(target.Remote(at), source.Local(at, kBytes));
        team.ExpectOk(put.status, "put");
        team.ExpectOk(endpoint.Signal(flags.Remote(thread * 64), 1).status, "signal");
      }
      team.ExpectOk(endpoint.Quiet(kSelected), "quiet");
    });
    team.Receive([&](auto& port, AnyEndpoint& endpoint, uint32_t thread) {
      for (uint64_t i = 0; i < kRounds; ++i) {
        team.ExpectOk(endpoint.WaitSignal({flags.address + thread * 64}, i + 1), "wait");
        const uint64_t slot = thread * kRounds + i;
        uint8_t found[kBytes] = {};
        port.LoadPayload(found, target.address + slot * 256, kBytes);
        for (uint64_t b = 0; b < kBytes; ++b) wrong[thread] += found[b] != PatternByte(slot, b);
      }
    });
    team.Run();
    for (const uint64_t bytes : wrong) BOOST_TEST(bytes == 0u, pair.Name());
  }
}

// Lanes that post together have messages of different lengths, and so of different piece counts.
constexpr uint64_t kSizes[] = {0, 1, 63, 64, 65, 128, 1000};
uint64_t SizeOf(uint64_t thread, uint64_t i) { return kSizes[(thread + i) % std::size(kSizes)]; }

BOOST_TEST_DECORATOR(*boost::unit_test::precondition(HasDevice))
BOOST_AUTO_TEST_CASE_TEMPLATE(MessagesAboveTheLargestArriveWholeBeforeTheirSignal, Backend,
                              Backends) {
  constexpr uint64_t kRounds = std::size(kSizes);
  constexpr uint64_t kStride = 1024;
  for (const auto& pair : Backend::Pairs()) {
    Team<Backend> team(pair, {.depth_wqebbs = 16, .max_message = 64});
    const uint64_t slots = team.Threads() * kRounds;
    const RegisteredMemory source = team.Allocate(0, slots * kStride);
    const RegisteredMemory target = team.Allocate(1, slots * kStride);
    const RegisteredMemory back = team.Allocate(0, slots * kStride);
    const RegisteredMemory flags = team.Allocate(1, team.Threads() * 64);
    for (uint64_t slot = 0; slot < slots; ++slot) {
      team.Fill(source.address + slot * kStride, kStride, slot);
    }
    std::vector<uint64_t> wrong(team.Threads());
    team.Send([&](auto&, AnyEndpoint& endpoint, uint32_t thread) {
      for (uint64_t i = 0; i < kRounds; ++i) {
        const uint64_t at = (thread * kRounds + i) * kStride;
        const LocalSpan from = source.Local(at, SizeOf(thread, i));
        const RemoteSpan flag = flags.Remote(thread * 64);
        const Posted posted = endpoint.PutSignal(target.Remote(at), from, flag, i + 1);
        team.ExpectOk(posted.status, "put and signal");
        const LocalSpan to = back.Local(at, SizeOf(thread, i));
        team.ExpectOk(endpoint.Get(to, target.Remote(at)).status, "get");
      }
      team.ExpectOk(endpoint.Quiet(kSelected), "quiet");
    });
    team.Receive([&](auto& port, AnyEndpoint& endpoint, uint32_t thread) {
      for (uint64_t i = 0; i < kRounds; ++i) {
        team.ExpectOk(endpoint.WaitSignal({flags.address + thread * 64}, i + 1), "signal");
        const uint64_t slot = thread * kRounds + i;
        uint8_t found[kStride] = {};
        port.LoadPayload(found, target.address + slot * kStride, SizeOf(thread, i));
        for (uint64_t b = 0; b < SizeOf(thread, i); ++b) {
          wrong[thread] += found[b] != PatternByte(slot, b);
        }
      }
    });
    team.Run();
    for (const uint64_t bytes : wrong) BOOST_TEST(bytes == 0u, pair.Name());
    for (uint64_t slot = 0; slot < slots; ++slot) {
      const uint64_t bytes = SizeOf(slot / kRounds, slot % kRounds);
      for (const RegisteredMemory& memory : {target, back}) {
        const uint64_t at = memory.address + slot * kStride;
        BOOST_TEST(team.FirstWrong(at, bytes, slot) == bytes, pair.Name() << ", " << bytes << " B");
        BOOST_TEST(team.Word(at + bytes) == 0u, pair.Name() << ": wrote beyond the end");
      }
    }
  }
}

}  // namespace
}  // namespace ringpost::conformance

// A ring between producers and a worker, without a NIC: nothing is lost, repeated or mixed up.
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "tests/seed.h"
#include "tests/transport/proxy/memory_ring.h"
#include "transport/proxy/endpoint.h"

namespace ringpost::proxy {
namespace {

template <class Handoff>
using ProducerOf = Endpoint<HostPort, Proxied<Handoff>, OrderSystemRelease>;

constexpr uint64_t kHangGuardPs = 30'000'000'000'000;

struct HostThread {
  HostWarp warp{1};
  HostPort port{warp, 0};
};

// One operation and its bytes, where it has them: what goes in is what should come out.
struct Drawn {
  Request request;
  unsigned char payload[220] = {};
};

// Of random kinds and sizes; addresses of up to 48 bits, and beyond.
std::vector<Drawn> DrawOperations(int count) {
  std::mt19937_64 random(TestSeed());
  std::vector<Drawn> all(count);
  for (Drawn& one : all) {
    Request& r = one.request;
    r.target.address = random() >> (random() % 2 == 0 ? 1 : 16) & ~7ull;
    r.target.rkey = static_cast<uint32_t>(random() % 3);
    switch (random() % 4) {
      case 0:
        r.operation = random() % 2 == 0 ? Operation::kPut : Operation::kGet;
        r.local.address = random() >> 16;
        r.local.bytes = random() >> (random() % 2 == 0 ? 33 : 40);
        r.local.lkey = 9;
        break;
      case 1:
        r.operation = Operation::kCompareSwap;
        r.local = {random() >> 1, 8, static_cast<uint32_t>(random())};
        r.a = random();
        r.b = random();
        break;
      default:
        r.operation = Operation::kPutInline;
        r.inline_bytes = static_cast<uint32_t>(random() % (random() % 2 == 0 ? 9 : 221));
        for (uint32_t i = 0; i < r.inline_bytes; ++i) {
          one.payload[i] = static_cast<unsigned char>(random());
        }
    }
  }
  return all;
}

template <class E>
Posted Do(E& endpoint, const Drawn& one) {
  const Request& r = one.request;
  switch (r.operation) {
    case Operation::kPut:
      return endpoint.Put(r.target, r.local);
    case Operation::kGet:
      return endpoint.Get(r.local, r.target);
    case Operation::kCompareSwap:
      return endpoint.CompareSwap(r.local, r.target, r.a, r.b);
    default:
      return endpoint.PutInline(r.target, one.payload, r.inline_bytes);
  }
}

// `count` operations go through in order and as they were.
template <class Handoff>
void SendRandomOperations(uint64_t start, uint32_t depth, int count) {
  const std::vector<Drawn> all = DrawOperations(count);
  MemoryRing ring(depth, start, kHangGuardPs);
  std::thread producer([&] {
    HostThread thread;
    const QpTable table = ring.Table();
    ProducerOf<Handoff> endpoint(thread.port, table);
    for (const Drawn& one : all) Do(endpoint, one);
  });
  HostThread thread;
  uint64_t next = start;
  int wrong = 0;
  for (const Drawn& one : all) {
    unsigned char payload[220];
    const Request got = ring.Take(thread.port, &next, payload);
    const Request& sent = one.request;
    bool same = got.operation == sent.operation && got.target.address == sent.target.address &&
                got.target.rkey == sent.target.rkey && got.inline_bytes == sent.inline_bytes;
    if (sent.operation == Operation::kPutInline) {
      same = same && std::memcmp(payload, one.payload, sent.inline_bytes) == 0;
    } else {
      same = same && got.local.address == sent.local.address &&
             got.local.bytes == sent.local.bytes && got.local.lkey == sent.local.lkey &&
             got.a == sent.a && got.b == sent.b;
    }
    wrong += !same;
  }
  producer.join();
  BOOST_TEST(wrong == 0);
}

BOOST_AUTO_TEST_CASE(OperationsOfEachKindComeOutOfATunedRingAsTheyWentIn) {
  SendRandomOperations<Tuned>(0, 64, 4000);
}

BOOST_AUTO_TEST_CASE(OperationsOfEachKindComeOutOfABaselineRingAsTheyWentIn) {
  SendRandomOperations<Baseline>(0, 64, 4000);
}

BOOST_AUTO_TEST_CASE(IndicesOfARingPassTwoToThe32WithoutALoss) {
  const uint64_t before = (1ull << 32) - 96;
  SendRandomOperations<Tuned>(before, 64, 400);
  SendRandomOperations<Baseline>(before, 64, 400);
}

// Two threads each put numbers in turn to an address of their own.
BOOST_AUTO_TEST_CASE(OperationsOfTwoProducersOfABaselineRingArriveOnceEachInTheirOrder) {
  constexpr uint64_t kEach = 20000;
  MemoryRing ring(64, 0, kHangGuardPs);
  std::vector<std::thread> producers;
  for (uint64_t me = 0; me < 2; ++me) {
    producers.emplace_back([&ring, me] {
      HostThread thread;
      const QpTable table = ring.Table();
      ProducerOf<Baseline> endpoint(thread.port, table);
      for (uint64_t i = 0; i < kEach; ++i) endpoint.PutValue({me, 1}, i);
    });
  }
  HostThread thread;
  uint64_t next = 0;
  uint64_t expected[2] = {};
  for (uint64_t i = 0; i < 2 * kEach; ++i) {
    unsigned char payload[220];
    const Request got = ring.Take(thread.port, &next, payload);
    uint64_t value = 0;
    std::memcpy(&value, payload, sizeof(value));
    BOOST_REQUIRE(got.target.address < 2u);
    BOOST_REQUIRE(value == expected[got.target.address]++);
  }
  for (std::thread& producer : producers) producer.join();
  BOOST_TEST(expected[0] == kEach);
}

template <class Handoff>
void FillUntilNobodyReads(uint64_t last_that_fits) {
  MemoryRing ring(64, 0, /*timeout_ps=*/20'000'000);
  HostThread thread;
  const QpTable table = ring.Table();
  ProducerOf<Handoff> endpoint(thread.port, table);
  uint64_t taken = 0;
  Posted posted;
  while ((posted = endpoint.PutValue({8, 1}, taken)).status.Ok()) ++taken;
  BOOST_TEST((posted.status.status == Status::kTimeout));
  BOOST_TEST(taken == last_that_fits);
  // None of them was overwritten.
  uint64_t next = 0;
  for (uint64_t i = 0; i < taken; ++i) {
    unsigned char payload[220];
    ring.Take(thread.port, &next, payload);
    uint64_t value = 0;
    std::memcpy(&value, payload, sizeof(value));
    BOOST_REQUIRE(value == i);
  }
}

BOOST_AUTO_TEST_CASE(AProducerOfAFullRingWaitsAndOverwritesNothing) {
  FillUntilNobodyReads<Tuned>(63);     // one slot tells the keys
  FillUntilNobodyReads<Baseline>(32);  // two slots each
}

BOOST_AUTO_TEST_CASE(ATunedRingIsRefusedToASecondEndpointUntilTheFirstGivesItBack) {
  MemoryRing ring(64);
  HostThread thread;
  const QpTable table = ring.Table();
  ProducerOf<Tuned> first(thread.port, table);
  BOOST_TEST(first.PutValue({8, 1}, uint64_t{1}).status.Ok());
  {
    ProducerOf<Tuned> second(thread.port, table);
    BOOST_TEST((second.PutValue({8, 1}, uint64_t{2}).status.status == Status::kInvalidArgument));
    first.GiveBack();
    BOOST_TEST(second.PutValue({8, 1}, uint64_t{2}).confirmed == 4u);
  }
  BOOST_TEST(first.PutValue({8, 1}, uint64_t{3}).confirmed == 6u);
}

BOOST_AUTO_TEST_CASE(AQuietEndsWithWhatWasEnqueuedBeforeItThoughOthersGoOn) {
  MemoryRing ring(64, 0, kHangGuardPs);
  std::atomic<bool> stop{false};
  std::thread other([&] {
    HostThread thread;
    const QpTable table = ring.Table();
    ProducerOf<Baseline> endpoint(thread.port, table);
    while (!stop) endpoint.PutValue({0, 1}, uint64_t{0});
    endpoint.PutValue({1, 1}, uint64_t{0});
  });
  std::thread worker([&] {
    HostThread thread;
    uint64_t next = 0;
    unsigned char payload[220];
    while (ring.Take(thread.port, &next, payload).target.address != 1) {
      thread.port.Store<Order::kRelease, Scope::kSystem>(ring.view.completed, next);
    }
  });
  HostThread thread;
  const QpTable table = ring.Table();
  ProducerOf<Baseline> endpoint(thread.port, table);
  for (int i = 0; i < 200; ++i) {
    BOOST_TEST(endpoint.PutValue({2, 1}, uint64_t{0}).status.Ok());
    BOOST_TEST(endpoint.Quiet(CompletionScope::kSelectedQp).Ok());
  }
  stop = true;
  other.join();
  worker.join();
}

BOOST_AUTO_TEST_CASE(AFlushForLaterIsDoneOnceTheCounterReachesIt) {
  MemoryRing ring(64);
  HostThread thread;
  const QpTable table = ring.Table();
  ProducerOf<Tuned> endpoint(thread.port, table);
  endpoint.PutValue({8, 1}, uint64_t{1});
  const Posted flush = endpoint.FlushLater();
  endpoint.PutValue({8, 1}, uint64_t{2});
  Completion done;
  BOOST_TEST(!endpoint.Test(flush, &done));
  thread.port.Store<Order::kRelease, Scope::kSystem>(ring.view.completed, flush.confirmed);
  BOOST_TEST(endpoint.Test(flush, &done));
  BOOST_TEST(done.Ok());
  BOOST_TEST(!endpoint.Test(endpoint.FlushLater(), &done));
}

BOOST_AUTO_TEST_CASE(AFailureLeavesWhatCompletedBeforeItGood) {
  MemoryRing ring(64, 0, kHangGuardPs);
  HostThread thread;
  const QpTable table = ring.Table();
  ProducerOf<Tuned> endpoint(thread.port, table);
  const Posted first = endpoint.PutValue({8, 1}, uint64_t{1});
  const Posted second = endpoint.PutValue({8, 1}, uint64_t{2});
  const Completion why{Status::kErrorCompletion, 0x13, 0x88, 7, 0};
  thread.port.Store<Order::kRelease, Scope::kSystem>(ring.view.completed,
                                                     FailureWord(why, first.confirmed));
  BOOST_TEST(endpoint.Wait(first).Ok());
  const Completion failed = endpoint.Wait(second);
  BOOST_TEST((failed.status == Status::kErrorCompletion));
  BOOST_TEST(failed.syndrome == 0x13);
  BOOST_TEST(failed.vendor_syndrome == 0x88);
  BOOST_TEST(failed.wqe_index == first.confirmed);
  // Nor does a full ring keep anybody.
  Posted posted;
  while ((posted = endpoint.PutValue({8, 1}, uint64_t{3})).status.Ok()) {
  }
  BOOST_TEST((posted.status.status == Status::kErrorCompletion));
}

BOOST_AUTO_TEST_CASE(AnIndexOfAFailureIsFoundOnEitherSideOfWhatIsKnown) {
  for (const uint64_t index : {5ull, (1ull << 40) - 2, (1ull << 40) + 3, 3ull << 40}) {
    for (const int64_t off : {-4, 0, 4}) {
      const uint64_t word = FailureWord({Status::kTimeout, 0, 0, 0, 0}, index);
      BOOST_TEST(FailureIn(word, 1, index + static_cast<uint64_t>(off)).wqe_index == index);
    }
  }
}

}  // namespace
}  // namespace ringpost::proxy

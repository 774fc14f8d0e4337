// Processes that share a ring and are killed, at chosen and at random places.
#include <sys/mman.h>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <random>

#include "sim/service/packet_ring.h"
#include "tests/seed.h"
#include "tests/sim/service/child_process.h"
#include "tests/sim/service/numbered_packet.h"

namespace ringpost {
namespace {

using sim::service::PacketRing;
using sim::service::Producer;
using sim::service::RingConsumer;
using sim::service::RingHeader;
using sim::wire::Packet;

constexpr auto kHangGuard = std::chrono::seconds(30);

struct SharedRing {
  static constexpr uint32_t kCells = 512;
  static constexpr size_t kBytes = PacketRing::BytesFor(kCells) + sizeof(std::atomic<uint64_t>);

  void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  RingHeader& header = *static_cast<RingHeader*>(memory);
  PacketRing ring{memory, kCells};
  // A word beside the ring.
  std::atomic<uint64_t>& word = *reinterpret_cast<std::atomic<uint64_t>*>(
      static_cast<char*>(memory) + PacketRing::BytesFor(kCells));
  Packet packet;
  uint16_t source = 0;

  ~SharedRing() { munmap(memory, kBytes); }

  bool PopSoon(RingConsumer& consumer) {
    const auto guard = std::chrono::steady_clock::now() + kHangGuard;
    while (!consumer.Pop(packet, source)) {
      if (std::chrono::steady_clock::now() > guard) return false;
    }
    return true;
  }
};

bool NobodyRuns(Producer) { return false; }

BOOST_FIXTURE_TEST_SUITE(RingDeathTest, SharedRing)

BOOST_AUTO_TEST_CASE(ProducerThatDiesWhileItWritesIsSkipped) {
  ChildProcess child([&] {
    ring.Push(NumberedPacket(1, 1, 8), {1, 1}, 0);
    ring.Reserve(3'000, {1, 1});
    Die();
  });
  BOOST_TEST(child.WasKilled());
  BOOST_TEST(ring.Push(NumberedPacket(2, 2, 8), {2, 1}, 0));
  RingConsumer consumer(ring, NobodyRuns);
  BOOST_TEST(PopSoon(consumer));
  BOOST_TEST((packet == NumberedPacket(1, 1, 8)));
  BOOST_TEST(PopSoon(consumer));
  BOOST_TEST((packet == NumberedPacket(2, 2, 8)));
  BOOST_TEST(consumer.Abandoned() == 1u);
}

// Right after the compare-exchange that reserves: nobody has moved `tail` yet.
void ReserveAndDieAtOnce(PacketRing ring, RingHeader& header) {
  const uint64_t tail = header.tail.load();
  ring.Reserve(3'000, {1, 1});
  header.tail.store(tail);
  Die();
}

BOOST_AUTO_TEST_CASE(NextProducerMovesTheTailForADeadOne) {
  ChildProcess child([&] { ReserveAndDieAtOnce(ring, header); });
  BOOST_TEST(child.WasKilled());
  BOOST_TEST(ring.Push(NumberedPacket(2, 2, 8), {2, 1}, 0));
  RingConsumer consumer(ring, NobodyRuns);
  BOOST_TEST(PopSoon(consumer));
  BOOST_TEST((packet == NumberedPacket(2, 2, 8)));
}

BOOST_AUTO_TEST_CASE(ConsumerMovesTheTailForADeadProducer) {
  ChildProcess child([&] { ReserveAndDieAtOnce(ring, header); });
  BOOST_TEST(child.WasKilled());
  RingConsumer consumer(ring, NobodyRuns);
  while (consumer.Abandoned() == 0) BOOST_REQUIRE(!consumer.Pop(packet, source));
  BOOST_TEST(!consumer.Pop(packet, source));
  BOOST_TEST(ring.Push(NumberedPacket(2, 2, 8), {2, 1}, 0));
  BOOST_TEST(PopSoon(consumer));
  BOOST_TEST((packet == NumberedPacket(2, 2, 8)));
}

BOOST_AUTO_TEST_CASE(ProducersKilledAnywhereLoseNothingOfOthers) {
  std::mt19937_64 random(TestSeed());
  std::atomic<bool> child_runs{false};
  RingConsumer consumer(ring, [&](Producer producer) { return producer.slot == 2 || child_runs; });
  uint64_t own = 0;
  for (int round = 0; round < 40; ++round) {
    child_runs = true;
    ChildProcess child([&] {
      for (uint64_t i = 1;; ++i) ring.Push(NumberedPacket(1, i, i * 37 % 4097), {1, 1}, 0);
    });
    uint64_t last = 0;
    const auto read = [&] {
      BOOST_REQUIRE(IsNumbered(packet));
      if (packet.dest_qpn != 1) return;
      BOOST_REQUIRE(packet.remote_address > last);
      last = packet.remote_address;
    };
    for (uint64_t left = 1 + random() % 300; left > 0; --left) {
      BOOST_REQUIRE(PopSoon(consumer));
      read();
    }
    BOOST_REQUIRE(!child.HasEnded());
    child.Kill();
    child_runs = false;
    // What it left is passed, and the ring is as good as before.
    ++own;
    bool pushed = false;
    const auto guard = std::chrono::steady_clock::now() + kHangGuard;
    for (packet = {}; packet.dest_qpn != 2;) {
      BOOST_REQUIRE(std::chrono::steady_clock::now() < guard);
      if (!pushed) pushed = ring.Push(NumberedPacket(2, own, 64), {2, 1}, 0);
      if (consumer.Pop(packet, source)) read();
    }
    BOOST_REQUIRE(packet.remote_address == own);
    BOOST_REQUIRE(!consumer.Pop(packet, source));
  }
}

BOOST_AUTO_TEST_CASE(SuccessorOfAKilledConsumerGoesOn) {
  std::mt19937_64 random(TestSeed());
  uint64_t number = 0;
  for (int round = 0; round < 40; ++round) {
    word.store(0);
    ChildProcess child([&] {
      RingConsumer consumer(ring, [](Producer) { return true; });
      for (;;) {
        if (!consumer.Pop(packet, source)) continue;
        if (!IsNumbered(packet)) _exit(1);
        word.fetch_add(1);
      }
    });
    const uint64_t wanted = 1 + random() % 300;
    while (word.load() < wanted) {
      BOOST_REQUIRE(!child.HasEnded());
      if (ring.Push(NumberedPacket(1, number + 1, number * 37 % 4097), {1, 1}, 0)) ++number;
    }
    child.Kill();
    RingConsumer successor(ring, [](Producer) { return true; });
    successor.Discard();
    BOOST_REQUIRE(!successor.Pop(packet, source));
    // All cells are free again: the largest packets go through several laps.
    for (int i = 0; i < 40; ++i) {
      ++number;
      BOOST_REQUIRE(ring.Push(NumberedPacket(1, number, 4096), {1, 1}, 0));
      BOOST_REQUIRE(successor.Pop(packet, source));
      BOOST_REQUIRE((packet == NumberedPacket(1, number, 4096)));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace ringpost

#include "sim/service/packet_ring.h"

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "tests/seed.h"
#include "tests/sim/service/numbered_packet.h"
#include "tests/sim/wire/random_packet.h"

namespace ringpost {
namespace {

using sim::service::PacketRing;
using sim::service::Producer;
using sim::service::RingCell;
using sim::service::RingConsumer;
using sim::service::RingWord;
using sim::wire::Packet;

constexpr Producer kProducer{3, 9};
constexpr auto kHangGuard = std::chrono::seconds(30);

struct Ring {
  static constexpr uint32_t kCells = 512;

  std::vector<RingCell> memory{PacketRing::BytesFor(kCells) / sizeof(RingCell)};
  PacketRing ring{memory.data(), kCells};
  bool producers_run = true;
  RingConsumer consumer{ring, [this](Producer) { return producers_run; }};
  Packet packet;
  uint16_t source = 0;

  bool Pop() { return consumer.Pop(packet, source); }
};

BOOST_FIXTURE_TEST_SUITE(PacketRingTest, Ring)

BOOST_AUTO_TEST_CASE(WordKeepsItsFields) {
  const RingWord word{RingWord::kCommitted, 1023, {255, 65535}, RingWord::kLapMask};
  BOOST_TEST((RingWord::Of(word.Bits()) == word));
  BOOST_TEST(RingWord::Free(0) == 0u);
  BOOST_TEST(RingWord::Free(RingWord::kLapMask + 1) == 0u);
}

BOOST_AUTO_TEST_CASE(PacketsOfEverySizeComeOutAsTheyWentInOverManyLaps) {
  std::mt19937_64 random(TestSeed());
  const auto opcodes = AllOpcodes();
  std::vector<Packet> sent;
  for (int i = 0; i < 5'000; ++i) {
    sent.clear();
    for (uint64_t n = random() % 4; n > 0; --n) {
      sent.push_back(RandomPacket(random, opcodes[random() % opcodes.size()], 4096));
      BOOST_REQUIRE(ring.Push(sent.back(), kProducer, static_cast<uint16_t>(n)));
    }
    uint64_t n = sent.size();
    for (const Packet& expected : sent) {
      BOOST_REQUIRE(Pop());
      BOOST_REQUIRE((packet == expected));
      BOOST_REQUIRE(source == n--);
    }
    BOOST_REQUIRE(!Pop());
  }
  BOOST_TEST(ring.Dropped() == 0u);
}

BOOST_AUTO_TEST_CASE(FullRingDropsCountsAndRecovers) {
  for (int lap = 0; lap < 10; ++lap) {
    uint64_t accepted = 0;
    while (ring.Push(NumberedPacket(1, accepted, 8), kProducer, 0)) ++accepted;
    BOOST_TEST(accepted > kCells / 2);
    BOOST_TEST(ring.Dropped() == static_cast<uint64_t>(lap) + 1);
    for (uint64_t i = 0; i < accepted; ++i) {
      BOOST_REQUIRE(Pop());
      BOOST_REQUIRE((packet == NumberedPacket(1, i, 8)));
    }
    BOOST_TEST(!Pop());
  }
}

BOOST_AUTO_TEST_CASE(ReservationOfARunningProducerIsWaitedFor) {
  const auto reservation = ring.Reserve(8, kProducer);
  BOOST_REQUIRE(reservation.has_value());
  BOOST_TEST(ring.Push(NumberedPacket(1, 5, 8), kProducer, 0));
  for (int i = 0; i < 100'000; ++i) BOOST_REQUIRE(!Pop());
  producers_run = false;  // from here on it counts as dead
  for (int i = 0; i < 100'000 && !Pop(); ++i) {
  }
  BOOST_TEST((packet == NumberedPacket(1, 5, 8)));
  BOOST_TEST(consumer.Abandoned() == 1u);
}

BOOST_AUTO_TEST_CASE(RecordThatHoldsNoPacketIsCountedAndPassed) {
  const auto reservation = ring.Reserve(8, kProducer);
  BOOST_REQUIRE(reservation.has_value());
  for (RingCell& cell : memory) std::fill(std::begin(cell.bytes), std::end(cell.bytes), 0xff);
  ring.Commit(*reservation);
  BOOST_TEST(!Pop());
  BOOST_TEST(consumer.Corrupt() == 1u);
  BOOST_TEST(ring.Push(NumberedPacket(1, 5, 8), kProducer, 0));
  BOOST_TEST(Pop());
}

BOOST_AUTO_TEST_CASE(NewOwnerReadsNothingThatWasThereBefore) {
  for (uint64_t i = 0; i < 20; ++i) ring.Push(NumberedPacket(1, i, 300), kProducer, 0);
  BOOST_TEST(Pop());
  RingConsumer successor(ring, [](Producer) { return false; });
  successor.Discard();
  BOOST_TEST(!successor.Pop(packet, source));
  BOOST_TEST(ring.Push(NumberedPacket(2, 1, 300), kProducer, 0));
  BOOST_TEST(successor.Pop(packet, source));
  BOOST_TEST((packet == NumberedPacket(2, 1, 300)));
}

BOOST_AUTO_TEST_CASE(ThreadsLoseNothingButWhatWasCountedAndKeepTheirOrder) {
  constexpr int kThreads = 3;
  constexpr uint64_t kPackets = 20'000;
  std::atomic<uint64_t> dropped{0};
  std::atomic<int> running{kThreads};
  std::vector<std::thread> threads;
  for (uint32_t sender = 0; sender < kThreads; ++sender) {
    threads.emplace_back([&, sender] {
      std::mt19937_64 random(TestSeed() + sender);
      for (uint64_t i = 1; i <= kPackets; ++i) {
        const size_t bytes = random() % 8 == 0 ? random() % 4097 : random() % 40;
        const Producer producer{static_cast<uint8_t>(sender), 1};
        if (!ring.Push(NumberedPacket(sender, i, bytes), producer, 0)) {
          ++dropped;
          std::this_thread::yield();
        }
      }
      --running;
    });
  }
  uint64_t received = 0;
  uint64_t last[kThreads] = {};
  for (;;) {
    const bool all_sent = running == 0;
    if (!Pop()) {
      if (all_sent) break;
      std::this_thread::yield();
      continue;
    }
    ++received;
    BOOST_REQUIRE(IsNumbered(packet));
    BOOST_REQUIRE(packet.remote_address > last[packet.dest_qpn]);
    last[packet.dest_qpn] = packet.remote_address;
  }
  for (std::thread& thread : threads) thread.join();
  BOOST_TEST(received + dropped == kThreads * kPackets);
  BOOST_TEST(ring.Dropped() == dropped);
}

BOOST_AUTO_TEST_CASE(SleeperIsWokenByEachPacket) {
  constexpr uint64_t kPackets = 2'000;
  ring.Doorbell().AllowSleep(true);
  std::atomic<uint64_t> read{0};
  std::thread producer([&] {
    for (uint64_t i = 0; i < kPackets; ++i) {
      while (read.load() < i) std::this_thread::yield();  // so that the other side goes to sleep
      ring.Push(NumberedPacket(1, i, 8), kProducer, 0);
    }
  });
  // A wake-up that was lost costs the whole guard.
  const auto guard = std::chrono::steady_clock::now() + kHangGuard;
  while (read.load() < kPackets && std::chrono::steady_clock::now() < guard) {
    if (Pop()) {
      ++read;
    } else {
      consumer.Sleep(2 * kHangGuard);
    }
  }
  BOOST_TEST(read.load() == kPackets);
  producer.join();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace ringpost

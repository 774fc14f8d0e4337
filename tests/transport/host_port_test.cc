#include "transport/host_port.h"

#include <boost/test/unit_test.hpp>
#include <thread>
#include <vector>

namespace ringpost {
namespace {

constexpr uint64_t kPicosecondsPerSecond = 1'000'000'000'000;
constexpr uint64_t kHangGuard = 30 * kPicosecondsPerSecond;

template <class T>
Ref<T> RefTo(T& word) {
  return {reinterpret_cast<uint64_t>(&word)};
}

// Runs body(port) on one thread for each lane of a warp.
template <class Body>
void OnWarp(uint32_t lanes, Body&& body) {
  HostWarp warp(lanes);
  std::vector<std::thread> threads;
  for (uint32_t lane = 0; lane < lanes; ++lane) {
    threads.emplace_back([&, lane] {
      HostPort port(warp, lane);
      body(port);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

struct OneLane {
  HostWarp warp{1};
  HostPort port{warp, 0};
};

BOOST_AUTO_TEST_SUITE(HostPortTest)

BOOST_FIXTURE_TEST_CASE(UpdatesReturnTheOldValue, OneLane) {
  alignas(8) uint64_t word = 5;
  BOOST_TEST((port.FetchAdd<Order::kRelaxed, Scope::kGpu>(RefTo(word), 3)) == 5u);
  BOOST_TEST((port.Exchange<Order::kAcqRel, Scope::kGpu>(RefTo(word), 40)) == 8u);
  BOOST_TEST((port.CompareExchange<Order::kAcqRel, Scope::kGpu>(RefTo(word), 39, 1)) == 40u);
  BOOST_TEST(word == 40u);
  BOOST_TEST((port.CompareExchange<Order::kAcqRel, Scope::kGpu>(RefTo(word), 40, 1)) == 40u);
  BOOST_TEST(word == 1u);
}

BOOST_FIXTURE_TEST_CASE(RaiseToNeverLowersAWord, OneLane) {
  alignas(8) uint64_t word = 10;
  port.RaiseTo<Order::kRelaxed, Scope::kGpu>(RefTo(word), 7);
  BOOST_TEST(word == 10u);
  BOOST_TEST((port.FetchMax<Order::kRelaxed, Scope::kGpu>(RefTo(word), 12)) == 10u);
  BOOST_TEST(word == 12u);
}

BOOST_FIXTURE_TEST_CASE(WordsOfFourBytesLeaveTheirNeighbourAlone, OneLane) {
  alignas(8) uint32_t words[2] = {1, 2};
  port.Store<Order::kRelease, Scope::kSystem>(RefTo(words[0]), 0xffffffff);
  BOOST_TEST((port.FetchAdd<Order::kRelaxed, Scope::kSystem>(RefTo(words[0]), 1)) == 0xffffffff);
  BOOST_TEST(words[0] == 0u);
  BOOST_TEST(words[1] == 2u);
}

BOOST_FIXTURE_TEST_CASE(PayloadOfAnyLengthAndAlignmentIsCopied, OneLane) {
  std::vector<uint8_t> memory(64, 0xee);
  const uint64_t address = reinterpret_cast<uint64_t>(memory.data()) + 3;
  const char text[] = "seven..";
  port.StorePayload(address, text, 7);
  port.StorePayload(address + 20, nullptr, 0);
  char back[7] = {};
  port.LoadPayload(back, address, 7);
  BOOST_TEST(std::string(back, 7) == std::string(text, 7));
  BOOST_TEST(int{memory[2]} == 0xee);
  BOOST_TEST(int{memory[10]} == 0xee);
}

struct Ring : OneLane {
  alignas(64) abi::Segment slots[8 * abi::kSegmentsPerWqebb] = {};
  alignas(8) uint32_t record[2] = {};
  alignas(8) uint64_t doorbell = 0;
  alignas(64) uint64_t cqe[8] = {};
  QpView qp;

  Ring() {
    qp.sq = reinterpret_cast<uint64_t>(slots);
    qp.record = reinterpret_cast<uint64_t>(record);
    qp.doorbell = reinterpret_cast<uint64_t>(&doorbell);
    qp.cq = reinterpret_cast<uint64_t>(cqe);
    qp.depth = 8;
  }
};

BOOST_FIXTURE_TEST_CASE(WqeWrapsAtTheEndOfTheRingBySegments, Ring) {
  abi::Segment wqe[6];
  for (uint32_t i = 0; i < 6; ++i) wqe[i] = {{i + 1, 0, 0, 0}};
  port.StoreWqe(qp, 15, wqe, 6);
  BOOST_TEST(slots[28].word[0] == 1u);
  BOOST_TEST(slots[31].word[0] == 4u);
  BOOST_TEST(slots[0].word[0] == 5u);
  BOOST_TEST(slots[1].word[0] == 6u);
  BOOST_TEST(slots[2].word[0] == 0u);
}

BOOST_FIXTURE_TEST_CASE(RecordIsBigEndianInItsSecondWord, Ring) {
  port.StoreDoorbellRecord<Order::kRelaxed, Scope::kGpu>(qp, 0x1234);
  BOOST_TEST(record[0] == 0u);
  BOOST_TEST(record[1] == 0x34120000u);
}

BOOST_FIXTURE_TEST_CASE(DoorbellIsOneStoreOfTheValueGiven, Ring) {
  port.RingDoorbell<Order::kRelease, Scope::kSystem>(qp, 0x0102030405060708);
  BOOST_TEST(doorbell == 0x0102030405060708u);
}

BOOST_FIXTURE_TEST_CASE(CqeWordsAreTheLastTwo, Ring) {
  cqe[6] = 66;
  cqe[7] = 77;
  BOOST_TEST(port.LoadCqeError(qp.cq, 0) == 66u);
  BOOST_TEST(port.LoadCqeTail(qp.cq, 0) == 77u);
}

BOOST_FIXTURE_TEST_CASE(RelaxEndsAtTheDeadline, OneLane) {
  BOOST_TEST(!port.Relax(0));
  BOOST_TEST(!port.Relax(port.Now()));
  BOOST_TEST(port.Relax(~0ull));
}

BOOST_AUTO_TEST_CASE(RelaxEndsWhenTheRunIsStopped) {
  HostWarp warp(1);
  std::atomic<bool> stop{false};
  HostPort port(warp, 0, &stop);
  BOOST_TEST(port.Relax(~0ull));
  stop = true;
  BOOST_TEST(!port.Relax(~0ull));
}

BOOST_FIXTURE_TEST_CASE(TimeNeverRunsBackwards, OneLane) {
  uint64_t last = port.Now();
  for (int i = 0; i < 1000; ++i) {
    const uint64_t now = port.Now();
    BOOST_TEST(now >= last);
    last = now;
  }
}

BOOST_FIXTURE_TEST_CASE(OneLaneIsAWholeWarp, OneLane) {
  BOOST_TEST(port.WarpSize() == 1u);
  BOOST_TEST(port.Lane() == 0u);
  BOOST_TEST(port.Shuffle(9, 0) == 9u);
  BOOST_TEST(port.Ballot(true) == 1u);
  BOOST_TEST(port.Ballot(false) == 0u);
}

BOOST_AUTO_TEST_CASE(ShuffleGivesEveryLaneTheValueOfTheSource) {
  std::atomic<int> wrong{0};
  OnWarp(4, [&](HostPort& port) {
    for (uint64_t round = 0; round < 200; ++round) {
      const uint32_t source = round % 4;
      if (port.Shuffle(100 * round + port.Lane(), source) != 100 * round + source) ++wrong;
    }
  });
  BOOST_TEST(wrong == 0);
}

BOOST_AUTO_TEST_CASE(BallotHasOneBitForEachLane) {
  std::atomic<int> wrong{0};
  OnWarp(4, [&](HostPort& port) {
    for (uint32_t round = 0; round < 200; ++round) {
      const bool vote = ((round >> port.Lane()) & 1) != 0;
      if (port.Ballot(vote) != (round & 0xf)) ++wrong;
    }
  });
  BOOST_TEST(wrong == 0);
}

BOOST_AUTO_TEST_CASE(SyncWarpOrdersPlainAccessesOfAllLanes) {
  uint64_t cells[4] = {};
  std::atomic<int> wrong{0};
  OnWarp(4, [&](HostPort& port) {
    for (uint64_t round = 1; round <= 200; ++round) {
      cells[port.Lane()] = round;
      port.SyncWarp();
      for (uint64_t cell : cells) wrong += cell != round;
      port.SyncWarp();
    }
  });
  BOOST_TEST(wrong == 0);
}

// One lane sends numbered messages, the other takes each; `send` and `receive` say how the flag is
// stored and what follows after it was seen.
template <class Send, class Receive>
int MessagesLost(Send&& send, Receive&& receive) {
  constexpr uint64_t kMessages = 2000;
  alignas(64) uint64_t flag = 0;
  alignas(64) uint64_t taken = 0;
  uint64_t payload = 0;
  std::atomic<int> lost{0};
  OnWarp(2, [&](HostPort& port) {
    const uint64_t deadline = port.Now() + kHangGuard;
    for (uint64_t i = 1; i <= kMessages; ++i) {
      if (port.Lane() == 0) {
        payload = 3 * i;
        send(port, RefTo(flag), i);
        while (port.Load<Order::kAcquire, Scope::kSystem>(RefTo(taken)) != i) {
          if (!port.Relax(deadline)) return void(++lost);
        }
      } else {
        while (port.Load<Order::kRelaxed, Scope::kSystem>(RefTo(flag)) != i) {
          if (!port.Relax(deadline)) return void(++lost);
        }
        receive(port);
        if (payload != 3 * i) ++lost;
        port.Store<Order::kRelease, Scope::kSystem>(RefTo(taken), i);
      }
    }
  });
  return lost;
}

BOOST_AUTO_TEST_CASE(ReleaseStoreAndAcquireFencePassAMessage) {
  const auto send = [](HostPort& port, Ref<uint64_t> flag, uint64_t i) {
    port.Store<Order::kRelease, Scope::kSystem>(flag, i);
  };
  const auto receive = [](HostPort& port) { port.Fence<Order::kAcquire, Scope::kSystem>({}); };
  BOOST_TEST(MessagesLost(send, receive) == 0);
}

BOOST_AUTO_TEST_CASE(FenceAndRelaxedStorePassAMessage) {
  const auto send = [](HostPort& port, Ref<uint64_t> flag, uint64_t i) {
    port.Fence<Order::kSeqCst, Scope::kSystem>({});
    port.Store<Order::kRelaxed, Scope::kSystem>(flag, i);
  };
  const auto receive = [](HostPort& port) { port.Fence<Order::kAcquire, Scope::kSystem>({}); };
  BOOST_TEST(MessagesLost(send, receive) == 0);
}

BOOST_AUTO_TEST_CASE(FenceAndUpdatePassAMessage) {
  const auto send = [](HostPort& port, Ref<uint64_t> flag, uint64_t i) {
    port.Fence<Order::kAcqRel, Scope::kGpu>({});
    port.CompareExchange<Order::kRelaxed, Scope::kGpu>(flag, i - 1, i);
  };
  const auto receive = [](HostPort& port) { port.Fence<Order::kAcquire, Scope::kGpu>({}); };
  BOOST_TEST(MessagesLost(send, receive) == 0);
}

BOOST_AUTO_TEST_CASE(NoUpdateOfASharedWordIsLost) {
  alignas(64) uint64_t sum = 0;
  alignas(64) uint64_t largest = 0;
  OnWarp(4, [&](HostPort& port) {
    for (uint64_t i = 0; i < 5000; ++i) {
      port.FetchAdd<Order::kRelaxed, Scope::kGpu>(RefTo(sum), 1);
      port.RaiseTo<Order::kRelaxed, Scope::kGpu>(RefTo(largest), 4 * i + port.Lane());
    }
  });
  BOOST_TEST(sum == 20000u);
  BOOST_TEST(largest == 4u * 4999 + 3);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace ringpost

// The agent and its client, with 32 host threads as the agent's warp and host memory as the GPU's.
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "sim/service/device_route.h"
#include "tests/seed.h"
#include "transport/abi/byte_order.h"
#include "transport/host_port.h"
#include "transport/host_warp.h"
#include "transport/memory/agent_client.h"
#include "transport/memory/agent_loop.h"

namespace ringpost {
namespace {

// `starts` says how many agents there have been.
class HostAgentRuntime final : public AgentRuntime {
 public:
  HostAgentRuntime(uint64_t lease_ps, std::atomic<int>* starts)
      : lease_ps_(lease_ps), starts_(*starts) {}
  ~HostAgentRuntime() override {
    Join();
    for (void* memory : taken_) std::free(memory);
  }
  Result<uint64_t> Take(uint64_t bytes) override {
    void* const memory = std::aligned_alloc(128, (bytes + 127) / 128 * 128);
    std::memset(memory, 0, bytes);
    taken_.push_back(memory);
    return reinterpret_cast<uint64_t>(memory);
  }
  std::string Start(AgentMailbox* mailbox, uint64_t done) override {
    Join();
    ++starts_;
    left_.store(AgentMailbox::kWords);
    warp_ = std::make_unique<HostWarp>(AgentMailbox::kWords);
    for (uint32_t lane = 0; lane < AgentMailbox::kWords; ++lane) {
      threads_.emplace_back([this, mailbox, done, lane] {
        HostPort port(*warp_, lane);
        AgentLoop<HostPort>(port, mailbox).Run(done, lease_ps_);
        left_.fetch_sub(1);
      });
    }
    return {};
  }
  bool Runs() override { return left_.load() != 0; }

 private:
  void Join() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  const uint64_t lease_ps_;
  std::atomic<int>& starts_;
  std::vector<void*> taken_;
  std::unique_ptr<HostWarp> warp_;
  std::atomic<uint32_t> left_{0};
  std::vector<std::thread> threads_;
};

struct Agent {
  explicit Agent(uint64_t lease_ps = 10'000'000'000'000)
      : access(std::move(
            AgentClient::Open(std::make_unique<HostAgentRuntime>(lease_ps, &starts)).Value())) {}
  std::atomic<int> starts{0};
  std::unique_ptr<DeviceAccess> access;
};

template <class T>
uint64_t At(const T& object) {
  return reinterpret_cast<uint64_t>(&object);
}

std::vector<uint8_t> RandomBytes(uint64_t count) {
  std::mt19937_64 random(TestSeed() + count);
  std::vector<uint8_t> bytes(count);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  return bytes;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(AgentTest)

BOOST_AUTO_TEST_CASE(BytesOfEveryLengthAndAlignmentArriveAndComeBack) {
  Agent agent;
  alignas(16) static uint8_t memory[20'000];
  for (const uint64_t size : {1, 8, 12, 63, 112, 113, 128, 129, 4097}) {
    for (const uint64_t offset : {0, 1, 4}) {
      std::memset(memory, 0xee, sizeof(memory));
      const std::vector<uint8_t> bytes = RandomBytes(size);
      std::vector<uint8_t> back(size);
      BOOST_TEST_REQUIRE(agent.access->Write(At(memory) + 32 + offset, bytes.data(), size));
      BOOST_TEST_REQUIRE(agent.access->Read(At(memory) + 32 + offset, back.data(), size));
      BOOST_TEST((back == bytes), size << " bytes at " << offset);
      BOOST_TEST(memory[32 + offset - 1] == 0xee);
      BOOST_TEST(memory[32 + offset + size] == 0xee);
    }
  }
}

BOOST_AUTO_TEST_CASE(MoreWritesThanTheMailboxHoldsArriveInOrder) {
  Agent agent;
  alignas(8) static uint64_t words[2];
  for (uint64_t i = 1; i <= 70; ++i) {
    BOOST_TEST_REQUIRE(agent.access->Write(At(words), &i, sizeof(i)));
  }
  BOOST_TEST_REQUIRE(agent.access->Settle());
  BOOST_TEST(words[0] == 70u);
}

BOOST_AUTO_TEST_CASE(ACompareSwapStoresOnlyWhereTheWordIsAsExpected) {
  Agent agent;
  alignas(8) static uint64_t word = 0x1'0000'0005;
  uint64_t expected = 5;
  BOOST_TEST_REQUIRE(agent.access->CompareSwap(At(word), 8, &expected, 9));
  BOOST_TEST(expected == 0x1'0000'0005u);
  BOOST_TEST(word == 0x1'0000'0005u);
  BOOST_TEST_REQUIRE(agent.access->CompareSwap(At(word), 8, &expected, 0x2'0000'0009));
  BOOST_TEST(word == 0x2'0000'0009u);
  expected = 9;
  BOOST_TEST_REQUIRE(agent.access->CompareSwap(At(word), 4, &expected, 11));
  BOOST_TEST(word == 0x2'0000'000bu);
}

BOOST_AUTO_TEST_CASE(AnAtomicOfTheNicIsCarriedOutOnce) {
  Agent agent;
  alignas(8) static uint64_t word = 40;
  const auto next = [](const void* addend, uint64_t old) {
    return old + *static_cast<const uint64_t*>(addend);
  };
  const uint64_t addend = 2;
  uint64_t original = 0;
  BOOST_TEST(
      sim::service::DeviceRoute::Modify(*agent.access, At(word), 8, next, &addend, &original));
  BOOST_TEST(original == 40u);
  BOOST_TEST(word == 42u);
  BOOST_TEST(
      !sim::service::DeviceRoute::Modify(*agent.access, At(word) + 4, 8, next, &addend, &original));
}

BOOST_AUTO_TEST_CASE(ARecordBringsTheBlocksThatItAnnouncesAlsoWhereTheRingWraps) {
  constexpr uint32_t kDepth = 16;
  Agent agent;
  alignas(64) static uint64_t ring[kDepth][8];
  alignas(8) static uint32_t record[2];
  agent.access->Watch({At(record[1]), At(ring), kDepth});
  uint32_t posted = 0;
  for (const uint32_t count : {1, 5, 0, 16, 1, 1, 7, 16, 13}) {
    for (uint32_t i = 0; i < count; ++i) ring[(posted + i) % kDepth][3] = 1000 + posted + i;
    std::atomic_ref<uint32_t>(record[1]).store(abi::Swap32((posted + count) & 0xffff));
    uint32_t word = 0;
    BOOST_TEST_REQUIRE(agent.access->ReadRecord(At(record[1]), &word));
    BOOST_TEST(abi::Swap32(word) == posted + count);
    // What is written now is of the next lap: the NIC must not see it in place of this one.
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t slot = (posted + i) % kDepth;
      ring[slot][3] = 7;
      uint64_t block[8] = {};
      BOOST_TEST_REQUIRE(agent.access->Read(At(ring[slot]), block, sizeof(block)));
      BOOST_TEST(block[3] == 1000 + posted + i);
    }
    posted += count;
  }
  agent.access->Unwatch(At(record[1]));
  uint64_t block[8] = {};
  BOOST_TEST_REQUIRE(agent.access->Read(At(ring[0]), block, sizeof(block)));
  BOOST_TEST(block[3] == 7u);
}

BOOST_AUTO_TEST_CASE(AnAgentThatWasIdleForTooLongIsStartedAgain) {
  Agent agent(AgentRuntime::kLeasePs);
  alignas(8) static uint64_t word;
  for (uint64_t i = 1; i <= 3; ++i) {
    BOOST_TEST_REQUIRE(agent.access->Write(At(word), &i, sizeof(i)));
    uint64_t back = 0;
    BOOST_TEST_REQUIRE(agent.access->Read(At(word), &back, sizeof(back)));
    BOOST_TEST(back == i);
    const int before = agent.starts;
    // Longer than the lease; where its threads wait for cores, the agent ends later still.
    const auto guard = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    do {
      std::this_thread::sleep_for(std::chrono::milliseconds(60));
      const uint64_t again = i + 100;
      BOOST_TEST_REQUIRE(agent.access->Write(At(word), &again, sizeof(again)));
      BOOST_TEST_REQUIRE(agent.access->Settle());
      BOOST_TEST(word == again);
    } while (agent.starts == before && std::chrono::steady_clock::now() < guard);
    BOOST_TEST(agent.starts > before);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace ringpost

// What a NIC writes down of itself, and what is read of it afterwards.
#include "sim/service/observer.h"

#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "sim/nic/bring_up.h"
#include "sim/service/nic_loop.h"
#include "sim/service/packet_log.h"
#include "sim/service/packet_port.h"
#include "sim/service/read_observation.h"
#include "transport/abi/byte_order.h"
#include "transport/abi/cqe.h"
#include "transport/abi/wqe.h"

namespace ringpost::sim::service {
namespace {

struct InFolder {
  InFolder() : path((std::filesystem::temp_directory_path() / Name()).string()) {
    std::filesystem::remove(path);
  }
  ~InFolder() { std::filesystem::remove(path); }
  static std::string Name() {
    static int made = 0;
    return "observer_test_" + std::to_string(getpid()) + "_" + std::to_string(made++);
  }
  const std::string path;
};

wire::Packet PacketWith(uint32_t dest_qpn, uint32_t psn, size_t bytes) {
  wire::Packet packet;
  packet.opcode = wire::Opcode::kRcWriteOnly;
  packet.dest_qpn = dest_qpn;
  packet.psn = psn;
  packet.payload.assign(bytes, static_cast<uint8_t>(psn));
  packet.dma_length = static_cast<uint32_t>(bytes);
  return packet;
}

class NoPort final : public PacketPort {
 public:
  bool Send(const Address&, const wire::Packet&) override { return false; }
  bool Poll(Arrival&) override { return false; }
  void Sleep(std::chrono::nanoseconds) override {}
  PortCounters Counters() const override { return {}; }
};

// A NIC whose turns a test makes, with a QP that takes NOPs.
struct Loop {
  static constexpr uint32_t kBlocks = 8;
  struct alignas(4096) Memory {
    uint64_t page[512] = {};
    uint32_t ring[kBlocks][16] = {};
    uint8_t cqes[kBlocks][abi::kCqeBytes] = {};
    uint32_t record[2] = {};
  };

  explicit Loop(const std::string& path)
      : loop({.slot = 1}, std::make_unique<NoPort>(), {},
             {.observer = {{.path = path, .steps = 64}}}) {
    loop.Memory().Allow(At(memory), sizeof(Memory));
    const Created cq =
        loop.CreateCq({.ring = At(memory.cqes), .entries = kBlocks}, At(memory.page));
    RnicQpConfig config;
    config.pd = loop.Function().Keys().AllocatePd();
    config.send_cq = config.receive_cq = cq.number;
    config.sq = At(memory.ring);
    config.sq_wqebbs = kBlocks;
    config.record = At(memory.record);
    const Created qp = loop.CreateQp(config, At(memory.page));
    BOOST_REQUIRE_MESSAGE(qp.Ok(), qp.refusal);
    qpn = qp.number;
    Turn();  // zeros are a doorbell that was not seen yet
  }
  template <class T>
  static uint64_t At(T& object) {
    return reinterpret_cast<uint64_t>(&object);
  }
  std::string Ready() {
    return BringUp(UsualAttributes({}, qpn, {}), [this](const QpAttributes& to, uint32_t mask) {
      return loop.ModifyQp(qpn, to, mask);
    });
  }
  void Post() {
    uint32_t* words = memory.ring[posted % kBlocks];
    words[0] = abi::Swap32(posted << 8);
    words[1] = abi::Swap32(qpn << 8 | 1);
    words[2] = abi::Swap32(abi::kCqeAlways);
    ++posted;
  }
  void Record() { memory.record[1] = abi::Swap32(posted); }
  void Ring() { memory.page[0x800 / 8] = posted; }
  // Each comes when all second looks of those before are due.
  void Turn() {
    now += 10 * DoorbellPages::kSecondLook;
    loop.Turn(now);
  }

  Memory memory;
  NicLoop loop;
  NicLoop::Time now{std::chrono::seconds(1)};
  uint32_t qpn = 0;
  uint32_t posted = 0;
};

BOOST_AUTO_TEST_SUITE(ObserverTest)

BOOST_FIXTURE_TEST_CASE(ARecordThatTrailsItsDoorbellIsToldFromOneThatIsRung, InFolder) {
  {
    auto made = std::make_unique<Loop>(path);
    Loop& nic = *made;
    nic.Post();
    nic.Record();  // before the QP can send
    BOOST_REQUIRE(nic.Ready() == "");
    nic.Turn();
    nic.Post();
    nic.Post();
    nic.Record();
    nic.Ring();
    nic.Turn();
    nic.Turn();
    nic.Post();
    nic.Ring();
    nic.Turn();
    nic.Record();
    nic.Turn();
    BOOST_TEST(nic.loop.Count().announced == 4u);
    BOOST_TEST(nic.loop.Count().trailed == 1u);
  }
  const Result<ObservedNic> read = ReadObservation(path);
  BOOST_REQUIRE(read.Ok());
  const ObservedNic& nic = read.Value();
  BOOST_REQUIRE(nic.qps.size() == 1u);
  const QpCounters& counters = nic.qps[0].counters;
  BOOST_TEST(counters.doorbells == 1u);
  BOOST_TEST(counters.records_trailed == 1u);
  BOOST_TEST(counters.blocks_announced == 4u);
  BOOST_TEST(counters.wqes == 4u);
  BOOST_TEST(counters.cqes == 4u);
  std::vector<StepKind> announced;
  for (const ObservedStep& step : nic.steps) {
    if (step.kind <= StepKind::kUnrung) announced.push_back(step.kind);
  }
  const std::vector<StepKind> expected = {StepKind::kUnrung, StepKind::kDoorbell,
                                          StepKind::kTrailed};
  BOOST_TEST((announced == expected));
}

BOOST_FIXTURE_TEST_CASE(ANicWithoutAQpLeavesNoFile, InFolder) {
  {
    Observer observer({.path = path, .steps = 16});
    observer.BeginCounts();
    observer.Count("wqes", 1);
    observer.EndCounts();
  }
  BOOST_TEST(!std::filesystem::exists(path));
}

BOOST_FIXTURE_TEST_CASE(CountersAndStepsAreReadAgain, InFolder) {
  {
    Observer observer({.path = path, .steps = 16, .device = "mlx5_3", .device_number = 3});
    observer.MakeQp(0x10100);
    observer.Connect(0x10100, 0x20100);
    SendWqe wqe{};
    wqe.opcode = abi::Opcode::kRdmaWrite;
    wqe.bytes = 8;
    observer.Announced(StepKind::kDoorbell, 0x10100, 7, 9, Observer::Now());
    observer.Announced(StepKind::kTrailed, 0x10100, 9, 10, Observer::Now());
    observer.Fetched(0x10100, 7, wqe, Observer::Now());
    observer.Sent(0x10100, 7, true, PacketWith(0x20100, 5, 8), Observer::Now());
    observer.Received(PacketWith(0x10100, 6, 16), Observer::Now());
    abi::Cqe cqe{};
    cqe.sop_drop_qpn = abi::Swap32(0x10100);
    cqe.wqe_counter = abi::Swap16(7);
    cqe.op_own = static_cast<uint8_t>(static_cast<int>(abi::CqeOpcode::kRequesterError) << 4);
    reinterpret_cast<uint8_t*>(&cqe)[abi::kErrorSyndromeOffset] = 0x13;
    observer.Completed(&cqe);
    observer.BeginCounts();
    observer.Count("wqes", 1);
    observer.EndCounts();
  }
  const Result<ObservedNic> read = ReadObservation(path);
  BOOST_REQUIRE(read.Ok());
  const ObservedNic& nic = read.Value();
  BOOST_TEST(nic.pid == getpid());
  BOOST_TEST(nic.device == "mlx5_3");
  BOOST_TEST(nic.device_number == 3);
  BOOST_REQUIRE(nic.counters.size() == 1u);
  BOOST_TEST(nic.counters[0].first == "wqes");
  BOOST_TEST(nic.counters[0].second == 1u);
  BOOST_REQUIRE(nic.qps.size() == 1u);
  BOOST_TEST(nic.qps[0].peer_qpn == 0x20100u);
  const QpCounters& counters = nic.qps[0].counters;
  BOOST_TEST(counters.doorbells == 1u);
  BOOST_TEST(counters.records_trailed == 1u);
  BOOST_TEST(counters.blocks_announced == 3u);
  BOOST_TEST(counters.packets_retransmitted == 1u);
  BOOST_TEST(counters.packets_received == 1u);
  BOOST_TEST(counters.error_cqes == 1u);
  BOOST_REQUIRE(nic.steps.size() == 6u);
  BOOST_TEST(nic.steps_lost == 0u);
  BOOST_TEST((nic.steps[1].kind == StepKind::kTrailed));
  BOOST_TEST(nic.steps[2].size == 8u);
  BOOST_TEST(nic.steps[5].syndrome == 0x13);
  BOOST_TEST(nic.steps[5].wqe == 7u);
  for (size_t i = 1; i < 6; ++i) BOOST_TEST(nic.steps[i - 1].begin_ns <= nic.steps[i].begin_ns);
}

BOOST_FIXTURE_TEST_CASE(AFullRingHasTheLastStepsInOrder, InFolder) {
  {
    Observer observer({.path = path, .steps = 8});
    observer.MakeQp(0x10100);
    for (uint64_t i = 0; i < 100; ++i) observer.Announced(StepKind::kUnrung, 0x10100, i, i + 1, 1);
  }
  const Result<ObservedNic> read = ReadObservation(path);
  BOOST_REQUIRE(read.Ok());
  const std::vector<ObservedStep>& steps = read.Value().steps;
  BOOST_REQUIRE(steps.size() == 7u);
  for (size_t i = 0; i < steps.size(); ++i) BOOST_TEST(steps[i].wqe == 93 + i);
  BOOST_TEST(read.Value().steps_lost == 93u);
}

BOOST_FIXTURE_TEST_CASE(QpsBeyondTheTableAreCountedAndNotListed, InFolder) {
  {
    Observer observer({.path = path, .qps = 2});
    for (uint32_t qpn = 1; qpn <= 5; ++qpn) observer.MakeQp(qpn);
    observer.TimedOut(5);
    observer.TimedOut(2);
  }
  const Result<ObservedNic> read = ReadObservation(path);
  BOOST_REQUIRE(read.Ok());
  BOOST_TEST(read.Value().qps.size() == 2u);
  BOOST_TEST(read.Value().qps[1].counters.timeouts == 1u);
  BOOST_TEST(read.Value().qps_not_listed == 3u);
}

BOOST_AUTO_TEST_CASE(AFileThatCannotBeMadeIsAFailureAndNoMore) {
  std::vector<std::string> told;
  Observer observer({.path = "/no/such/folder/file",
                     .steps = 8,
                     .on_failure = [&](const std::string& why) { told.push_back(why); }});
  observer.MakeQp(1);
  observer.MakeQp(2);
  observer.Announced(StepKind::kDoorbell, 1, 0, 1, 1);
  observer.TimedOut(1);
  BOOST_REQUIRE(told.size() == 1u);
  BOOST_TEST(told[0] == "/no/such/folder/file: No such file or directory");
}

BOOST_FIXTURE_TEST_CASE(OtherBytesAreRefused, InFolder) {
  std::ofstream(path) << std::string(100'000, 'x');
  BOOST_TEST(!ReadObservation(path).Ok());
  LoggedPacket packet;
  BOOST_TEST(!PacketLogReader(path).Next(packet));
}

BOOST_FIXTURE_TEST_CASE(PacketsAreReadAgainAcrossWindows, InFolder) {
  const Address source{7, {}}, target{9, {}};
  constexpr uint32_t kPackets = 3000;  // of 4 KiB: three windows
  {
    PacketLog log(path, source);
    for (uint32_t i = 0; i < kPackets; ++i) log.Add(i, target, PacketWith(0x20100, i, 4096));
    BOOST_TEST(log.Lost() == 0u);
  }
  PacketLogReader reader(path);
  LoggedPacket read;
  for (uint32_t i = 0; i < kPackets; ++i) {
    BOOST_REQUIRE(reader.Next(read));
    BOOST_TEST(read.ns == i);
    BOOST_TEST((read.source == source && read.target == target));
    BOOST_TEST((read.packet == PacketWith(0x20100, i, 4096)));
  }
  BOOST_TEST(!reader.Next(read));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace ringpost::sim::service

// Data between QPs that mailboxes made, with WQEs as software stores them.
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <random>

#include "tests/seed.h"
#include "tests/sim/uverbs/prm_bench.h"
#include "transport/abi/doorbell.h"

namespace ringpost::sim::uverbs::prm {
namespace {

constexpr uint8_t kSignalled = abi::kCqeAlways;
constexpr uint32_t kCqEntries = 32;

// A queue of the bench as software holds it.
struct Sender {
  PrmBench& bench;
  uint32_t qpn;
  uint64_t ring, record;
  uint32_t depth = 16;
  uint64_t producer = 0;

  void Post(const WqeBytes& wqe) {
    const std::vector<uint8_t> bytes = wqe.Finish(producer, qpn);
    for (size_t at = 0; at < bytes.size(); at += 64) {
      const uint64_t slot = (producer + at / 64) % depth;
      std::memcpy(bench.Bytes(ring + slot * 64), bytes.data() + at,
                  std::min<size_t>(64, bytes.size() - at));
    }
    producer += wqe.Blocks();
    const uint32_t counter = abi::Swap32(static_cast<uint32_t>(producer & 0xffff));
    std::memcpy(bench.Bytes(record + 4), &counter, 4);
    std::atomic_ref<uint64_t>(
        *reinterpret_cast<uint64_t*>(bench.pages[bench.uar - 1].bytes + 0x800))
        .store(abi::ProducerDoorbell(producer, qpn));
    bench.Turn();
  }
};

struct Pair {
  PrmBench bench;
  uint32_t key = 0;
  uint32_t send_cq = 0;

  explicit Pair(const BenchOptions& options = {}) : bench(options) {
    key = bench.Run(bench.MkeyMailbox()).Number() << 8 | 0x5a;
    std::memset(bench.Bytes(0x2000), 0xf1, kCqEntries * 64);
    send_cq = bench.Run(bench.CqMailbox(0x2000, 0x140)).Number();
    for (int i = 0; i < 0x1000; ++i) bench.Bytes(0x8000)[i] = static_cast<uint8_t>(i * 7 + 3);
    std::memset(bench.Bytes(0x9000), 0, 0x1000);
  }
  uint64_t Source() const { return bench.At(0x8000); }
  uint64_t Target() const { return bench.At(0x9000); }
  bool Same(uint32_t bytes) {
    return std::memcmp(bench.Bytes(0x8000), bench.Bytes(0x9000), bytes) == 0;
  }
  const abi::Cqe& CqeAt(uint32_t index) {
    return *reinterpret_cast<const abi::Cqe*>(bench.Bytes(0x2000 + index * 64));
  }
  // Two RC QPs at each other's service; the first one sends.
  Sender Connect() {
    Mailbox local = bench.QpMailbox(qpc::kRc, 0x4000, 0x200);
    local.Put(In(qpc::kAt, qpc::kSendCq), send_cq);
    const uint32_t a = bench.Run(local).Number();
    const uint32_t b = bench.Run(bench.QpMailbox(qpc::kRc, 0x5000, 0x240)).Number();
    bench.BringUp(a, b);
    bench.BringUp(b, a);
    return {bench, a, 0x4000, 0x200};
  }
  WqeBytes Write(uint32_t bytes) const {
    return WqeBytes(abi::Opcode::kRdmaWrite, kSignalled)
        .Remote(Target(), key)
        .Data(bytes, key, Source());
  }
};

BOOST_AUTO_TEST_SUITE(PrmData)

BOOST_AUTO_TEST_CASE(AWriteBetweenQpsMadeByMailboxesArrivesAndCompletes) {
  for (const wire::Link link : {wire::Link::kInfiniband, wire::Link::kEthernet}) {
    Pair pair({.link = link});
    Sender sender = pair.Connect();
    sender.Post(pair.Write(1000));
    BOOST_TEST(pair.Same(1000));
    const abi::Cqe& cqe = pair.CqeAt(0);
    BOOST_TEST(int{cqe.op_own} >> 4 == int{static_cast<uint8_t>(abi::CqeOpcode::kRequester)});
    BOOST_TEST(abi::Swap16(cqe.wqe_counter) == 0u);
    BOOST_TEST(abi::Swap32(cqe.srqn_uidx) == 0x123456u);
    const Answer now = pair.bench.Run(Opcode::kQueryQp, sender.qpn);
    BOOST_TEST(now[In(qpc::kAt, qpc::kHwSqCounter)] == 1u);
    BOOST_TEST(now[In(qpc::kAt, qpc::kSwSqCounter)] == 1u);
    BOOST_TEST(now[In(qpc::kAt, qpc::kNextSendPsn)] == 1u);
    BOOST_TEST(now[In(qpc::kAt, qpc::kLastAckedPsn)] == 0u);
    BOOST_TEST(pair.bench.Run(Opcode::kQueryCq, pair.send_cq)[In(0x10, cqc::kProducer)] == 1u);
  }
}

BOOST_AUTO_TEST_CASE(ReadsAtomicsAndInlineGoThrough) {
  Pair pair;
  Sender sender = pair.Connect();
  sender.Post(WqeBytes(abi::Opcode::kRdmaWrite, kSignalled)
                  .Remote(pair.Target(), pair.key)
                  .Inline("twelve bytes"));
  BOOST_TEST(std::memcmp(pair.bench.Bytes(0x9000), "twelve bytes", 12) == 0);
  std::memset(pair.bench.Bytes(0x9000), 0, 64);
  sender.Post(WqeBytes(abi::Opcode::kAtomicFetchAdd, kSignalled)
                  .Remote(pair.Target() + 64, pair.key)
                  .Big64(5)
                  .Big64(0)
                  .Data(8, pair.key, pair.Source() + 256));
  BOOST_TEST(int{pair.bench.Bytes(0x9000)[64]} == 5);
  pair.bench.Bytes(0x9000)[64] = 0;
  sender.Post(WqeBytes(abi::Opcode::kRdmaRead, kSignalled)
                  .Remote(pair.Source(), pair.key)
                  .Data(200, pair.key, pair.Target()));
  BOOST_TEST(pair.Same(200));
  BOOST_TEST(pair.bench.Run(Opcode::kQueryCq, pair.send_cq)[In(0x10, cqc::kProducer)] == 3u);
}

BOOST_AUTO_TEST_CASE(ACollapsedCqShowsTheLastWqe) {
  Pair pair;
  pair.send_cq = pair.bench
                     .Run(pair.bench.CqMailbox(0x2000, 0x180)
                              .Put(In(cqc::kAt, cqc::kCollapsed), 1)
                              .Put(In(cqc::kAt, cqc::kOverrunIgnore), 1))
                     .Number();
  Sender sender = pair.Connect();
  for (int i = 0; i < 40; ++i) sender.Post(pair.Write(8));
  BOOST_TEST(abi::Swap16(pair.CqeAt(0).wqe_counter) == 39u);
  BOOST_TEST(int{pair.CqeAt(1).op_own} == 0xf1);
}

BOOST_AUTO_TEST_CASE(AFailedQpIsReadBackInErrorAndGoesOnAfterAReset) {
  Pair pair;
  Sender sender = pair.Connect();
  sender.Post(WqeBytes(abi::Opcode::kRdmaWrite, kSignalled)
                  .Remote(pair.Target(), pair.key + 1)
                  .Data(8, pair.key, pair.Source()));
  BOOST_TEST(int{pair.CqeAt(0).op_own} >> 4 == 0xd);
  BOOST_TEST(pair.bench.Run(Opcode::kQueryQp, sender.qpn)[In(qpc::kAt, qpc::kState)] == 6u);
  BOOST_TEST(pair.bench.Run(Opcode::k2Rst, sender.qpn).Ok());
  std::memset(pair.bench.Bytes(0x200), 0, 8);
  sender.producer = 0;
  const uint32_t peer = pair.bench.Run(pair.bench.QpMailbox(qpc::kRc, 0x6000, 0x280)).Number();
  pair.bench.BringUp(sender.qpn, peer);
  pair.bench.BringUp(peer, sender.qpn);
  sender.Post(pair.Write(512));
  BOOST_TEST(pair.Same(512));
}

// A DCI with a compact address vector writes through a DCT that a mailbox made.
BOOST_AUTO_TEST_CASE(ADciWritesThroughADct) {
  Pair pair;
  const uint32_t dctn = pair.bench.Run(pair.bench.DctMailbox()).Number();
  Mailbox mailbox = pair.bench.QpMailbox(qpc::kDci, 0x4000, 0x200);
  // As libraries do: the SRQ of a DCI is named and not used.
  mailbox.Put(In(qpc::kAt, qpc::kRqType), qpc::kSharedRq)
      .Put(In(qpc::kAt, qpc::kSrq), pair.bench.rmp)
      .Put(In(qpc::kAt, qpc::kSendCq), pair.send_cq);
  const Answer dci = pair.bench.Run(mailbox);
  BOOST_TEST_REQUIRE(dci.Ok(), FactsOf(dci.refusal).text);
  pair.bench.BringUp(dci.Number(), 0);
  Sender sender{pair.bench, dci.Number(), 0x4000, 0x200};
  sender.Post(WqeBytes(abi::Opcode::kRdmaWrite, kSignalled)
                  .Target(abi::kDcAccessKey, dctn, PrmBench::kLid, false)
                  .Remote(pair.Target(), pair.key)
                  .Data(300, pair.key, pair.Source()));
  BOOST_TEST(pair.Same(300));
  BOOST_TEST(int{pair.CqeAt(0).op_own} >> 4 == 0);
}

// Receives first, sends behind them, in one umem.
BOOST_AUTO_TEST_CASE(AQpWithAReceiveQueueHasItBeforeItsSendQueue) {
  Pair pair;
  Mailbox mailbox = pair.bench.QpMailbox(qpc::kRc, 0x5000, 0x240);
  mailbox.Put(In(qpc::kAt, qpc::kRqType), qpc::kOwnRq)
      .Put(In(qpc::kAt, qpc::kLogRqSize), 3)
      .Put(In(qpc::kAt, qpc::kLogRqStride), 1);
  const uint32_t b = pair.bench.Run(mailbox).Number();
  const RnicQpConfig& config = pair.bench.loop.Function().FindQp(b)->config;
  BOOST_TEST(config.rq.ring == pair.bench.At(0x5000));
  BOOST_TEST(config.rq.wqes == 8u);
  BOOST_TEST(config.rq.stride == 32u);
  BOOST_TEST(config.sq == pair.bench.At(0x5100));
}

// Whatever mailboxes say: no crash, nothing left behind, and the NIC goes on.
BOOST_AUTO_TEST_CASE(RandomMailboxesNeitherCrashNorLeak) {
  std::mt19937_64 random(TestSeed());
  Pair pair;
  PrmBench& bench = pair.bench;
  const ObjectCounts before = bench.firmware.Count();
  const uint16_t user = bench.firmware.Open();
  const std::vector<Mailbox> bases = {bench.CqMailbox(),
                                      bench.QpMailbox(),
                                      bench.QpMailbox(qpc::kDci),
                                      bench.QpMailbox(qpc::kUd),
                                      bench.RmpMailbox(),
                                      bench.DctMailbox(),
                                      bench.MkeyMailbox(),
                                      bench.StepMailbox(Opcode::kRst2Init, 0, 0x10100),
                                      bench.StepMailbox(Opcode::kInit2Rtr, 0, 0x10100),
                                      bench.StepMailbox(Opcode::kRtr2Rts, 0, 0x10100)};
  const auto commands = Commands();
  std::vector<uint32_t> numbers = {0, 1, 2, bench.cq, bench.rmp, bench.umem, 0xffffff};
  uint64_t done = 0;
  for (int round = 0; round < 20000; ++round) {
    const uint64_t draw = random();
    const CommandFacts& command = commands[draw % commands.size()];
    Mailbox mailbox =
        (draw & 0x100) != 0 ? bases[(draw >> 9) % bases.size()] : Mailbox(command.opcode);
    if ((draw & 0x1000) != 0) mailbox.Put(kNumber, numbers[random() % numbers.size()]);
    for (uint64_t flips = (draw >> 16) % 4; flips != 0; --flips) {
      mailbox.Bytes()[random() % mailbox.Bytes().size()] = static_cast<uint8_t>(random());
    }
    if ((draw & 0x2000) != 0) mailbox.Bytes().resize(random() % 0x110);
    if (mailbox.Bytes().size() > 4) mailbox.Bytes()[0] &= 0x0f;
    const uint16_t uid = (draw & 0xc000) == 0 ? user : bench.uid;
    const Answer answer =
        bench.RunAs(mailbox, uid, (draw & 0x30000) == 0 ? random() % 0x120 : 0x1010);
    if (answer.refusal == Refusal::kNone && answer.bytes.size() > 12) {
      ++done;
      if (numbers.size() < 200) numbers.push_back(answer.Number());
    }
    if (round % 64 == 0) bench.loop.Turn(std::chrono::steady_clock::now());
  }
  BOOST_TEST(done > 500u);
  bench.firmware.Close(user);
  BOOST_TEST(bench.firmware.Count(user).Total() == 0u);
  bench.firmware.Close(bench.uid);
  BOOST_TEST(bench.firmware.Count().Total() == 0u);
  BOOST_TEST(before.Total() != 0u);
  for (uint32_t number = 0; number < 4000; ++number) {
    BOOST_TEST(bench.loop.Function().FindCq(number) == nullptr);
    BOOST_TEST(bench.loop.Function().FindSrq(number) == nullptr);
    BOOST_TEST(bench.loop.Function().FindQp(0x10000 | number) == nullptr);
    BOOST_TEST(!bench.loop.Function().Keys().HasPd(number));
  }
  BOOST_TEST(!bench.loop.Memory().Allows(bench.At(0), 1));
  for (const bool used : bench.page_used) BOOST_TEST(!used);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace ringpost::sim::uverbs::prm

#include "tests/sim/uverbs/prm_bench.h"

#include <boost/test/unit_test.hpp>
#include <cstdlib>

namespace ringpost::sim::uverbs::prm {
namespace {

constexpr uint32_t kMtu4096 = 5;

FirmwareConfig ConfigOf(PrmBench& bench, const BenchOptions& options) {
  FirmwareConfig config;
  config.link = options.link;
  config.gids = {wire::MappedGid(10, 0, 0, 7)};
  config.mac = {2, 0, 0, 0, 0, 7};
  config.completion_vectors = options.completion_vectors;
  config.uars.allocate = [&bench]() -> uint32_t {
    for (uint32_t i = 0; i < bench.page_used.size(); ++i) {
      if (bench.page_used[i]) continue;
      bench.page_used[i] = true;
      return i + 1;
    }
    return 0;
  };
  config.uars.free = [&bench](uint32_t page) { bench.page_used[page - 1] = false; };
  config.uars.address = [&bench](uint32_t page) -> uint64_t {
    if (page > bench.page_used.size() || !bench.page_used[page - 1]) return 0;
    return reinterpret_cast<uint64_t>(bench.pages[page - 1].bytes);
  };
  return config;
}

}  // namespace

PrmBench::PrmBench(const BenchOptions& options)
    : memory(static_cast<uint8_t*>(std::aligned_alloc(4096, kMemoryBytes)), std::free),
      pages(options.uar_pages),
      page_used(options.uar_pages),
      loop(options.nic, std::make_unique<LoopPort>()),
      firmware(loop, ConfigOf(*this, options)),
      uid(firmware.Open()) {
  std::memset(memory.get(), 0, kMemoryBytes);
  std::memset(pages.data(), 0xff, pages.size() * sizeof(Page));
  umem = firmware.CreateUmem({uid, At(0), kMemoryBytes, true, 0});
  pd = Run(Mailbox(Opcode::kAllocPd)).Number();
  uar = Run(Mailbox(Opcode::kAllocUar)).Number();
  const Answer made = Run(CqMailbox());
  BOOST_TEST_REQUIRE(made.Ok(), FactsOf(made.refusal).text);
  cq = made.Number();
  rmp = Run(RmpMailbox()).Number();
}

Answer PrmBench::RunAs(const Mailbox& mailbox, uint16_t user, size_t out_bytes) {
  Answer answer;
  answer.bytes.assign(out_bytes, 0xee);
  answer.refusal = firmware.Execute(mailbox.Bytes(), answer.bytes, user);
  return answer;
}

Mailbox PrmBench::CqMailbox(uint64_t ring, uint64_t record) const {
  Mailbox mailbox(Opcode::kCreateCq);
  const auto put = [&](Field field, uint32_t value) { mailbox.Put(In(cqc::kAt, field), value); };
  put(cqc::kLogSize, 5);
  put(cqc::kUar, uar);
  put(cqc::kEqn, firmware.EqnOf(0));
  put(cqc::kDbrUmemValid, 1);
  put(cqc::kDbrUmem, umem);
  mailbox.Put(In(cqc::kAt, cqc::kDbr), record);
  return mailbox.Put(cqc::kUmemValid, 1).Put(cqc::kUmem, umem).Put(cqc::kUmemOffset, ring);
}

Mailbox PrmBench::QpMailbox(uint32_t service, uint64_t ring, uint64_t record) const {
  Mailbox mailbox(Opcode::kCreateQp);
  const auto put = [&](Field field, uint32_t value) { mailbox.Put(In(qpc::kAt, field), value); };
  put(qpc::kServiceType, service);
  put(qpc::kPathMigration, 3);
  put(qpc::kPd, pd);
  put(qpc::kUar, uar);
  put(qpc::kRqType, qpc::kNoRq);
  put(qpc::kLogSqSize, 4);
  put(qpc::kSendCq, cq);
  put(qpc::kReceiveCq, cq);
  put(qpc::kUserIndex, 0x123456);
  put(qpc::kDbrUmemValid, 1);
  put(qpc::kDbrUmem, umem);
  mailbox.Put(In(qpc::kAt, qpc::kDbr), record);
  return mailbox.Put(qpc::kUmemValid, 1).Put(qpc::kUmem, umem).Put(qpc::kUmemOffset, ring);
}

Mailbox PrmBench::RmpMailbox() const {
  Mailbox mailbox(Opcode::kCreateRmp);
  const auto put = [&](Field field, uint32_t value) { mailbox.Put(In(rmpc::kAt, field), value); };
  put(rmpc::kState, rmpc::kReady);
  put(rmpc::kPd, pd);
  put(rmpc::kLogStride, 5);
  put(rmpc::kLogSize, 4);
  put(rmpc::kDbrUmemValid, 1);
  put(rmpc::kDbrUmem, umem);
  put(rmpc::kUmemValid, 1);
  put(rmpc::kUmem, umem);
  mailbox.Put(In(rmpc::kAt, rmpc::kDbr), 0x300);
  return mailbox.Put(In(rmpc::kAt, rmpc::kUmemOffset), 0x3000);
}

Mailbox PrmBench::DctMailbox() const {
  Mailbox mailbox(Opcode::kCreateDct);
  const auto put = [&](Field field, uint32_t value) { mailbox.Put(In(dctc::kAt, field), value); };
  put(dctc::kPd, pd);
  put(dctc::kCq, cq);
  put(dctc::kSrq, rmp);
  put(dctc::kMtu, kMtu4096);
  put(dctc::kPort, 1);
  put(dctc::kRemoteRead, 1);
  put(dctc::kRemoteWrite, 1);
  put(dctc::kRemoteAtomic, 1);
  put(dctc::kMinRnrNak, 12);
  put(dctc::kUserIndex, 0x654321);
  return mailbox.Put(In(dctc::kAt, dctc::kDcKey), abi::kDcAccessKey);
}

Mailbox PrmBench::MkeyMailbox() const {
  Mailbox mailbox(Opcode::kCreateMkey);
  const auto put = [&](Field field, uint32_t value) { mailbox.Put(In(mkc::kAt, field), value); };
  put(mkc::kAccessMode, mkc::kPages);
  for (const Field right :
       {mkc::kLocalRead, mkc::kLocalWrite, mkc::kRemoteRead, mkc::kRemoteWrite, mkc::kAtomic}) {
    put(right, 1);
  }
  put(mkc::kQpn, mkc::kAnyQpn);
  put(mkc::kVariant, 0x5a);
  put(mkc::kPd, pd);
  mailbox.Put(In(mkc::kAt, mkc::kStart), At(0x8000)).Put(In(mkc::kAt, mkc::kLength), 0x4000);
  return mailbox.Put(mkc::kUmemValid, 1).Put(mkc::kUmem, umem).Put(mkc::kUmemOffset, 0x8000);
}

Mailbox PrmBench::StepMailbox(Opcode opcode, uint32_t qpn, uint32_t peer) const {
  Mailbox mailbox(opcode);
  mailbox.Put(kNumber, qpn);
  const auto put = [&](Field field, uint32_t value) { mailbox.Put(In(qpc::kAt, field), value); };
  const auto path = [&](Field field, uint32_t value) { put(In(qpc::kPrimaryPath, field), value); };
  put(qpc::kPathMigration, 3);
  put(qpc::kRemoteRead, 1);
  put(qpc::kRemoteWrite, 1);
  put(qpc::kRemoteAtomic, 1);
  put(qpc::kAtomicMode, 3);
  put(qpc::kMtu, kMtu4096);
  put(qpc::kLogMessageMax, 30);
  put(qpc::kRemoteQpn, peer);
  put(qpc::kMinRnrNak, 12);
  put(qpc::kLogRraMax, 4);
  put(qpc::kLogSraMax, 4);
  put(qpc::kRetryCount, 7);
  put(qpc::kRnrRetry, 7);
  put(qpc::kNextSendPsn, 0);
  path(ads::kPort, 1);
  path(ads::kLid, kLid);
  path(ads::kAckTimeout, 14);
  return mailbox;
}

void PrmBench::BringUp(uint32_t qpn, uint32_t peer) {
  for (const Opcode step : {Opcode::kRst2Init, Opcode::kInit2Rtr, Opcode::kRtr2Rts}) {
    const Answer answer = Run(StepMailbox(step, qpn, peer));
    BOOST_TEST_REQUIRE(answer.Ok(), FactsOf(answer.refusal).text);
  }
}

void PrmBench::Turn() {
  // A doorbell page is looked at once more some microseconds after its last change.
  const auto begin = std::chrono::steady_clock::now();
  auto now = begin;
  for (uint32_t quiet = 0; quiet < 3;) {
    now += std::chrono::milliseconds(1);
    quiet = loop.Turn(now) ? 0 : quiet + 1;
  }
}

}  // namespace ringpost::sim::uverbs::prm

// DC: a DCI that names its target in each WQE, and DCTs that keep their DCIs apart (contract,
// section 1.6).
#include "sim/nic/dc.h"

#include "sim/nic/peer_index.h"
#include "tests/sim/nic/rc_fixture.h"

namespace ringpost::sim {
namespace {

using abi::Opcode;
constexpr uint64_t kDcKey = 0x5623ceaf;

struct DcFixture {
  DcFixture() {
    srq_ring = h.b.memory.Allocate(16 * 32);
    srq_record = h.b.memory.Allocate(8);
    srqn = h.b.nic.CreateSrq(h.b.pd, {srq_ring, srq_record, 16, 32, true}).number;
    source = h.Register(h.a, 0x4000);
    target = h.Register(h.b, 0x4000);
    Fill(source, 0x4000, 9);
    local = MakeDci();
    remote = MakeDct();
  }
  End MakeDci() {
    End end = h.MakeEnd(h.a, {.type = QpType::kDci});
    h.Ready(end, h.b, 0);
    return end;
  }
  End MakeDct() {
    End end = h.MakeEnd(h.b, {.type = QpType::kDct, .srq = srqn, .dc_key = kDcKey});
    h.Ready(end, h.a, 0);
    return end;
  }
  void PostReceives(uint32_t count) {
    for (uint32_t i = 0; i < 16; ++i) {
      WqeBytes list(Opcode::kNop, 0);
      list.Big32((i + 1) % 16)
          .Big32(0)
          .Big64(0)
          .Data(0x400, target.key, target.address + 0x400 * i);
      std::memcpy(h.b.memory.At(srq_ring + i * 32), list.Finish(0, 0).data() + 16, 32);
    }
    const uint32_t word = abi::Swap32(count);
    std::memcpy(h.b.memory.At(srq_record), &word, 4);
  }
  WqeBytes To(const End& dct, Opcode opcode, bool extended = false, uint64_t key = kDcKey,
              uint8_t flags = kSignalled) const {
    return WqeBytes(opcode, flags).Target(key, dct.qpn, h.b.address.lid, extended);
  }
  WqeBytes WriteTo(const End& dct, uint32_t bytes, bool extended = false,
                   uint64_t key = kDcKey) const {
    return To(dct, Opcode::kRdmaWrite, extended, key)
        .Remote(target.address, target.key)
        .Data(bytes, source.key, source.address);
  }
  std::vector<abi::Cqe> Finish() {
    BOOST_TEST_REQUIRE(h.Run());
    return h.Poll(local);
  }

  Harness h;
  End local, remote;
  Buffer source, target;
  uint64_t srq_ring = 0, srq_record = 0;
  uint32_t srqn = 0;
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(ADciWritesWithACompactAndWithAFullAddress, DcFixture) {
  for (const bool extended : {false, true}) {
    Fill(source, 3000, extended ? 1 : 2);
    h.Post(local, WriteTo(remote, 3000, extended));
    const auto cqes = Finish();
    BOOST_TEST_REQUIRE(cqes.size() == 1u);
    BOOST_TEST(!IsError(cqes[0]));
    BOOST_TEST(std::memcmp(source.Bytes(), target.Bytes(), 3000) == 0);
  }
}

BOOST_FIXTURE_TEST_CASE(ADciSpeaksToManyTargetsOneAtATime, DcFixture) {
  End other = MakeDct();
  for (int i = 0; i < 30; ++i) {
    h.Store(local, To(i % 3 == 0 ? other : remote, Opcode::kAtomicFetchAdd)
                       .Remote(target.address, target.key)
                       .Big64(1)
                       .Big64(0)
                       .Data(8, source.key, source.address));
  }
  std::memset(target.Bytes(), 0, 8);
  h.SetRecord(local);
  h.Ring(local);
  BOOST_TEST(Finish().size() == 30u);
  BOOST_TEST(target.Word() == 30u);
  BOOST_TEST(h.b.nic.Count().naks_sent == 0u);
}

// The next target waits for the answer of this one, which nobody else would ask for.
BOOST_FIXTURE_TEST_CASE(ADciChangesItsTargetWithoutATimer, DcFixture) {
  h.timers_run = false;
  const End other = MakeDct();
  const auto store = [&](const End& dct, uint8_t flags) {
    h.Store(local, To(dct, Opcode::kRdmaWrite, false, kDcKey, flags)
                       .Remote(target.address, target.key)
                       .Data(8, source.key, source.address));
  };
  store(remote, abi::kCqeOnError);
  store(other, kSignalled);
  h.SetRecord(local);
  h.Ring(local);
  const auto cqes = Finish();
  BOOST_TEST_REQUIRE(cqes.size() == 1u);
  BOOST_TEST(!IsError(cqes[0]));
}

BOOST_FIXTURE_TEST_CASE(ManyDcisShareADct, DcFixture) {
  std::vector<End> dcis;
  for (int i = 0; i < 20; ++i) dcis.push_back(MakeDci());
  std::memset(target.Bytes(), 0, 8);
  for (int round = 0; round < 3; ++round) {
    for (End& dci : dcis) {
      h.Post(dci, To(remote, Opcode::kAtomicFetchAdd)
                      .Remote(target.address, target.key)
                      .Big64(1)
                      .Big64(0)
                      .Data(8, source.key, source.address));
    }
  }
  BOOST_TEST(h.Run());
  BOOST_TEST(target.Word() == 60u);
  BOOST_TEST(h.Qp(remote).sources.size() == 20u);
}

BOOST_FIXTURE_TEST_CASE(ASendThroughDcTakesAReceiveOfTheSrq, DcFixture) {
  PostReceives(4);
  h.Post(local, To(remote, Opcode::kSendImm).Immediate(5).Data(100, source.key, source.address));
  BOOST_TEST(Finish().size() == 1u);
  const auto received = h.PollReceives(remote);
  BOOST_TEST_REQUIRE(received.size() == 1u);
  BOOST_TEST((abi::Swap32(received[0].flags_rqpn) & 0xffffff) == local.qpn);
}

BOOST_FIXTURE_TEST_CASE(AnotherAccessKeyIsRefusedAndTheDctLivesOn, DcFixture) {
  h.Post(local, WriteTo(remote, 8, false, kDcKey + 1));
  const auto cqes = Finish();
  BOOST_TEST_REQUIRE(cqes.size() == 1u);
  BOOST_TEST(SyndromeOf(cqes[0]) == static_cast<int>(abi::Syndrome::kRemoteAccess));
  BOOST_TEST((h.Qp(remote).state == State::kReadyToReceive));
  local = MakeDci();
  h.Post(local, WriteTo(remote, 8));
  BOOST_TEST(!IsError(Finish().at(0)));
}

BOOST_FIXTURE_TEST_CASE(ADciThatFailedStartsAnewTowardsTheSameTarget, DcFixture) {
  for (int round = 0; round < 5; ++round) {
    h.Post(local, WriteTo(remote, 8));
    BOOST_TEST(!IsError(Finish().at(0)));
    // All of these get lost, so neither side knows what the other has seen.
    h.on_wire = [](wire::Packet&) { return false; };
    h.Post(local, WriteTo(remote, 8));
    BOOST_TEST(SyndromeOf(Finish().at(0)) == 0x15);
    h.on_wire = nullptr;
    QpAttributes reset;
    reset.state = State::kReset;
    h.a.nic.ModifyQp(local.qpn, reset, kAttrState);
    h.Ready(local, h.b, 0);
    local.producer = 0;
  }
}

BOOST_AUTO_TEST_CASE(AnIncarnationIsRecognisedByItsDistance) {
  const uint32_t first = dc::FirstPsnOf(0);
  BOOST_TEST(dc::FirstOf(first + 100) == first);
  const uint32_t next = dc::NextIncarnation(first + 100);
  BOOST_TEST(dc::IsNewIncarnation(first + 100, next));
  BOOST_TEST(dc::IsNewIncarnation(first + 100, next + 4095));
  BOOST_TEST(dc::FirstOf(next + 4095) == next);
  BOOST_TEST(!dc::IsNewIncarnation(first, first + 4095));
  BOOST_TEST(!dc::IsNewIncarnation(next, first + 100));
}

// Behind a GRH the place of the LID may hold anything.
BOOST_AUTO_TEST_CASE(APortWithAGidIsKnownByItAlone) {
  Address a, b;
  a.global = b.global = true;
  a.lid = 49152;
  b.lid = 49153;
  BOOST_TEST(a.SamePort(b));
  BOOST_TEST(PeerHash(7, a) == PeerHash(7, b));
  b.gid[15] = 1;
  BOOST_TEST(!a.SamePort(b));
}

}  // namespace ringpost::sim

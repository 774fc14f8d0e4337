// Doorbells and records: both forms, serial arithmetic, and what happens when they disagree
// (contract, section 2).
#include "transport/abi/doorbell.h"

#include "tests/sim/nic/rc_fixture.h"

namespace ringpost::sim {
namespace {

using abi::Opcode;

}  // namespace

BOOST_FIXTURE_TEST_CASE(ADoorbellNamesTheProducerOrTheLastWqe, RcFixture) {
  h.Store(pipe.local, Write(8));
  BOOST_TEST(h.a.nic.RingDoorbell(abi::ProducerDoorbell(1, pipe.local.qpn)) != nullptr);
  // The last WQE's own first 8 bytes: index 1, 5 segments, which take two blocks.
  h.Store(pipe.local, WqeBytes(Opcode::kRdmaWrite, kSignalled)
                          .Remote(target.address, target.key)
                          .Inline(std::string(40, 'x')));
  BOOST_TEST(h.a.nic.RingDoorbell(abi::ControlWord(Opcode::kRdmaWrite, 1, pipe.local.qpn, 5)) !=
             nullptr);
  BOOST_TEST(h.Qp(pipe.local).requester.producer == 3u);
  BOOST_TEST(Finish().size() == 2u);
}

BOOST_FIXTURE_TEST_CASE(ADoorbellThatIsNotAheadAnnouncesNothing, RcFixture) {
  h.Post(pipe.local, Write(8));
  h.Ring(pipe.local);
  BOOST_TEST(h.a.nic.RingDoorbell(abi::ProducerDoorbell(0xffff, pipe.local.qpn)) == nullptr);
  BOOST_TEST(h.a.nic.Count().doorbells_merged == 2u);
  BOOST_TEST(Finish().size() == 1u);
}

BOOST_FIXTURE_TEST_CASE(ADoorbellOfNobodyIsCounted, RcFixture) {
  h.a.nic.RingDoorbell(abi::ProducerDoorbell(1, 0xffffff));
  h.a.nic.RingDoorbell(abi::ProducerDoorbell(1, pipe.remote.qpn));
  BOOST_TEST(h.a.nic.Count().doorbells_stray == 2u);
}

BOOST_FIXTURE_TEST_CASE(WhatTheDoorbellDidNotSayTheRecordDoes, RcFixture) {
  h.Store(pipe.local, Write(8));
  h.Store(pipe.local, Write(8));
  BOOST_TEST(!h.a.nic.RefreshFromRecord(h.Qp(pipe.local)));
  h.SetRecord(pipe.local);
  BOOST_TEST(h.a.nic.RefreshFromRecord(h.Qp(pipe.local)));
  BOOST_TEST(Finish().size() == 2u);
  BOOST_TEST(!h.a.nic.RefreshFromRecord(h.Qp(pipe.local)));
}

BOOST_FIXTURE_TEST_CASE(ARecordThatTrailsItsDoorbellTakesNothingBack, RcFixture) {
  h.Store(pipe.local, Write(8));
  h.Ring(pipe.local);
  BOOST_TEST(Finish().size() == 1u);
  h.Store(pipe.local, Write(8));
  h.Ring(pipe.local);
  h.a.nic.RefreshFromRecord(h.Qp(pipe.local));
  BOOST_TEST(Finish().size() == 1u);
}

BOOST_FIXTURE_TEST_CASE(AnnouncingMoreThanTheRingHoldsIsCounted, RcFixture) {
  for (uint32_t i = 0; i < pipe.local.depth + 1; ++i) h.Store(pipe.local, Write(8));
  h.Ring(pipe.local);
  BOOST_TEST(h.a.nic.Count().ring_overruns == 1u);
}

BOOST_FIXTURE_TEST_CASE(ControlFieldsThatDisagreeAreCountedAndNotBelieved, RcFixture) {
  h.Store(pipe.local, Write(8));
  uint8_t* control = h.a.memory.At(pipe.local.sq);
  control[2] = 0x55;
  control[5] = 0x66;
  h.Ring(pipe.local);
  BOOST_TEST(CounterOf(Finish().at(0)) == 0u);
  BOOST_TEST(h.a.nic.Count().wqe_index_mismatches == 1u);
  BOOST_TEST(h.a.nic.Count().wqe_qpn_mismatches == 1u);
}

BOOST_FIXTURE_TEST_CASE(AWqeThatEndsBeyondTheProducerFails, RcFixture) {
  h.Store(pipe.local, WqeBytes(Opcode::kRdmaWrite, kSignalled)
                          .Remote(target.address, target.key)
                          .Inline(std::string(100, 'x')));
  h.a.nic.RingDoorbell(abi::ProducerDoorbell(1, pipe.local.qpn));
  h.SetRecord(pipe.local);
  BOOST_TEST(SyndromeOf(Finish().at(0)) == static_cast<int>(abi::Syndrome::kLocalQpOperation));
}

BOOST_AUTO_TEST_CASE(NumbersLieInTheRangeOfTheNicsSlot) {
  RcFixture f;
  BOOST_TEST((f.pipe.local.qpn >> 16) == 1u);
  BOOST_TEST((f.pipe.remote.qpn >> 16) == 2u);
  BOOST_TEST((f.source.key >> 24) == 1u);
  BOOST_TEST((f.target.key >> 24) == 2u);
}

}  // namespace ringpost::sim

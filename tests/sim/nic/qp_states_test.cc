// The state machine of a QP, and what is refused when objects are made.
#include "sim/nic/qp_states.h"

#include "tests/sim/nic/rc_fixture.h"

namespace ringpost::sim {
namespace {

using abi::Opcode;

constexpr QpType kTypes[] = {QpType::kRc, QpType::kUc, QpType::kUd, QpType::kDci, QpType::kDct};

bool Names(const std::string& line, const std::string& what) {
  return line.find(what) != std::string::npos && line.find('\n') == std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_CASE(EachTypeHasTheTransitionsOfTheTable) {
  // From RST, INIT, RTR, RTS, SQE, SQD, ERR: one digit for each state that may follow.
  const char* const kFollowers[][kStates] = {
      {"016", "0126", "036", "0356", "06", "0356", "06"},   // RC
      {"016", "0126", "036", "0356", "036", "0356", "06"},  // UC
      {"016", "0126", "036", "0356", "036", "0356", "06"},  // UD
      {"016", "0126", "036", "0356", "06", "036", "06"},    // DCI
      {"016", "0126", "06", "06", "06", "06", "06"},        // DCT
  };
  for (const QpType type : kTypes) {
    for (int from = 0; from < kStates; ++from) {
      std::string followers;
      for (int to = 0; to < kStates; ++to) {
        if (TransitionOf(type, static_cast<State>(from), static_cast<State>(to)).allowed) {
          followers += static_cast<char>('0' + to);
        }
      }
      const std::string expected = kFollowers[static_cast<int>(type)][from];
      BOOST_TEST(followers == expected,
                 NameOf(type) << " from " << NameOf(static_cast<State>(from)) << ": " << followers);
    }
  }
}

BOOST_AUTO_TEST_CASE(ATransitionNeedsEachRequiredAttributeAndTakesEachOptionalOne) {
  for (const QpType type : kTypes) {
    for (int from = 0; from < kStates; ++from) {
      for (int to = 0; to < kStates; ++to) {
        const State a = static_cast<State>(from), b = static_cast<State>(to);
        const Transition transition = TransitionOf(type, a, b);
        if (!transition.allowed) continue;
        const uint32_t all = transition.required | transition.optional;
        BOOST_TEST(CheckTransition(type, a, b, transition.required | kAttrState) == "");
        BOOST_TEST(CheckTransition(type, a, b, all | kAttrState) == "");
        for (uint32_t bit = 1; bit <= kAttrDestQpn; bit <<= 1) {
          if ((transition.required & bit) != 0) {
            BOOST_TEST(Names(CheckTransition(type, a, b, all & ~bit), "needs"));
          } else if ((all & bit) == 0 && bit != kAttrState) {
            BOOST_TEST(Names(CheckTransition(type, a, b, all | bit), "cannot set"));
          }
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(ARefusedTransitionSaysWhyInOneLineAndChangesNothing) {
  Harness h;
  End end = h.MakeEnd(h.a, {});
  QpAttributes attributes;
  attributes.state = State::kReadyToSend;
  BOOST_TEST(h.a.nic.ModifyQp(end.qpn, attributes, kAttrState) ==
             "RC QP from RST to RTS: no such transition");
  attributes.state = State::kInit;
  BOOST_TEST(h.a.nic.ModifyQp(end.qpn, attributes, kAttrState | kAttrPort) ==
             "RC QP from RST to INIT: needs access, pkey index");
  BOOST_TEST((h.Qp(end).state == State::kReset));
  BOOST_TEST(Names(h.a.nic.ModifyQp(0x123456, attributes, kAttrState), "does not exist"));
}

BOOST_FIXTURE_TEST_CASE(WhatWasSetIsReadBack, RcFixture) {
  const QpAttributes back = h.a.nic.QueryQp(h.Qp(pipe.local));
  const QpAttributes set = h.Defaults(h.b, pipe.remote.qpn);
  BOOST_TEST((back.state == State::kReadyToSend));
  BOOST_TEST(back.access == set.access);
  BOOST_TEST((back.address == set.address));
  BOOST_TEST(back.path_mtu == set.path_mtu);
  BOOST_TEST(back.timeout == set.timeout);
  BOOST_TEST(back.retry_count == set.retry_count);
  BOOST_TEST(back.rnr_retry == set.rnr_retry);
  BOOST_TEST(back.min_rnr_timer == set.min_rnr_timer);
  BOOST_TEST(back.max_rd_atomic == set.max_rd_atomic);
  BOOST_TEST(back.max_dest_rd_atomic == set.max_dest_rd_atomic);
  BOOST_TEST(back.dest_qpn == set.dest_qpn);
  BOOST_TEST(back.send_psn == set.send_psn);
  Do(Write(3000));
  BOOST_TEST(h.a.nic.QueryQp(h.Qp(pipe.local)).send_psn == ((set.send_psn + 3) & 0xffffff));
  BOOST_TEST(h.b.nic.QueryQp(h.Qp(pipe.remote)).receive_psn == ((set.send_psn + 3) & 0xffffff));
}

BOOST_AUTO_TEST_CASE(ValuesBeyondALimitAreRefused) {
  Harness h;
  Pipe pipe = h.Connect();
  const auto refusal = [&](auto&& change, uint32_t mask) {
    QpAttributes attributes = h.Defaults(h.b, pipe.remote.qpn);
    attributes.state = State::kSendQueueDrain;
    h.a.nic.ModifyQp(pipe.local.qpn, attributes, kAttrState);
    change(attributes);
    return h.a.nic.ModifyQp(pipe.local.qpn, attributes, mask);
  };
  BOOST_TEST(refusal([](QpAttributes& a) { a.max_rd_atomic = 17; }, kAttrMaxRdAtomic) ==
             "max_rd_atomic 17 is beyond the limit of 16");
  BOOST_TEST(refusal([](QpAttributes& a) { a.max_dest_rd_atomic = 17; }, kAttrMaxDestRdAtomic) !=
             "");
  BOOST_TEST(refusal([](QpAttributes& a) { a.timeout = 32; }, kAttrTimeout) != "");
  BOOST_TEST(refusal([](QpAttributes& a) { a.retry_count = 8; }, kAttrRetryCount) != "");
  BOOST_TEST(refusal([](QpAttributes& a) { a.timeout = 31; }, kAttrTimeout) == "");
}

BOOST_AUTO_TEST_CASE(ObjectsBeyondALimitAreRefusedWithTheLimit) {
  Harness h;
  const uint32_t cqn = h.a.nic.CreateCq({0x10000, 16, 0, false, true}).number;
  RnicQpConfig config;
  config.pd = h.a.pd;
  config.send_cq = config.receive_cq = cqn;
  config.sq_wqebbs = 64;
  const auto refusal = [&](auto&& change) {
    RnicQpConfig changed = config;
    change(changed);
    return h.a.nic.CreateQp(changed).refusal;
  };
  BOOST_TEST(refusal([](RnicQpConfig&) {}) == "");
  BOOST_TEST(Names(refusal([](RnicQpConfig& c) { c.sq_wqebbs = 65536; }), "limit of 32768"));
  BOOST_TEST(Names(refusal([](RnicQpConfig& c) { c.sq_wqebbs = 63; }), "no power of two"));
  BOOST_TEST(Names(refusal([](RnicQpConfig& c) { c.max_sges = 31; }), "limit of 30"));
  BOOST_TEST(Names(refusal([](RnicQpConfig& c) { c.max_inline = 957; }), "limit of 956"));
  BOOST_TEST(Names(refusal([](RnicQpConfig& c) { c.rq.wqes = 65536; }), "limit of 32768"));
  BOOST_TEST(Names(refusal([](RnicQpConfig& c) { c.rq = {0, 0, 16, 1024}; }), "limit of 512"));
  BOOST_TEST(Names(refusal([](RnicQpConfig& c) { c.pd = 99; }), "PD 99"));
  BOOST_TEST(Names(refusal([](RnicQpConfig& c) { c.send_cq = 99; }), "CQ 99"));
  BOOST_TEST(Names(refusal([](RnicQpConfig& c) { c.srq = 99; }), "SRQ 99"));
  BOOST_TEST(Names(refusal([](RnicQpConfig& c) { c.type = QpType::kDct; }), "DCT"));
  BOOST_TEST(Names(h.a.nic.CreateCq({0, 8388608}).refusal, "limit of 4194304"));
  BOOST_TEST(Names(h.a.nic.CreateSrq(h.a.pd, {0, 0, 65536, 32}).refusal, "limit of 32768"));
  BOOST_TEST(h.a.nic.Keys().Register({0x1000, 0x1000, 0, h.a.pd, 0}) == 0u);
  BOOST_TEST(h.a.nic.Keys().Register({~uint64_t{0}, 0x1000, 2, h.a.pd, 0}) == 0u);
}

BOOST_AUTO_TEST_CASE(ADomainInUseIsNotFreed) {
  Harness h;
  Protection& keys = h.a.nic.Keys();
  const Buffer buffer = h.Register(h.a, 64);
  End end = h.MakeEnd(h.a, {});
  BOOST_TEST(!keys.FreePd(h.a.pd));
  BOOST_TEST(keys.Deregister(buffer.key));
  BOOST_TEST(!keys.FreePd(h.a.pd));
  BOOST_TEST(h.a.nic.DestroyQp(end.qpn) == "");
  BOOST_TEST(keys.FreePd(h.a.pd));
  BOOST_TEST(!keys.HasPd(h.a.pd));
  BOOST_TEST(!keys.FreePd(h.a.pd));
}

BOOST_AUTO_TEST_CASE(AQpCountBeyondTheLimitIsRefused) {
  RnicConfig small;
  small.limits.qps = 1;
  Harness h(small);
  End first = h.MakeEnd(h.a, {});
  BOOST_CHECK_THROW(h.MakeEnd(h.a, {}), std::runtime_error);
  BOOST_TEST(h.a.nic.DestroyQp(first.qpn) == "");
  BOOST_TEST(h.MakeEnd(h.a, {}).qpn == first.qpn);
}

BOOST_FIXTURE_TEST_CASE(BeforeRtsTheRequesterIsSilentAndBeforeRtrTheResponder, RcFixture) {
  QpAttributes reset;
  reset.state = State::kReset;
  h.a.nic.ModifyQp(pipe.local.qpn, reset, kAttrState);
  pipe.local.producer = 0;
  h.Store(pipe.local, Write(8));
  h.Ring(pipe.local);
  BOOST_TEST(Finish().empty());
  BOOST_TEST(h.a.nic.Count().doorbells_stray == 1u);
  const uint64_t dropped = h.a.nic.Count().packets_dropped;
  wire::Packet packet;
  packet.opcode = wire::Opcode::kRcWriteOnly;
  packet.dest_qpn = pipe.local.qpn;
  BOOST_TEST(h.a.nic.Receive(packet, h.b.address).qp == nullptr);
  BOOST_TEST(h.a.nic.Count().packets_dropped == dropped + 1);
}

BOOST_FIXTURE_TEST_CASE(ADrainFinishesWhatWasBegunAndSaysSo, RcFixture) {
  for (int i = 0; i < 4; ++i) h.Store(pipe.local, Write(3000));
  h.SetRecord(pipe.local);
  h.Ring(pipe.local);
  for (int i = 0; i < 2; ++i) h.Step();
  QpAttributes drain;
  drain.state = State::kSendQueueDrain;
  drain.drain_notify = true;
  BOOST_TEST(h.a.nic.ModifyQp(pipe.local.qpn, drain, kAttrState | kAttrDrainNotify) == "");
  const size_t begun = Finish().size();
  BOOST_TEST(begun >= 1u);
  BOOST_TEST(begun < 4u);
  const auto events = h.a.nic.TakeEvents();
  BOOST_TEST_REQUIRE(events.size() == 1u);
  BOOST_TEST((events[0].kind == EventKind::kSendQueueDrained));
  QpAttributes ready;
  ready.state = State::kReadyToSend;
  BOOST_TEST(h.a.nic.ModifyQp(pipe.local.qpn, ready, kAttrState) == "");
  BOOST_TEST(Finish().size() == 4u - begun);
}

BOOST_FIXTURE_TEST_CASE(AWrongCurrentStateIsRefused, RcFixture) {
  QpAttributes ready;
  ready.state = State::kReadyToSend;
  ready.current_state = State::kSendQueueDrain;
  BOOST_TEST(h.a.nic.ModifyQp(pipe.local.qpn, ready, kAttrState | kAttrCurrentState) ==
             "the QP is in RTS, not in SQD");
}

}  // namespace ringpost::sim

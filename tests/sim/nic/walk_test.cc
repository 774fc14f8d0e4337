// Random walks over a wire that loses, repeats and reorders: exactly-once placement, PSN order, an
// account of every WQE; and a table of what they met.
#include "tests/sim/nic/walk.h"

#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <cstdlib>

#include "tests/seed.h"

namespace ringpost::sim {
namespace {

using abi::Opcode;

// Of each transport that is reliable: a second or two, or as many as RINGPOST_WALKS says.
uint64_t Walks() {
  const char* walks = std::getenv("RINGPOST_WALKS");
  return walks == nullptr ? 150 : std::strtoull(walks, nullptr, 10);
}

void WalkMany(QpType type, Coverage& coverage) {
  for (uint64_t i = 0; i < Walks(); ++i) {
    Walk walk(TestSeed() * 100003 + i, type, coverage);
    const std::string wrong = walk.Run(120);
    BOOST_TEST_REQUIRE(wrong == "", NameOf(type) << " walk " << i << " (of RINGPOST_WALKS=" << i + 1
                                                 << " or more): " << wrong);
  }
}

// Sends numbered messages; what arrives is whole and, on a wire that keeps the order, in order.
void WalkUnreliable(QpType type, uint64_t seed, Coverage& coverage) {
  Harness h({}, seed);
  h.faults = {0.1, 0, 0};
  const uint32_t longest = type == QpType::kUd ? 4000 : 6000;
  const uint32_t skipped = type == QpType::kUd ? 40 : 0;
  Pipe pipe = h.Connect({.type = type}, {.type = type, .rq_depth = 64});
  const Buffer source = h.Register(h.a, 0x2000), target = h.Register(h.b, 0x2000);
  uint32_t newest = 0;
  for (uint32_t number = 1; number <= 40; ++number) {
    const uint32_t bytes = 4 + static_cast<uint32_t>(h.random() % (longest - 4));
    for (uint32_t i = 0; i < bytes; ++i) source.Bytes()[i] = static_cast<uint8_t>(number + i / 4);
    std::memcpy(source.Bytes(), &number, 4);
    const bool write = type == QpType::kUc && h.random() % 2 == 0;
    const bool immediate = h.random() % 2 == 0;
    const Opcode opcode = write ? (immediate ? Opcode::kRdmaWriteImm : Opcode::kRdmaWrite)
                                : (immediate ? Opcode::kSendImm : Opcode::kSend);
    ++coverage.wqe_opcodes[static_cast<int>(opcode)];
    WqeBytes wqe(opcode, abi::kCqeAlways);
    if (type == QpType::kUd) {
      wqe.Target(uint64_t{0x1234} << 32, pipe.remote.qpn, h.b.address.lid, true);
    }
    if (write) wqe.Remote(target.address, target.key);
    h.PostReceive(pipe.remote, {{target.address, target.key, 0x2000}});
    h.Post(pipe.local, wqe.Data(bytes, source.key, source.address));
    BOOST_TEST_REQUIRE(h.Run());
    BOOST_TEST_REQUIRE(h.Poll(pipe.local).size() == 1u);
    for (const abi::Cqe& cqe : h.PollReceives(pipe.remote)) {
      BOOST_TEST_REQUIRE(!IsError(cqe));
      BOOST_TEST(BytesOf(cqe) == bytes + skipped);
      BOOST_TEST(std::memcmp(target.Bytes() + skipped, source.Bytes(), bytes) == 0);
      BOOST_TEST(number > newest);
      newest = number;
    }
  }
  BOOST_TEST(newest != 0u);
  for (const wire::Opcode opcode : h.opcodes_seen) {
    ++coverage.packet_opcodes[static_cast<int>(opcode)];
  }
}

// From state to state by what the table allows.
void WalkStates(QpType type, Coverage& coverage) {
  Harness h({}, TestSeed());
  uint32_t srqn = 0;
  if (type == QpType::kDct) srqn = h.a.nic.CreateSrq(h.a.pd, {0x10000, 0x10000, 4, 32}).number;
  End end = h.MakeEnd(h.a, {.type = type, .srq = srqn});
  End peer = h.MakeEnd(h.b, {});
  for (int i = 0; i < 20000; ++i) {
    const State from = h.Qp(end).state;
    // No software brings a QP to SQE: a WQE that failed does.
    const bool unreliable = type == QpType::kUc || type == QpType::kUd;
    if (from == State::kReadyToSend && unreliable && h.random() % 8 == 0) {
      h.Store(end, WqeBytes(static_cast<Opcode>(0x25), 0));
      h.Ring(end);
      h.Run();
      h.Poll(end);
      BOOST_TEST_REQUIRE((h.Qp(end).state == State::kSendQueueError));
      QpAttributes ready;
      constexpr State kNext[] = {State::kReadyToSend, State::kReadyToSend, State::kReset,
                                 State::kError};
      ready.state = kNext[h.random() % 4];
      BOOST_TEST_REQUIRE(h.a.nic.ModifyQp(end.qpn, ready, kAttrState) == "");
      ++coverage.transitions[std::string(NameOf(type)) + " SQE->" + NameOf(ready.state)];
      end.producer = ready.state == State::kReset ? 0 : end.producer;
      if (ready.state != State::kReadyToSend) continue;
    }
    const State to = static_cast<State>(h.random() % kStates);
    // Else a walk seldom leaves RST and ERR.
    if ((to == State::kReset || to == State::kError) && h.random() % 8 != 0) continue;
    const Transition transition = TransitionOf(type, from, to);
    QpAttributes attributes = h.Defaults(h.b, peer.qpn);
    attributes.state = to;
    attributes.current_state = from;
    attributes.port = 1;
    uint32_t mask = kAttrState | transition.required;
    if (h.random() % 2 == 0) mask |= transition.optional;
    const std::string refusal = h.a.nic.ModifyQp(end.qpn, attributes, mask);
    BOOST_TEST_REQUIRE((refusal == "") == transition.allowed, refusal);
    if (!transition.allowed) continue;
    BOOST_TEST_REQUIRE((h.Qp(end).state == to));
    if (to == State::kReset) end.producer = 0;
    ++coverage.transitions[std::string(NameOf(type)) + " " + NameOf(from) + "->" + NameOf(to)];
  }
}

// Prints one line; a thing that never happened fails.
void Expect(const std::string& what, uint64_t count) {
  std::printf("  %-28s %8llu\n", what.c_str(), static_cast<unsigned long long>(count));
  BOOST_TEST(count != 0u, what << " never happened");
}

void PrintTable(Coverage& coverage) {
  std::printf("operations %llu, recoveries %llu\n",
              static_cast<unsigned long long>(coverage.operations),
              static_cast<unsigned long long>(coverage.recoveries));
  Expect("packets lost", coverage.lost);
  Expect("packets repeated", coverage.repeated);
  Expect("packets reordered", coverage.reordered);
  Expect("answers too long", coverage.corrupted[0]);
  Expect("answers with an error", coverage.corrupted[1]);
  Expect("answers not ready", coverage.corrupted[2]);
  for (const Opcode opcode :
       {Opcode::kNop, Opcode::kSendInvalidate, Opcode::kRdmaWrite, Opcode::kRdmaWriteImm,
        Opcode::kSend, Opcode::kSendImm, Opcode::kWait, Opcode::kRdmaRead,
        Opcode::kAtomicCompareSwap, Opcode::kAtomicFetchAdd, Opcode::kAtomicMaskedCompareSwap,
        Opcode::kAtomicMaskedFetchAdd, Opcode::kDump}) {
    Expect("WQE opcode " + std::to_string(static_cast<int>(opcode)),
           coverage.wqe_opcodes[static_cast<int>(opcode)]);
  }
  for (int opcode = 0; opcode < 256; ++opcode) {
    const wire::Opcode known = static_cast<wire::Opcode>(opcode);
    if (!wire::IsKnown(known) || known == wire::Opcode::kCnp) continue;
    Expect("packet opcode " + std::to_string(opcode), coverage.packet_opcodes[opcode]);
  }
  for (const int syndrome : {0x01, 0x02, 0x04, 0x05, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16}) {
    Expect("syndrome " + std::to_string(syndrome), coverage.syndromes[syndrome]);
  }
  for (const QpType type : {QpType::kRc, QpType::kUc, QpType::kUd, QpType::kDci, QpType::kDct}) {
    for (int from = 0; from < kStates; ++from) {
      for (int to = 0; to < kStates; ++to) {
        const State a = static_cast<State>(from), b = static_cast<State>(to);
        const bool reached =
            a != State::kSendQueueError || type == QpType::kUc || type == QpType::kUd;
        const bool sends = a != State::kReadyToSend && a != State::kSendQueueDrain;
        if (!TransitionOf(type, a, b).allowed || !reached || (type == QpType::kDct && !sends)) {
          continue;
        }
        const std::string name = std::string(NameOf(type)) + " " + NameOf(a) + "->" + NameOf(b);
        Expect(name, coverage.transitions[name]);
      }
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(RandomWalksEndAsTheirModelDoesAndMeetEverything) {
  Coverage coverage;
  WalkMany(QpType::kRc, coverage);
  WalkMany(QpType::kDci, coverage);
  for (uint64_t i = 0; i < 10; ++i) {
    WalkUnreliable(QpType::kUc, TestSeed() + i, coverage);
    WalkUnreliable(QpType::kUd, TestSeed() + i, coverage);
  }
  for (const QpType type : {QpType::kRc, QpType::kUc, QpType::kUd, QpType::kDci, QpType::kDct}) {
    WalkStates(type, coverage);
  }
  PrintTable(coverage);
}

}  // namespace ringpost::sim

#include "tests/sim/nic/walk.h"

#include <algorithm>

namespace ringpost::sim {
namespace {

using abi::Opcode;
constexpr uint32_t kDepth = 64;
constexpr uint32_t kReceives = 64;
constexpr uint32_t kReceiveBytes = 0x1000;
constexpr uint64_t kDcKey = 0x5623ceaf;

}  // namespace

Walk::Walk(uint64_t seed, QpType type, Coverage& coverage)
    : h_({}, seed), type_(type), coverage_(coverage) {
  h_.faults = {0.08 * static_cast<double>(Draw(2)), 0.05 * static_cast<double>(Draw(3)),
               0.1 * static_cast<double>(Draw(4))};
  h_.base.path_mtu = Draw(2) == 0 ? 256 : 1024;
  h_.base.max_rd_atomic = static_cast<uint8_t>(1 + Draw(16));
  Setup();
}

void Walk::Setup() {
  local_ = h_.Register(h_.a, kLocalBytes);
  end_ = h_.MakeEnd(h_.a, {.type = type_, .depth = kDepth, .waits = true});
  const bool dc = type_ == QpType::kDci;
  for (int i = 0; i < (dc ? 2 : 1); ++i) {
    Peer peer;
    peer.memory = h_.Register(h_.b, kTargetBytes);
    peer.model.assign(kTargetBytes, 0);
    peer.receive = h_.Register(h_.b, uint64_t{kReceives} * kReceiveBytes);
    EndOptions options{.rq_depth = kReceives};
    if (dc) {
      // An SRQ of its own for each DCT, as a plain ring that links each WQE to the next.
      peer.end.rq = h_.b.memory.Allocate(uint64_t{kReceives} * 32);
      peer.end.record = h_.b.memory.Allocate(8);
      options = {.type = QpType::kDct, .dc_key = kDcKey};
      options.srq =
          h_.b.nic.CreateSrq(h_.b.pd, {peer.end.rq, peer.end.record, kReceives, 32, true}).number;
      End made = h_.MakeEnd(h_.b, options);
      made.rq = peer.end.rq;
      made.record = peer.end.record;
      made.rq_depth = kReceives;
      made.stride = 32;
      peer.end = made;
    } else {
      peer.end = h_.MakeEnd(h_.b, options);
    }
    peers_.push_back(peer);
  }
  Bring();
}

void Walk::Bring() {
  h_.Ready(end_, h_.b, peers_[0].end.qpn);
  for (Peer& peer : peers_) {
    if (h_.Qp(peer.end).state == State::kReset) h_.Ready(peer.end, h_.a, end_.qpn);
  }
}

// Receives are posted in order, into one buffer each.
void Walk::FillReceives() {
  for (Peer& peer : peers_) {
    while (peer.end.posted - peer.received < kReceives / 2) {
      const uint64_t slot = peer.end.posted % kReceives;
      const uint64_t at = peer.receive.address + slot * kReceiveBytes;
      if (type_ != QpType::kDci) {
        h_.PostReceive(peer.end, {{at, peer.receive.key, 100},
                                  {at + 100, peer.receive.key, kReceiveBytes - 100}});
        continue;
      }
      WqeBytes list(Opcode::kNop, 0);
      list.Big32(static_cast<uint32_t>((slot + 1) % kReceives)).Big32(0).Big64(0);
      list.Data(kReceiveBytes, peer.receive.key, at);
      std::memcpy(h_.b.memory.At(peer.end.rq + slot * 32), list.Finish(0, 0).data() + 16, 32);
      const uint32_t word = abi::Swap32(static_cast<uint32_t>(++peer.end.posted & 0xffff));
      std::memcpy(h_.b.memory.At(peer.end.record), &word, 4);
    }
  }
}

std::string Walk::CheckReceives(Peer& peer) {
  for (const abi::Cqe& cqe : h_.PollReceives(peer.end)) {
    if (IsError(cqe)) {
      ++coverage_.syndromes[SyndromeOf(cqe)];
      continue;
    }
    if (peer.expected_receives.empty()) return "a receive completed that nothing was sent to";
    const std::vector<uint8_t> expected = peer.expected_receives.front();
    peer.expected_receives.pop_front();
    const uint16_t slot = static_cast<uint16_t>(peer.received++ % kReceives);
    if (CounterOf(cqe) % kReceives != slot) return "a receive completed out of order";
    if (OpcodeOf(cqe) == abi::CqeOpcode::kResponderWriteImm) {
      if (!expected.empty()) return "a write completed a receive that a send was for";
      continue;
    }
    const uint8_t* got = h_.b.memory.At(peer.receive.address + slot * kReceiveBytes);
    if (BytesOf(cqe) != expected.size() || !std::equal(expected.begin(), expected.end(), got)) {
      return "a send arrived with other bytes";
    }
  }
  return {};
}

// CQEs: of signalled WQEs alone, in order, until one failed; then of each.
std::string Walk::CheckCompletions() {
  const std::vector<abi::Cqe> cqes = h_.Poll(end_);
  size_t next = 0;
  for (const Posted& posted : posted_) {
    if (!failed_ && !posted.signalled && posted.failure == 0) {
      if (next == cqes.size() || CounterOf(cqes[next]) != posted.index || !IsError(cqes[next])) {
        continue;
      }
    }
    if (next == cqes.size()) return "a WQE has no CQE";
    const abi::Cqe& cqe = cqes[next++];
    if (CounterOf(cqe) != posted.index) return "CQEs are out of order";
    if (failed_) {
      if (!IsError(cqe) || SyndromeOf(cqe) != 5) return "a WQE behind a failed one was not flushed";
      ++coverage_.syndromes[5];
      continue;
    }
    if (!IsError(cqe)) {
      if (posted.failure != 0) return "a WQE that cannot work did";
      const uint8_t* got = h_.a.memory.At(posted.local);
      if (!posted.result.empty() && !std::equal(posted.result.begin(), posted.result.end(), got)) {
        return "a READ or atomic returned other bytes";
      }
      continue;
    }
    failed_ = true;
    ++coverage_.syndromes[SyndromeOf(cqe)];
    // A lossy wire may use up the retries, and the loss of a NAK does where the peer is in ERR.
    const bool peer_failed = h_.Qp(peers_[0].end).state == State::kError;
    const bool retries = SyndromeOf(cqe) == 0x15 && (peer_failed || h_.lost - lost_before_ >= 7);
    if (SyndromeOf(cqe) != posted.failure && !retries && (accepted_ >> SyndromeOf(cqe) & 1) == 0) {
      return "syndrome " + std::to_string(SyndromeOf(cqe)) + " instead of " +
             std::to_string(posted.failure);
    }
  }
  return next == cqes.size() ? std::string() : "a CQE too many";
}

std::string Walk::Check(bool ended) {
  if (!ended) return "it did not end";
  std::string wrong = CheckCompletions();
  for (Peer& peer : peers_) {
    if (wrong.empty()) wrong = CheckReceives(peer);
    if (!wrong.empty() || failed_) continue;
    if (!peer.expected_receives.empty()) return "a send did not arrive";
    if (!std::equal(peer.model.begin(), peer.model.end(), peer.memory.Bytes())) {
      return "target memory differs from the model's";
    }
  }
  return wrong;
}

// Both sides start anew, and so does the model.
std::string Walk::Recover() {
  ++coverage_.recoveries;
  failed_ = broken_ = false;
  accepted_ = 0;
  QpAttributes reset;
  reset.state = State::kReset;
  std::string wrong = end_.side->nic.ModifyQp(end_.qpn, reset, kAttrState);
  end_.producer = 0;
  h_.SetRecord(end_);
  for (Peer& peer : peers_) {
    if (type_ != QpType::kDci) {
      h_.b.nic.ModifyQp(peer.end.qpn, reset, kAttrState);
      peer.end.posted = peer.received = 0;
      std::memset(h_.b.memory.At(peer.end.record), 0, 8);
    }
    h_.PollReceives(peer.end);
    peer.expected_receives.clear();
    std::copy_n(peer.memory.Bytes(), kTargetBytes, peer.model.begin());
    if (type_ != QpType::kDci) continue;
    // A receive that a message was filling is filled by the next one.
    peer.received = h_.Qp(peer.end).receives->Taken();
    for (const auto& source : h_.Qp(peer.end).sources) {
      if (source->responder.receive.taken) --peer.received;
    }
  }
  Bring();
  return wrong;
}

// To SQD and back, with nothing under way.
std::string Walk::Drain() {
  QpAttributes to;
  to.state = State::kSendQueueDrain;
  std::string wrong = end_.side->nic.ModifyQp(end_.qpn, to, kAttrState);
  to.state = State::kReadyToSend;
  return wrong.empty() ? end_.side->nic.ModifyQp(end_.qpn, to, kAttrState) : wrong;
}

std::string Walk::Run(uint32_t operations) {
  std::string wrong;
  for (uint32_t done = 0; done < operations && wrong.empty();) {
    posted_.clear();
    local_next_ = 0;
    lost_before_ = h_.lost;
    if (Draw(8) == 0) wrong = Drain();
    for (uint64_t burst = 1 + Draw(10); burst != 0; --burst, ++done) {
      FillReceives();
      PostOne();
      for (uint64_t steps = Draw(6); steps != 0; --steps) h_.Step();
      if (broken_ && Draw(2) == 0) break;
    }
    wrong = Check(h_.Run());
    h_.on_wire = nullptr;
    const bool in_error = h_.Qp(end_).state == State::kError;
    failed_ = failed_ || in_error;
    if (wrong.empty() && failed_) wrong = Recover();
  }
  for (const wire::Opcode opcode : h_.opcodes_seen) {
    ++coverage_.packet_opcodes[static_cast<int>(opcode)];
  }
  coverage_.lost += h_.lost;
  coverage_.repeated += h_.repeated;
  coverage_.reordered += h_.reordered;
  return wrong;
}

}  // namespace ringpost::sim

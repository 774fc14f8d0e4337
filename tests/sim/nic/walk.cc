#include "tests/sim/nic/walk.h"

#include <algorithm>

#include "sim/nic/atomics.h"

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
  end_ = h_.MakeEnd(h_.a, {.type = type_, .depth = kDepth});
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

WqeBytes Walk::Start(Opcode opcode, uint8_t flags, Peer& peer, uint8_t opmod) {
  ++coverage_.wqe_opcodes[static_cast<int>(opcode)];
  WqeBytes wqe(opcode, flags, opmod);
  if (type_ == QpType::kDci) {
    wqe.Target(kDcKey, peer.end.qpn, h_.b.address.lid, Draw(2) == 0);
  }
  return wqe;
}

// Local buffers are not used twice within a round.
uint64_t Walk::TakeLocal(uint32_t bytes) {
  const uint64_t at = local_.address + local_next_;
  local_next_ += (bytes + 7) / 8 * 8;
  for (uint32_t i = 0; i < bytes; ++i) *h_.a.memory.At(at + i) = static_cast<uint8_t>(Draw(256));
  return at;
}

// Where answers may be lost, a READ may be executed again, after this write to what it reads.
void Walk::Touch(Peer& peer, uint64_t at, uint64_t bytes) {
  if (h_.faults.lose == 0 && h_.faults.reorder == 0) return;
  for (Posted& posted : posted_) {
    if (posted.peer != &peer) continue;
    if (posted.from < at + bytes && at < posted.from + posted.result.size()) posted.result.clear();
  }
}

void Walk::Finish(Peer&, const WqeBytes& wqe, Posted& posted) {
  posted.index = static_cast<uint16_t>(end_.producer);
  h_.Post(end_, wqe);
  posted_.push_back(posted);
  ++coverage_.operations;
}

void Walk::PostWrite(Peer& peer, Posted& posted, uint8_t flags) {
  const bool immediate = Draw(4) == 0;
  const bool in_wqe = Draw(2) == 0;
  const uint32_t bytes = static_cast<uint32_t>(Draw(in_wqe ? 200 : 3000));
  const uint64_t at = Draw(kTargetBytes - bytes);
  const uint64_t local = TakeLocal(bytes);
  WqeBytes wqe = Start(immediate ? Opcode::kRdmaWriteImm : Opcode::kRdmaWrite, flags, peer);
  wqe.Immediate(static_cast<uint32_t>(peer.expected_receives.size()));
  wqe.Remote(peer.memory.address + at, peer.memory.key);
  const uint8_t* from = h_.a.memory.At(local);
  if (in_wqe) {
    wqe.Inline(std::string(from, from + bytes));
  } else if (bytes > 10 && Draw(2) == 0) {
    const uint32_t cut = 1 + static_cast<uint32_t>(Draw(bytes - 1));
    wqe.Data(cut, local_.key, local).Data(bytes - cut, local_.key, local + cut);
  } else if (bytes != 0) {
    wqe.Data(bytes, local_.key, local);
  }
  Touch(peer, at, bytes);
  std::copy_n(from, bytes, peer.model.begin() + static_cast<ptrdiff_t>(at));
  if (immediate) peer.expected_receives.emplace_back();
  Finish(peer, wqe, posted);
}

void Walk::PostSend(Peer& peer, Posted& posted, uint8_t flags) {
  const uint32_t bytes = static_cast<uint32_t>(Draw(kReceiveBytes));
  const uint64_t local = TakeLocal(bytes);
  WqeBytes wqe = Start(Draw(2) == 0 ? Opcode::kSend : Opcode::kSendImm, flags, peer);
  if (bytes != 0) wqe.Data(bytes, local_.key, local);
  const uint8_t* from = h_.a.memory.At(local);
  peer.expected_receives.emplace_back(from, from + bytes);
  Finish(peer, wqe, posted);
}

void Walk::PostRead(Peer& peer, Posted& posted, uint8_t flags) {
  const uint32_t bytes = static_cast<uint32_t>(1 + Draw(3000));
  const uint64_t at = Draw(kTargetBytes - bytes);
  posted.local = TakeLocal(bytes);
  const auto from = peer.model.begin() + static_cast<ptrdiff_t>(at);
  posted.result.assign(from, from + bytes);
  posted.peer = &peer;
  posted.from = at;
  WqeBytes wqe = Start(Opcode::kRdmaRead, flags, peer);
  wqe.Remote(peer.memory.address + at, peer.memory.key).Data(bytes, local_.key, posted.local);
  Finish(peer, wqe, posted);
}

void Walk::PostAtomic(Peer& peer, Posted& posted, uint8_t flags) {
  const uint64_t at = Draw(kTargetBytes / 8) * 8;
  Touch(peer, at, 8);
  uint64_t old = 0;
  std::memcpy(&old, peer.model.data() + at, 8);
  const uint64_t operand = h_.random();
  const bool add = Draw(2) == 0;
  const uint64_t compare = Draw(2) == 0 ? old : h_.random();
  posted.local = TakeLocal(8);
  WqeBytes wqe = Start(add ? Opcode::kAtomicFetchAdd : Opcode::kAtomicCompareSwap, flags, peer);
  wqe.Remote(peer.memory.address + at, peer.memory.key).Big64(operand).Big64(compare);
  wqe.Data(8, local_.key, posted.local);
  posted.result.resize(8);
  std::memcpy(posted.result.data(), &old, 8);
  const uint64_t next = add ? old + operand : old == compare ? operand : old;
  std::memcpy(peer.model.data() + at, &next, 8);
  Finish(peer, wqe, posted);
}

void Walk::PostMasked(Peer& peer, Posted& posted, uint8_t flags) {
  const uint32_t bytes = Draw(2) == 0 ? 4 : 8;
  const uint64_t at = Draw(kTargetBytes / 8) * 8;
  Touch(peer, at, bytes);
  uint64_t old = 0;
  std::memcpy(&old, peer.model.data() + at, bytes);
  const uint64_t all = bytes == 4 ? 0xffffffff : ~uint64_t{0};
  const uint64_t operand = h_.random() & all, compare = h_.random() & all;
  const uint64_t swap_mask = h_.random() & all, compare_mask = Draw(2) == 0 ? 0 : all;
  const bool add = Draw(2) == 0;
  posted.local = TakeLocal(bytes);
  WqeBytes wqe = Start(add ? Opcode::kAtomicMaskedFetchAdd : Opcode::kAtomicMaskedCompareSwap,
                       flags, peer, bytes == 4 ? 0x08 : 0x09);
  wqe.Remote(peer.memory.address + at, peer.memory.key);
  const auto word = [&](uint64_t value) {
    bytes == 4 ? wqe.Big32(static_cast<uint32_t>(value)) : wqe.Big64(value);
  };
  word(operand);
  word(add ? swap_mask : compare);
  if (!add || bytes == 4) {
    word(add ? 0 : swap_mask);
    word(add ? 0 : compare_mask);
  }
  wqe.Data(bytes, local_.key, posted.local);
  uint64_t next = old;
  if (add) {
    next = AddInFields(old, operand, swap_mask) & all;
  } else if (((old ^ compare) & compare_mask) == 0) {
    next = (old & ~swap_mask) | (operand & swap_mask);
  }
  std::memcpy(peer.model.data() + at, &next, bytes);
  // 4 bytes come back big endian.
  posted.result.resize(bytes);
  const uint64_t result = bytes == 4 ? abi::Swap32(static_cast<uint32_t>(old)) : old;
  std::memcpy(posted.result.data(), &result, bytes);
  Finish(peer, wqe, posted);
}

// Something that must fail, and takes the QP with it.
void Walk::PostBroken(Peer& peer, Posted& posted, uint8_t flags) {
  broken_ = true;
  const uint64_t local = TakeLocal(8);
  const auto write = [&](uint64_t to, uint32_t rkey, uint32_t lkey) {
    WqeBytes wqe = Start(Opcode::kRdmaWrite, flags, peer);
    Finish(peer, wqe.Remote(to, rkey).Data(8, lkey, local), posted);
  };
  switch (Draw(5)) {
    case 0:
      posted.failure = static_cast<int>(abi::Syndrome::kRemoteAccess);
      return write(peer.memory.address, peer.memory.key ^ 0x40, local_.key);
    case 1:
      posted.failure = static_cast<int>(abi::Syndrome::kLocalProtection);
      return write(peer.memory.address, peer.memory.key, local_.key ^ 0x40);
    case 2: {
      posted.failure = static_cast<int>(abi::Syndrome::kLocalQpOperation);
      return Finish(peer, Start(static_cast<Opcode>(0x25), flags, peer), posted);
    }
    case 3: {
      posted.failure = static_cast<int>(abi::Syndrome::kRemoteInvalidRequest);
      WqeBytes wqe = Start(Opcode::kAtomicFetchAdd, flags, peer);
      wqe.Remote(peer.memory.address + 4, peer.memory.key).Big64(1).Big64(0);
      return Finish(peer, wqe.Data(8, local_.key, local), posted);
    }
    default: {
      posted.failure = static_cast<int>(abi::Syndrome::kLocalLength);
      WqeBytes wqe = Start(Opcode::kRdmaWrite, flags, peer);
      wqe.Remote(peer.memory.address, peer.memory.key).Data(0, local_.key, local);
      return Finish(peer, wqe, posted);
    }
  }
}

void Walk::PostOne() {
  Peer& peer = peers_[Draw(peers_.size())];
  Posted posted;
  posted.signalled = Draw(3) != 0;
  uint8_t flags = posted.signalled ? abi::kCqeAlways : 0;
  if (Draw(8) == 0) flags |= abi::kFenceReadsAtomics;
  if (Draw(60) == 0) return PostBroken(peer, posted, flags);
  switch (Draw(10)) {
    case 0:
    case 1:
    case 2:
      return PostWrite(peer, posted, flags);
    case 3:
    case 4:
      return PostSend(peer, posted, flags);
    case 5:
    case 6:
      return PostRead(peer, posted, flags);
    case 7:
      return PostAtomic(peer, posted, flags);
    case 8:
      return PostMasked(peer, posted, flags);
    default: {
      const Opcode opcode = Draw(2) == 0 ? Opcode::kNop : Opcode::kDump;
      ++coverage_.wqe_opcodes[static_cast<int>(opcode)];
      WqeBytes wqe(opcode, flags);
      if (opcode == Opcode::kDump) wqe.Data(8, local_.key, local_.address);
      return Finish(peer, wqe, posted);
    }
  }
}

std::string Walk::CheckReceives(Peer& peer) {
  for (const abi::Cqe& cqe : h_.PollReceives(peer.end)) {
    if (IsError(cqe)) continue;
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
    // A lossy wire may use up the retries instead.
    if (SyndromeOf(cqe) != posted.failure && SyndromeOf(cqe) != 0x15) {
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

std::string Walk::Run(uint32_t operations) {
  std::string wrong;
  for (uint32_t done = 0; done < operations && wrong.empty();) {
    posted_.clear();
    local_next_ = 0;
    for (uint64_t burst = 1 + Draw(10); burst != 0; --burst, ++done) {
      FillReceives();
      PostOne();
      for (uint64_t steps = Draw(6); steps != 0; --steps) h_.Step();
      if (broken_ && Draw(2) == 0) break;
    }
    wrong = Check(h_.Run());
    if (wrong.empty() && failed_) wrong = Recover();
  }
  for (const wire::Opcode opcode : h_.opcodes_seen) {
    ++coverage_.packet_opcodes[static_cast<int>(opcode)];
  }
  return wrong;
}

}  // namespace ringpost::sim

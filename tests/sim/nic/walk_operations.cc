// What a walk posts, and what its model says of it.
#include <algorithm>

#include "sim/nic/atomics.h"
#include "tests/sim/nic/walk.h"

namespace ringpost::sim {
namespace {

using abi::Opcode;
constexpr uint32_t kReceiveBytes = 0x1000;
constexpr uint64_t kDcKey = 0x5623ceaf;

}  // namespace

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
  const Opcode opcodes[] = {Opcode::kSend, Opcode::kSendImm, Opcode::kSendInvalidate};
  const Opcode opcode = opcodes[Draw(3)];
  WqeBytes wqe = Start(opcode, flags, peer);
  if (opcode == Opcode::kSendInvalidate) {
    // A key that is used for nothing else.
    const uint32_t key = h_.b.nic.Keys().Register(
        {peer.memory.address, peer.memory.address, 8, h_.b.pd, kMayInvalidateRemotely});
    wqe.Immediate(abi::Swap32(key));
  }
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

// From now on answers come back as they should not; which WQE it hits is open.
void Walk::Corrupt(Peer&) {
  const uint64_t how = Draw(3);
  ++coverage_.corrupted[how];
  const abi::Syndrome hit[] = {abi::Syndrome::kBadResponse, abi::Syndrome::kRemoteOperation,
                               abi::Syndrome::kRnrRetryExceeded};
  accepted_ |= 1u << static_cast<int>(hit[how]);
  QpContext* qp = &h_.Qp(end_);
  if (how == 2) qp->attributes.rnr_retry = 2;
  h_.on_wire = [how, qp](wire::Packet& packet) {
    if (!wire::IsResponse(packet.opcode)) return true;
    if (how == 0) {
      if (wire::IsOnly(packet.opcode) && wire::HasPayload(packet.opcode)) {
        packet.payload.push_back(0);
      }
      return true;
    }
    packet.opcode = wire::OnService(wire::Opcode::kRcAck, wire::ServiceOf(packet.opcode));
    packet.payload.clear();
    packet.psn = qp->requester.unanswered;
    packet.syndrome = how == 1 ? 0x63 : 0x2c;
    return true;
  };
}

// Something that must fail, and takes the QP with it.
void Walk::PostBroken(Peer& peer, Posted& posted, uint8_t flags) {
  broken_ = true;
  const uint64_t local = TakeLocal(8);
  const auto write = [&](uint64_t to, uint32_t rkey, uint32_t lkey) {
    WqeBytes wqe = Start(Draw(2) == 0 ? Opcode::kRdmaWrite : Opcode::kRdmaWriteImm, flags, peer);
    Finish(peer, wqe.Remote(to, rkey).Data(8, lkey, local), posted);
  };
  switch (Draw(9)) {
    case 5:
    case 6:
    case 7:
      Corrupt(peer);
      return PostRead(peer, posted, flags);
    case 8: {
      // Software gives up; what is outstanding is flushed.
      PostWrite(peer, posted, flags);
      accepted_ |= 1u << static_cast<int>(abi::Syndrome::kFlushed);
      QpAttributes error;
      error.state = State::kError;
      end_.side->nic.ModifyQp(end_.qpn, error, kAttrState);
      return;
    }
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
      Opcode opcode = Draw(2) == 0 ? Opcode::kNop : Opcode::kDump;
      // For what the CQ has had already.
      if (Draw(3) == 0 && end_.side->nic.FindCq(end_.cqn)->producer != 0) opcode = Opcode::kWait;
      ++coverage_.wqe_opcodes[static_cast<int>(opcode)];
      WqeBytes wqe(opcode, flags);
      if (opcode == Opcode::kDump) wqe.Data(8, local_.key, local_.address);
      if (opcode == Opcode::kWait) wqe.Wait(end_.cqn, 0);
      return Finish(peer, wqe, posted);
    }
  }
}

}  // namespace ringpost::sim

#include "tests/sim/nic/harness.h"

#include <algorithm>

#include "transport/abi/doorbell.h"

namespace ringpost::sim {
namespace {

RnicConfig WithSlot(RnicConfig config, uint8_t slot) {
  config.slot = slot;
  return config;
}

constexpr uint32_t kAttributesOf[][3] = {
    // INIT, RTR, RTS
    {kAttrPkeyIndex | kAttrPort | kAttrAccess,
     kAttrAddress | kAttrPathMtu | kAttrDestQpn | kAttrReceivePsn | kAttrMaxDestRdAtomic |
         kAttrMinRnrTimer,
     kAttrTimeout | kAttrRetryCount | kAttrRnrRetry | kAttrSendPsn | kAttrMaxRdAtomic},
    {kAttrPkeyIndex | kAttrPort | kAttrAccess,
     kAttrAddress | kAttrPathMtu | kAttrDestQpn | kAttrReceivePsn, kAttrSendPsn},
    {kAttrPkeyIndex | kAttrPort | kAttrQkey, 0, kAttrSendPsn},
    {kAttrPkeyIndex | kAttrPort, kAttrPathMtu,
     kAttrTimeout | kAttrRetryCount | kAttrRnrRetry | kAttrSendPsn | kAttrMaxRdAtomic},
    {kAttrPkeyIndex | kAttrPort | kAttrAccess, kAttrAddress | kAttrPathMtu | kAttrMinRnrTimer, 0},
};

}  // namespace

Harness::Harness(const RnicConfig& config, uint64_t seed, uint64_t memory)
    : a(WithSlot(config, 1), 1, memory), b(WithSlot(config, 2), 2, memory), random(seed) {
  base.path_mtu = std::min(config.mtu, 1024u);
  base.access = kMayWriteRemotely | kMayReadRemotely | kMayUseAtomics;
  base.timeout = 14;
  base.retry_count = 7;
  base.rnr_retry = 7;
  base.max_rd_atomic = 16;
  base.max_dest_rd_atomic = 16;
  base.min_rnr_timer = 12;
  base.qkey = 0x1234;
  base.send_psn = base.receive_psn = 0xfffff0;
}

End Harness::MakeEnd(Side& side, const EndOptions& options) {
  End end;
  end.side = &side;
  end.depth = options.depth;
  end.rq_depth = options.rq_depth;
  end.stride = options.stride;
  end.cq_entries = options.cq_entries;
  const auto make_cq = [&](uint64_t* ring, uint64_t* record) {
    *ring = side.memory.Allocate(uint64_t{options.cq_entries} * 64, PlainMemory::Kind::kCqes);
    *record = side.memory.Allocate(8);
    std::memset(side.memory.At(*ring), 0xf1, uint64_t{options.cq_entries} * 64);
    return side.nic
        .CreateCq({.ring = *ring,
                   .entries = options.cq_entries,
                   .record = *record,
                   .collapsed = options.collapsed,
                   .overrun_ignore = options.overrun_ignore})
        .number;
  };
  end.cqn = options.cqn != 0 ? options.cqn : make_cq(&end.cq, &end.cq_record);
  if (options.cqn != 0) end.cq = options.cq;
  end.receive_cqn = make_cq(&end.receive_cq, &end.receive_cq_record);
  RnicQpConfig config;
  config.type = options.type;
  config.pd = side.pd;
  config.send_cq = end.cqn;
  config.receive_cq = end.receive_cqn;
  config.srq = options.srq;
  config.waits = options.waits;
  config.dc_key = options.dc_key;
  config.user_index = options.user_index;
  config.record = end.record = side.memory.Allocate(8);
  if (options.type != QpType::kDct) {
    config.sq_wqebbs = options.depth;
    config.sq = end.sq = side.memory.Allocate(uint64_t{options.depth} * 64);
  }
  if (options.rq_depth != 0) {
    end.rq = side.memory.Allocate(uint64_t{options.rq_depth} * options.stride);
    config.rq = {end.rq, 0, options.rq_depth, options.stride, false};
  }
  const Created created = side.nic.CreateQp(config);
  if (!created.Ok()) throw std::runtime_error(created.refusal);
  end.qpn = created.number;
  ends_.push_back({&side, end.qpn});
  return end;
}

QpAttributes Harness::Defaults(const Side& peer_side, uint32_t peer_qpn) const {
  QpAttributes attributes = base;
  attributes.address = peer_side.address;
  attributes.dest_qpn = peer_qpn;
  return attributes;
}

void Harness::Ready(End& end, const Side& peer_side, uint32_t peer_qpn) {
  QpAttributes attributes = Defaults(peer_side, peer_qpn);
  const QpType type = Qp(end).type;
  const State states[] = {State::kInit, State::kReadyToReceive, State::kReadyToSend};
  for (int i = 0; i < (type == QpType::kDct ? 2 : 3); ++i) {
    attributes.state = states[i];
    const std::string refusal = end.side->nic.ModifyQp(
        end.qpn, attributes, kAttrState | kAttributesOf[static_cast<int>(type)][i]);
    if (!refusal.empty()) throw std::runtime_error(refusal);
  }
}

Pipe Harness::Connect(const EndOptions& options, const EndOptions& remote) {
  Pipe pipe{MakeEnd(a, options), MakeEnd(b, remote)};
  Ready(pipe.local, b, pipe.remote.qpn);
  Ready(pipe.remote, a, pipe.local.qpn);
  return pipe;
}

Buffer Harness::Register(Side& side, uint64_t bytes, uint8_t rights) {
  Buffer buffer{&side, side.memory.Allocate(bytes, PlainMemory::Kind::kPayload), 0};
  buffer.key = side.nic.Keys().Register({buffer.address, buffer.address, bytes, side.pd, rights});
  return buffer;
}

void Harness::Store(End& end, const WqeBytes& wqe) {
  const std::vector<uint8_t> bytes = wqe.Finish(end.producer, end.qpn);
  const uint64_t ring = uint64_t{end.depth} * 64;
  for (size_t i = 0; i < bytes.size(); ++i) {
    *end.side->memory.At(end.sq + (end.producer * 64 + i) % ring) = bytes[i];
  }
  end.producer += wqe.Blocks();
}

void Harness::SetRecord(End& end) {
  const uint32_t word = abi::Swap32(static_cast<uint32_t>(end.producer & 0xffff));
  std::memcpy(end.side->memory.At(end.record + 4), &word, 4);
}

void Harness::Ring(End& end) {
  end.side->nic.RingDoorbell(abi::ProducerDoorbell(end.producer & 0xffff, end.qpn));
}

void Harness::Post(End& end, const WqeBytes& wqe) {
  Store(end, wqe);
  SetRecord(end);
  Ring(end);
}

// Each SGE: address, key, bytes.
void Harness::PostReceive(End& end, const std::vector<std::array<uint64_t, 3>>& sges) {
  uint8_t* wqe = end.side->memory.At(end.rq + (end.posted % end.rq_depth) * end.stride);
  WqeBytes list(abi::Opcode::kNop, 0);
  for (const auto& [address, key, bytes] : sges) {
    list.Data(static_cast<uint32_t>(bytes), static_cast<uint32_t>(key), address);
  }
  if (sges.size() * 16 < end.stride) list.Data(0, kEndOfListKey, 0);
  const std::vector<uint8_t> bytes = list.Finish(0, 0);
  std::memcpy(wqe, bytes.data() + 16, bytes.size() - 16);
  ++end.posted;
  const uint32_t word = abi::Swap32(static_cast<uint32_t>(end.posted & 0xffff));
  std::memcpy(end.side->memory.At(end.record), &word, 4);
}

bool Harness::Chance(double probability) {
  return probability > 0 && std::uniform_real_distribution<>(0, 1)(random) < probability;
}

void Harness::Launch(Side& from, const wire::Packet& packet, const Address& to) {
  opcodes_seen.push_back(packet.opcode);
  Flying flying{packet, &from, to.lid == a.address.lid ? &a : &b};
  if (on_wire && !on_wire(flying.packet)) return;
  if (Chance(faults.lose)) {
    ++lost;
    return;
  }
  flying_.push_back(flying);
  if (!Chance(faults.repeat)) return;
  ++repeated;
  flying_.push_back(flying);
}

void Harness::Arm(Side& side, uint32_t qpn, const TimerRequest& timer) {
  if (timer.arm) timers_.push_back({&side, qpn, timer.kind, timer.generation});
}

bool Harness::Pull(Side& side) {
  bool moved = false;
  for (const auto& [owner, qpn] : ends_) {
    QpContext* qp = owner == &side ? side.nic.FindQp(qpn) : nullptr;
    if (qp == nullptr) continue;
    while (side.nic.FetchNext(*qp) == Fetched::kWqe) moved = true;
    wire::Packet packet;
    const Address* to = nullptr;
    if (side.nic.NextResponse(*qp, packet, &to)) {
      moved = true;
      Launch(side, packet, *to);
    }
    const Sent sent = side.nic.NextPacket(*qp, packet);
    if (sent.status != SendStatus::kSent) continue;
    moved = true;
    Arm(side, qpn, sent.timer);
    Launch(side, packet, *sent.to);
  }
  return moved;
}

void Harness::Deliver() {
  size_t at = 0;
  if (Chance(faults.reorder)) at = random() % std::min<size_t>(flying_.size(), 6);
  if (at != 0) ++reordered;
  const Flying flying = flying_[at];
  flying_.erase(flying_.begin() + static_cast<ptrdiff_t>(at));
  const Facts facts = flying.to->nic.Receive(flying.packet, flying.from->address);
  if (facts.qp != nullptr) Arm(*flying.to, facts.qp->qpn, facts.timer);
}

bool Harness::Step() {
  const bool pulled_a = Pull(a);
  const bool pulled_b = Pull(b);
  if (!flying_.empty()) {
    Deliver();
    return true;
  }
  if (pulled_a || pulled_b) return true;
  if (timers_.empty() || !timers_run) return false;
  const Timer timer = timers_.front();
  timers_.erase(timers_.begin());
  QpContext* qp = timer.side->nic.FindQp(timer.qpn);
  if (qp == nullptr) return true;
  const Facts facts = timer.side->nic.OnTimer(*qp, timer.kind, timer.generation);
  Arm(*timer.side, timer.qpn, facts.timer);
  return true;
}

bool Harness::Run(uint64_t most_steps) {
  for (uint64_t i = 0; i < most_steps; ++i) {
    if (!Step()) return true;
  }
  return false;
}

std::vector<abi::Cqe> Harness::PollCq(Side& side, uint64_t cq, uint64_t record, uint32_t entries,
                                      uint32_t* polled) {
  std::vector<abi::Cqe> found;
  for (;;) {
    abi::Cqe cqe;
    std::memcpy(&cqe, side.memory.At(cq + uint64_t{*polled % entries} * 64), sizeof(cqe));
    const bool owner = (cqe.op_own & 1) != 0;
    if (OpcodeOf(cqe) == abi::CqeOpcode::kInvalid || owner != ((*polled & entries) != 0)) break;
    found.push_back(cqe);
    ++*polled;
  }
  if (record != 0) {
    const uint32_t word = abi::Swap32(*polled & 0xffffff);
    std::memcpy(side.memory.At(record), &word, 4);
  }
  return found;
}

std::vector<abi::Cqe> Harness::Poll(End& end) {
  return PollCq(*end.side, end.cq, end.cq_record, end.cq_entries, &end.polled);
}

std::vector<abi::Cqe> Harness::PollReceives(End& end) {
  return PollCq(*end.side, end.receive_cq, end.receive_cq_record, end.cq_entries,
                &end.receive_polled);
}

}  // namespace ringpost::sim

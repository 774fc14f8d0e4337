#include "sim/node/shared_engine.h"

#include <utility>

#include "sim/node/nic_node.h"

namespace ringpost::sim {
namespace {

// Credits of a link are given in blocks.
constexpr uint64_t kCreditBytes = 64;

}  // namespace

SharedEngine::SharedEngine(NicNode& node) : node_(node) {
  turns_.reserve(node_.costs_.nic.shared.contexts_ahead);
  event_ = node_.engine_.Register(
      [](void* self) {
        SharedEngine& engine = *static_cast<SharedEngine*>(self);
        if (!(engine.node_.engine_.Now() < engine.wake_at_)) engine.wake_at_ = Time::Never();
        engine.Run();
      },
      this);
}

void SharedEngine::Wake(Time at) {
  if (!(at < wake_at_)) return;
  wake_at_ = at;
  node_.engine_.Schedule(at, event_);
}

// A packet at a time, until the engine is busy or has nothing that may go now.
void SharedEngine::Run() {
  if (running_) return;
  running_ = true;
  const Time now = node_.engine_.Now();
  const Duration service = node_.costs_.nic.shared.service;
  while (!(now < free_at_)) {
    const Time receives = NextReceive();
    size_t turn = 0;
    const Time sends = NextSend(&turn);
    const bool may_receive = !(now < receives), may_send = !(now < sends);
    if (!may_receive && !may_send) {
      Wake(Earlier(receives, sends));
      running_ = false;
      return;
    }
    received_last_ = may_receive && (!may_send || !received_last_);
    if (received_last_) {
      free_at_ = stage_.Serve(now, service);
      Receive(free_at_);
    } else if (Send(turn)) {
      free_at_ = stage_.Serve(now, service);
    }
  }
  running_ = false;
  const bool sends = !turns_.empty() || node_.first_queued_ != nullptr;
  if (first_arrived_ != nullptr || (sends && !waits_)) Wake(free_at_);
}

// When the first packet that has arrived may be taken.
Time SharedEngine::NextReceive() {
  if (first_arrived_ == nullptr) return Time::Never();
  if (!looked_up_) {
    const wire::Packet& packet = first_arrived_->packet;
    Duration fetch;
    if (!wire::IsResponse(packet.opcode)) {
      fetch = node_.FindForResponder(packet, node_.costs_.nic.shared.responder_lines);
    }
    if (fetch.ps != 0) node_.receive_.Block(node_.engine_.Now(), fetch);
    looked_up_ = true;
    context_at_ = node_.engine_.Now() + fetch;
  }
  return context_at_;
}

// When a QP may send its next packet, and which.
Time SharedEngine::NextSend(size_t* turn) {
  if (waits_) return Time::Never();
  const SharedEngineCosts& costs = node_.costs_.nic.shared;
  const Time now = node_.engine_.Now();
  while (node_.first_queued_ != nullptr && turns_.size() < costs.contexts_ahead) {
    Lane& lane = *node_.first_queued_;
    node_.first_queued_ = lane.next_queued;
    const uint32_t further = node_.OnGpu(lane.qp->config.sq) ? 0 : costs.host_queue_lines;
    const Duration fetch =
        node_.requester_contexts_.Find(now, lane.qp->qpn, costs.requester_lines + further);
    turns_.push_back({&lane, now + fetch, costs.transmit_quantum});
  }
  Time first = Time::Never();
  for (size_t i = 0; i < turns_.size() && now < first; ++i) {
    if (!(turns_[i].ready < first)) continue;
    first = turns_[i].ready;
    *turn = i;
  }
  return turns_.empty() ? first : Later(first, node_.TransmitFree());
}

// False if the QP had nothing that may leave now.
bool SharedEngine::Send(size_t turn) {
  Turn mine = turns_[turn];
  const auto place = turns_.begin() + static_cast<ptrdiff_t>(turn);
  turns_.erase(place);
  if (!node_.SendOne(*mine.lane)) return false;
  if (--mine.left == 0) {
    node_.JoinQueue(*mine.lane);
  } else if (node_.HasNext(*mine.lane)) {
    turns_.insert(place, mine);
  }
  return true;
}

void SharedEngine::Put(PacketItem& item) {
  item.next = nullptr;
  if (first_arrived_ == nullptr) {
    first_arrived_ = last_arrived_ = &item;
  } else {
    last_arrived_ = last_arrived_->next = &item;
  }
  Run();
}

// The first packet that has arrived is through the engine at `done`.
void SharedEngine::Receive(Time done) {
  PacketItem& item = *first_arrived_;
  first_arrived_ = item.next;
  looked_up_ = false;
  GiveRoom(item);
  node_.Take(item, done);
}

bool SharedEngine::Answers(Lane& lane, uint32_t from_node, uint32_t from_qp, bool asked) {
  lane.owes_answer |= asked;
  const PacketItem* next = first_arrived_;
  if (next != nullptr && next->packet.dest_qpn == lane.qp->qpn && next->from_node == from_node &&
      next->from_qp == from_qp && !wire::IsResponse(next->packet.opcode)) {
    return false;
  }
  return std::exchange(lane.owes_answer, false);
}

void SharedEngine::TakeRoom(NicNode& peer, PacketItem& item) {
  const LinkCosts& link = node_.costs_.link;
  const uint64_t bytes = item.packet.payload.size() + link.header_bytes;
  item.held = static_cast<uint32_t>((bytes + kCreditBytes - 1) / kCreditBytes * kCreditBytes);
  SharedEngine& there = *peer.shared_;
  there.held_bytes_ += item.held;
  if (there.held_bytes_ <= node_.costs_.nic.shared.receive_buffer_bytes) return;
  waits_ = true;
  there.held_up_.push_back(&node_);
}

void SharedEngine::GiveRoom(PacketItem& item) {
  held_bytes_ -= item.held;
  item.held = 0;
  if (held_up_.empty() || held_bytes_ > node_.costs_.nic.shared.receive_buffer_bytes) return;
  for (NicNode* sender : held_up_) {
    sender->shared_->waits_ = false;
    sender->shared_->Wake(node_.engine_.Now());
  }
  held_up_.clear();
}

}  // namespace ringpost::sim

#include "sim/service/nic_loop.h"

#include <utility>

#include "sim/nic/timer_codes.h"
#include "transport/abi/doorbell.h"
#include "transport/abi/wqe.h"

namespace ringpost::sim::service {
namespace {

// A port names its peers by LID, or by GID where they have none; so do paths of QPs.
Address OnPort(const sim::Address& address) {
  return address.global ? Address{0, address.gid} : Address{address.lid, {}};
}

sim::Address OnNic(const Address& address) {
  sim::Address made;
  made.lid = address.lid;
  made.global = address.lid == 0;
  made.gid = address.gid;
  return made;
}

}  // namespace

NicLoop::NicLoop(const RnicConfig& config, std::unique_ptr<PacketPort> port, OnEvent on_event,
                 const LoopOverlay& overlay)
    : port_(std::move(port)),
      nic_(config, dma_),
      on_event_(std::move(on_event)),
      faults_(overlay.faults) {
  if (!overlay.packet_log.empty()) {
    packet_log_ =
        std::make_unique<PacketLog>(overlay.packet_log, overlay.address, overlay.on_failure);
  }
  if (overlay.observer) {
    observer_ = std::make_unique<Observer>(*overlay.observer);
    dma_.SetTap([this](const void* cqe) { observer_->Completed(cqe); });
  }
  if (!overlay.pace) return;
  pace_.emplace(*overlay.pace, std::chrono::steady_clock::now());
  // A turn may take long: what a completion is late by is taken now.
  dma_.SetGate([this](uint32_t qpn, uint64_t address, const void* cqe) {
    pace_->Hold(qpn, address, cqe, std::chrono::steady_clock::now());
  });
}

Created NicLoop::CreateQp(const RnicQpConfig& config, uint64_t page) {
  const Created created = nic_.CreateQp(config);
  if (!created.Ok()) return created;
  const uint32_t index = (created.number & 0xffff) - Rnic::kFirstQpn;
  if (index >= lanes_.size()) lanes_.resize(index + 1);
  lanes_[index] = std::make_unique<Lane>();
  lanes_[index]->qp = nic_.FindQp(created.number);
  Watch(*lanes_[index], config);
  InjectErrors(*lanes_[index]->qp, index);
  if (observer_ != nullptr) observer_->MakeQp(created.number);
  if (page != 0) pages_.BindQp(page, created.number);
  return created;
}

// A ring of a device comes with its record, in one trip there.
void NicLoop::Watch(Lane& lane, const RnicQpConfig& config) {
  if (config.sq_wqebbs == 0) return;
  const uint64_t record = config.record + abi::kRecordSendOffset;
  DeviceAccess* device = dma_.Devices().Find(record, sizeof(uint32_t));
  const uint64_t bytes = uint64_t{config.sq_wqebbs} * abi::kWqebbBytes;
  if (device == nullptr || device != dma_.Devices().Find(config.sq, bytes)) return;
  device->Watch({record, config.sq, config.sq_wqebbs});
  lane.device = device;
  lane.record = record;
}

void NicLoop::DropDevices() {
  dma_.Devices().Clear();
  for (const auto& lane : lanes_) {
    if (lane != nullptr) lane->device = nullptr;
  }
}

std::string NicLoop::DestroyQp(uint32_t qpn) {
  Lane* lane = FindLane(qpn);
  std::string refusal = nic_.DestroyQp(qpn);
  if (!refusal.empty() || lane == nullptr) return refusal;
  pages_.UnbindQp(qpn);
  if (lane->device != nullptr) lane->device->Unwatch(lane->record);
  std::erase(sending_, lane);
  std::erase(answering_, lane);
  lanes_[(qpn & 0xffff) - Rnic::kFirstQpn].reset();
  if (pace_) pace_->Forget(qpn);
  if (observer_ != nullptr) observer_->EndQp(qpn);
  return refusal;
}

std::string NicLoop::ModifyQp(uint32_t qpn, const QpAttributes& attributes, uint32_t mask) {
  std::string refusal = nic_.ModifyQp(qpn, attributes, mask);
  // It may send now, and what was posted before is known from its record alone.
  if (refusal.empty()) Refresh(qpn, Look::kUnrung);
  if (observer_ != nullptr && refusal.empty()) {
    observer_->Connect(qpn, nic_.FindQp(qpn)->dest_qpn);
  }
  TakeEvents();
  return refusal;
}

Created NicLoop::CreateCq(const CqConfig& config, uint64_t page) {
  const Created created = nic_.CreateCq(config);
  if (created.Ok()) pages_.BindCq(page, created.number);
  return created;
}

std::string NicLoop::DestroyCq(uint32_t cqn) {
  std::string refusal = nic_.DestroyCq(cqn);
  if (refusal.empty()) pages_.UnbindCq(cqn);
  return refusal;
}

void NicLoop::ArmSrqLimit(uint32_t srqn, uint32_t limit) {
  nic_.ArmSrqLimit(srqn, limit);
  TakeEvents();
}

NicLoop::Lane* NicLoop::FindLane(uint32_t qpn) {
  if (nic_.FindQp(qpn) == nullptr) return nullptr;
  const uint32_t index = (qpn & 0xffff) - Rnic::kFirstQpn;
  return index < lanes_.size() ? lanes_[index].get() : nullptr;
}

void NicLoop::Send(Lane& lane) {
  if (std::exchange(lane.sends, true)) return;
  sending_.push_back(&lane);
}

void NicLoop::Answer(Lane& lane) {
  if (std::exchange(lane.answers, true)) return;
  answering_.push_back(&lane);
}

void NicLoop::Refresh(uint32_t qpn, Look look) {
  Lane* lane = FindLane(qpn);
  if (lane == nullptr) return;
  const uint64_t begin = Begin(), before = lane->qp->requester.producer;
  if (nic_.RefreshFromRecord(*lane->qp)) Send(*lane);
  const uint64_t until = lane->qp->requester.producer;
  count_.announced += until - before;
  count_.trailed += look == Look::kAgain && until != before;
  if (observer_ != nullptr && until != before) [[unlikely]] {
    const StepKind kinds[] = {StepKind::kDoorbell, StepKind::kTrailed, StepKind::kUnrung};
    observer_->Announced(kinds[static_cast<int>(look)], qpn, before, until, begin);
  }
  if (pace_) pace_->Announce(*lane->qp, before, now_);
}

void NicLoop::Arm(uint32_t qpn, const TimerRequest& request) {
  if (!request.arm) return;
  const uint64_t ns = request.kind == TimerKind::kAck
                          ? AckTimeoutNs(request.code, nic_.Config().behaviour)
                          : RnrDelayNs(request.code);
  if (ns == 0) return;
  timers_.push({now_ + std::chrono::nanoseconds(ns), qpn, request.kind, request.generation});
}

void NicLoop::Take(const Facts& facts) {
  if (facts.qp != nullptr) {
    Arm(facts.qp->qpn, facts.timer);
    Lane* lane = FindLane(facts.qp->qpn);
    if (lane != nullptr && facts.responses) Answer(*lane);
    if (lane != nullptr && facts.may_send) Send(*lane);
  }
  TakeEvents();
}

void NicLoop::TakeEvents() {
  if (!nic_.HasEvents()) [[likely]]
    return;
  for (const AsyncEvent& event : nic_.TakeEvents()) {
    if (event.kind != EventKind::kWaitOver) {
      if (on_event_) on_event_(event);
    } else if (Lane* lane = FindLane(event.number)) {
      Send(*lane);
    }
  }
}

bool NicLoop::Turn(Time now) {
  now_ = now;
  ++count_.turns;
  const uint32_t rung = pages_.Scan(
      kPages, now,
      [this](uint32_t qpn, bool again) { Refresh(qpn, again ? Look::kAgain : Look::kRung); },
      [this](uint32_t cqn) { nic_.RefreshArm(cqn); });
  TakeEvents();
  count_.doorbells += rung;
  bool busy = rung != 0 || held_.full;
  busy |= ReceiveSome();
  if (LetGo()) {
    DepartDue();
    busy |= AnswerSome();
    busy |= SendSome();
  }
  busy |= RunTimers();
  if (pace_) pace_->Release(dma_, std::chrono::steady_clock::now());
  if (observer_ != nullptr && (busy ? count_.turns % kTurnsPerCounts == 0 : was_busy_)) {
    WriteCounts();
  }
  was_busy_ = busy;
  if (!busy) ++count_.idle_turns;
  return busy;
}

bool NicLoop::ReceiveSome() {
  uint32_t taken = 0;
  for (; taken < kPackets && port_->Poll(arrival_); ++taken) {
    if (faults_.Any() && !faults_.Takes(now_)) continue;
    const uint64_t begin = Begin();
    Take(nic_.Receive(arrival_.packet, OnNic(arrival_.source)));
    if (observer_ != nullptr) [[unlikely]]
      observer_->Received(arrival_.packet, begin);
  }
  return taken != 0;
}

bool NicLoop::AnswerSome() {
  const bool any = !answering_.empty();
  // An acknowledgement says that the payload is there.
  if (any) dma_.Devices().Settle();
  for (uint32_t i = 0; i < kLanes && !answering_.empty() && !held_.full; ++i) {
    Lane& lane = *answering_.front();
    answering_.pop_front();
    lane.answers = false;
    if (AnswerBurst(lane)) Answer(lane);
  }
  return any;
}

// Whether it has, or may have, more.
bool NicLoop::AnswerBurst(Lane& lane) {
  for (uint32_t i = 0; i < kBurst; ++i) {
    const sim::Address* to = nullptr;
    const uint64_t begin = Begin();
    const bool more = nic_.NextResponse(*lane.qp, packet_, &to);
    TakeEvents();
    if (!more) return false;
    const bool launched = Launch(lane, *to, 0, true);
    if (observer_ != nullptr) [[unlikely]]
      observer_->Answered(lane.qp->qpn, packet_, begin);
    if (!launched) return true;
  }
  return true;
}

bool NicLoop::SendSome() {
  const bool any = !sending_.empty();
  for (uint32_t i = 0; i < kLanes && !sending_.empty() && !held_.full; ++i) {
    Lane& lane = *sending_.front();
    sending_.pop_front();
    lane.sends = false;
    if (SendBurst(lane)) Send(lane);
  }
  return any;
}

// The same. What is held up comes back with what it waits for: facts, a timer, an event.
bool NicLoop::SendBurst(Lane& lane) {
  const Requester& requester = lane.qp->requester;
  const uint32_t head = requester.head;
  uint32_t fetched = 0;
  for (; fetched < kBurst; ++fetched) {
    const uint64_t begin = Begin(), index = requester.fetched;
    if (nic_.FetchNext(*lane.qp) != Fetched::kWqe) break;
    if (pace_) pace_->Fetched(*lane.qp);
    if (observer_ != nullptr) [[unlikely]] {
      observer_->Fetched(lane.qp->qpn, index, requester.window.At(requester.tail - 1), begin);
    }
  }
  for (uint32_t i = 0; i < kBurst; ++i) {
    const uint64_t begin = Begin();
    const Sent sent = nic_.NextPacket(*lane.qp, packet_);
    Arm(lane.qp->qpn, sent.timer);
    TakeEvents();
    if (sent.status != SendStatus::kSent) {
      // What completed without a packet has made room in a window that was full.
      return fetched == kBurst ||
             (requester.fetched != requester.producer && requester.head != head);
    }
    const auto behind = static_cast<uint16_t>(requester.fetched - sent.wqe_index);
    const uint64_t wqe = requester.fetched - behind;
    const bool launched = Launch(lane, *sent.to, wqe, false);
    if (observer_ != nullptr) [[unlikely]]
      observer_->Sent(lane.qp->qpn, wqe, sent.retransmission, packet_, begin);
    if (!launched) return true;
  }
  return true;
}

bool NicLoop::RunTimers() {
  bool any = false;
  while (!timers_.empty() && timers_.top().due <= now_) {
    const Timer timer = timers_.top();
    timers_.pop();
    any = true;
    Lane* lane = FindLane(timer.qpn);
    if (lane == nullptr) continue;
    const uint64_t timeouts = nic_.Count().timeouts;
    Take(nic_.OnTimer(*lane->qp, timer.kind, timer.generation));
    if (observer_ != nullptr && nic_.Count().timeouts != timeouts) observer_->TimedOut(timer.qpn);
  }
  return any;
}

// Whether the port refused the last packet because the receiver had no room.
bool NicLoop::WasFull() {
  const uint64_t times = port_->Counters().receiver_full;
  return std::exchange(times_full_, times) != times;
}

// False if packets may not leave for now. `wqe` is that of a request.
bool NicLoop::Launch(Lane& lane, const sim::Address& to, uint64_t wqe, bool answer) {
  const Address target = OnPort(to);
  if (packet_log_ != nullptr) [[unlikely]]
    packet_log_->Add(Observer::Now(), target, packet_);
  if (!faults_.Any()) [[likely]]
    return Depart(target, packet_);
  return LaunchFaulty(lane, target, wqe, answer);
}

// False if the packet is held: nothing may overtake it.
bool NicLoop::Depart(const Address& target, const wire::Packet& packet) {
  if (port_->Send(target, packet)) return true;
  if (!WasFull()) return true;  // nobody is there: lost
  held_.packet = packet;
  held_.target = target;
  held_.since = now_;
  held_.full = true;
  ++count_.held;
  return false;
}

// Whether packets may leave.
bool NicLoop::LetGo() {
  if (!held_.full) return true;
  if (!port_->Send(held_.target, held_.packet) && WasFull()) {
    if (now_ - held_.since < kHold) return false;
    ++count_.lost;
  }
  held_.full = false;
  return true;
}

}  // namespace ringpost::sim::service

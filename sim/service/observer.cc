#include "sim/service/observer.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "sim/wire/opcode.h"
#include "transport/abi/cqe.h"

namespace ringpost::sim::service {
namespace {

template <size_t N>
void Copy(char (&to)[N], const char* from) {
  std::strncpy(to, from, N - 1);
}

bool IsError(abi::CqeOpcode opcode) {
  return opcode == abi::CqeOpcode::kRequesterError || opcode == abi::CqeOpcode::kResponderError;
}

}  // namespace

bool Observer::Open() {
  if (file_ != nullptr || failed_) return file_ != nullptr;
  auto made = MappedFile::Write(spec_.path, 0, ObservationBytes(spec_.qps, spec_.steps));
  if (!made.Ok()) {
    failed_ = true;
    if (spec_.on_failure) spec_.on_failure(made.Message());
    return false;
  }
  file_ = std::move(made.Value());
  head_ = new (file_->Bytes()) Observation();
  head_->pid = getpid();
  Copy(head_->program, program_invocation_short_name);
  Copy(head_->device, spec_.device.c_str());
  head_->device_number = spec_.device_number;
  head_->qp_capacity = spec_.qps;
  head_->steps_capacity = spec_.steps;
  listed_ = reinterpret_cast<ObservedQp*>(head_ + 1);
  steps_ = reinterpret_cast<ObservedStep*>(listed_ + spec_.qps);
  return true;
}

void Observer::MakeQp(uint32_t qpn) {
  if (!Open()) return;
  const uint32_t place = head_->qps.load(std::memory_order_relaxed);
  if (place == spec_.qps) {
    ++head_->qps_not_listed;
    qps_.erase(qpn);
    return;
  }
  qps_[qpn] = new (&listed_[place]) ObservedQp{.qpn = qpn};
  head_->qps.store(place + 1, std::memory_order_release);
}

void Observer::Connect(uint32_t qpn, uint32_t peer_qpn) {
  const auto found = qps_.find(qpn);
  if (found != qps_.end()) found->second->peer_qpn = peer_qpn;
}

QpCounters& Observer::Of(uint32_t qpn) {
  const auto found = qps_.find(qpn);
  return found == qps_.end() ? unlisted_.counters : found->second->counters;
}

ObservedStep& Observer::Next(StepKind kind, uint32_t qpn, uint64_t begin) {
  const bool kept = file_ != nullptr && spec_.steps != 0;
  ObservedStep& step = kept ? steps_[step_ & (spec_.steps - 1)] : unwritten_;
  step = ObservedStep{.begin_ns = begin, .qpn = qpn, .kind = kind};
  return step;
}

void Observer::Done(ObservedStep& step) {
  if (file_ == nullptr || spec_.steps == 0) return;
  const uint64_t length = Now() - step.begin_ns;
  step.length_ns = static_cast<uint32_t>(std::min<uint64_t>(length, UINT32_MAX));
  head_->steps.store(++step_, std::memory_order_release);
}

void Observer::Announced(StepKind kind, uint32_t qpn, uint64_t from, uint64_t until,
                         uint64_t begin) {
  QpCounters& counters = Of(qpn);
  counters.doorbells += kind == StepKind::kDoorbell;
  counters.records_trailed += kind == StepKind::kTrailed;
  counters.blocks_announced += until - from;
  ObservedStep& step = Next(kind, qpn, begin);
  step.wqe = from;
  step.size = static_cast<uint32_t>(until - from);
  Done(step);
}

void Observer::Fetched(uint32_t qpn, uint64_t index, const SendWqe& wqe, uint64_t begin) {
  ++Of(qpn).wqes;
  ObservedStep& step = Next(StepKind::kFetch, qpn, begin);
  step.wqe = index;
  step.code = static_cast<uint8_t>(wqe.opcode);
  step.size = wqe.bytes;
  step.psn = wqe.first_psn;
  Done(step);
}

void Observer::Sent(uint32_t qpn, uint64_t wqe, bool again, const wire::Packet& packet,
                    uint64_t begin) {
  QpCounters& counters = Of(qpn);
  ++counters.packets_sent;
  if (again) ++counters.packets_retransmitted;
  ObservedStep& step = Next(StepKind::kTransmit, qpn, begin);
  step.wqe = wqe;
  step.again = again;
  step.code = static_cast<uint8_t>(packet.opcode);
  step.size = static_cast<uint32_t>(packet.payload.size());
  step.psn = packet.psn;
  step.peer_qpn = packet.dest_qpn;
  Done(step);
}

void Observer::Answered(uint32_t qpn, const wire::Packet& packet, uint64_t begin) {
  ++Of(qpn).packets_sent;
  ObservedStep& step = Next(StepKind::kRespond, qpn, begin);
  step.code = static_cast<uint8_t>(packet.opcode);
  step.size = static_cast<uint32_t>(packet.payload.size());
  step.psn = packet.psn;
  step.peer_qpn = packet.dest_qpn;
  step.syndrome = packet.syndrome;
  Done(step);
}

void Observer::Received(const wire::Packet& packet, uint64_t begin) {
  ++Of(packet.dest_qpn).packets_received;
  ObservedStep& step = Next(StepKind::kReceive, packet.dest_qpn, begin);
  step.code = static_cast<uint8_t>(packet.opcode);
  step.size = static_cast<uint32_t>(packet.payload.size());
  step.psn = packet.psn;
  step.syndrome = wire::HasAeth(packet.opcode) ? packet.syndrome : 0;
  Done(step);
}

void Observer::Completed(const void* cqe) {
  const uint8_t* bytes = static_cast<const uint8_t*>(cqe);
  uint64_t tail = 0;
  std::memcpy(&tail, bytes + abi::kCqeTailOffset, sizeof(tail));
  const abi::CqeOpcode opcode = abi::TailOpcode(tail);
  const uint32_t qpn = abi::TailQpn(tail);
  QpCounters& counters = Of(qpn);
  ++counters.cqes;
  ObservedStep& step = Next(StepKind::kCqe, qpn, Now());
  step.code = static_cast<uint8_t>(opcode);
  step.wqe = abi::TailCounter(tail);
  if (IsError(opcode)) {
    ++counters.error_cqes;
    step.syndrome = bytes[abi::kErrorSyndromeOffset];
  }
  Done(step);
}

void Observer::TimedOut(uint32_t qpn) { ++Of(qpn).timeouts; }

void Observer::Count(const char* name, uint64_t value) {
  if (file_ == nullptr || counts_ == Observation::kMostCounts) return;
  NamedCount& count = head_->count[counts_++];
  if (count.name[0] == '\0') Copy(count.name, name);
  count.value = value;
}

void Observer::EndCounts() {
  if (file_ != nullptr) head_->counts.store(counts_, std::memory_order_release);
}

}  // namespace ringpost::sim::service

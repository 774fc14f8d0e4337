#include "backends/sim/sim_nic.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/nic/bring_up.h"

namespace ringpost {
namespace {

constexpr uint64_t kPoolBytes = 64ull << 20;
constexpr uint64_t kCacheLine = 64;
constexpr uint64_t kMaxAllocation = 1ull << 40;

}  // namespace

sim::Home Fabric::SimNic::HomeOf(Placement placement) const {
  const auto kind = placement == Placement::kGpu ? sim::HomeKind::kGpu : sim::HomeKind::kHost;
  return {kind, static_cast<uint16_t>(node_.Node())};
}

uint64_t Fabric::SimNic::Carve(sim::Home home, uint64_t bytes) {
  bytes = (bytes + kCacheLine - 1) / kCacheLine * kCacheLine;
  auto pool = std::find_if(pools_.begin(), pools_.end(),
                           [&](const Pool& candidate) { return candidate.home == home; });
  if (pool == pools_.end()) pool = pools_.insert(pools_.end(), Pool{home, 0, 0});
  if (pool->end - pool->next < bytes) {
    const uint64_t size = std::max(bytes, kPoolBytes);
    pool->next = memory_.Space().Allocate(home, size);
    pool->end = pool->next + size;
  }
  const uint64_t address = pool->next;
  pool->next += bytes;
  return address;
}

Result<RegisteredMemory> Fabric::SimNic::Allocate(Placement placement, uint64_t bytes) {
  if (bytes == 0 || bytes > kMaxAllocation) {
    return Error{fmt::format("cannot allocate {} bytes; give 1 byte to 1 TiB", bytes)};
  }
  const uint64_t address = memory_.Space().Allocate(HomeOf(placement), bytes);
  const uint32_t key =
      node_.Function().Keys().Register({address, address, bytes, pd_, sim::kAllRights});
  if (key == 0) return Error{"no memory key is left on this NIC"};
  return RegisteredMemory{address, bytes, key, key};
}

void Fabric::SimNic::Place(const QpSpec& spec, QpViews& views) {
  const sim::Home queues = HomeOf(spec.placement);
  const sim::Home gpu = HomeOf(Placement::kGpu);
  // Software fills a CQ before the NIC may write it: an entry that is not there reads invalid.
  const auto carve_cq = [&](uint64_t bytes) {
    const std::vector<uint8_t> invalid(bytes, abi::kCqeInitialOpOwn);
    const uint64_t cq = Carve(queues, bytes);
    memory_.Poke(cq, invalid.data(), invalid.size());
    return cq;
  };
  QpView& view = views.send;
  view.sq = Carve(queues, uint64_t{spec.depth_wqebbs} * abi::kWqebbBytes);
  view.record = Carve(queues, abi::kRecordBytes);
  view.cq = carve_cq(abi::kCqeBytes);
  // Index words never leave the GPU; each has a line of its own, so that spinners do not meet.
  view.reserved = {Carve(gpu, sizeof(uint64_t))};
  view.ready = {Carve(gpu, sizeof(uint64_t))};
  view.published = {Carve(gpu, sizeof(uint64_t))};
  view.completed = {Carve(gpu, sizeof(uint64_t))};
  view.ringing = {Carve(gpu, sizeof(uint64_t))};
  if (spec.doorbell == DoorbellMode::kCpu) {
    view.producer = {Carve(HomeOf(Placement::kHost), sizeof(uint64_t))};
  }
  view.doorbell =
      Carve({sim::HomeKind::kUar, queues.node}, abi::kUarPageBytes) + abi::kUarDoorbellOffset;
  ReceiveView& receive = views.receive;
  if (receive.depth == 0) return;
  receive.ring = Carve(queues, ReceiveRingBytes(spec));
  receive.cq = carve_cq(uint64_t{receive.depth} * abi::kCqeBytes);
  receive.record = receive.linked != 0 ? Carve(queues, abi::kRecordBytes)
                                       : view.record + abi::kRecordReceiveOffset;
  receive.posted = {Carve(gpu, sizeof(uint64_t))};
  receive.taken = {Carve(gpu, sizeof(uint64_t))};
}

Result<QpAddress> Fabric::SimNic::CreateQp(const QpSpec& spec) {
  std::string refusal = RefusalOf(spec, {.blueflame = true, .record_free = true});
  if (!refusal.empty()) return Error{refusal};
  sim::Rnic& function = node_.Function();
  Qp qp;
  qp.views = ViewsOf(spec, function.Config().limits.message_bytes);
  Place(spec, qp.views);
  refusal = MakeSink(qp.views.send);
  const ObjectMaker make{[&](const sim::CqConfig& config) { return function.CreateCq(config); },
                         [&](uint32_t pd, const sim::ReceiveQueueConfig& config) {
                           return function.CreateSrq(pd, config);
                         },
                         [&](const sim::RnicQpConfig& config) { return node_.CreateQp(config); }};
  if (refusal.empty()) refusal = MakeObjects(make, pd_, qp.views, qp.objects);
  if (!refusal.empty()) return Error{refusal};
  InjectErrorsOf(created_++, *function.FindQp(qp.objects.qp));
  const uint32_t index = qp.objects.qp - sim::Rnic::kFirstQpn;
  if (index >= qps_.size()) qps_.resize(index + 1);
  qps_[index] = qp;
  if (spec.doorbell == DoorbellMode::kCpu) rung_by_host_.push_back(qp.views.send);
  return QpAddress{node_.Node(), qp.objects.qp, qp.objects.dct};
}

// All QPs share the key of one page of sinks.
std::string Fabric::SimNic::MakeSink(QpView& view) {
  if (sinks_.bytes == 0) {
    const Result<RegisteredMemory> memory = Allocate(Placement::kGpu, abi::kUarPageBytes);
    if (!memory.Ok()) return memory.Message();
    sinks_ = memory.Value();
  }
  view.sink = sinks_.address + uint64_t{created_} % (sinks_.bytes / kCacheLine) * kCacheLine;
  view.sink_lkey = sinks_.lkey;
  return {};
}

void Fabric::SimNic::InjectErrorsOf(uint32_t qp_number, sim::QpContext& qp) {
  for (const sim::FaultRule& rule : faults_.Rules()) {
    const bool here = rule.kind == sim::FaultKind::kError &&
                      rule.node.value_or(node_.Node()) == node_.Node() &&
                      rule.qp.value_or(qp_number) == qp_number;
    if (here) node_.Function().InjectFailure(qp, {rule.wqe.value_or(0), rule.syndrome});
  }
}

Fabric::SimNic::Qp* Fabric::SimNic::Find(const QpAddress& local) {
  return const_cast<Qp*>(std::as_const(*this).Find(local));
}

const Fabric::SimNic::Qp* Fabric::SimNic::Find(const QpAddress& local) const {
  const uint32_t index = local.qpn - sim::Rnic::kFirstQpn;
  const bool exists = index < qps_.size() && qps_[index].objects.qp == local.qpn;
  return exists && local.node == node_.Node() ? &qps_[index] : nullptr;
}

Error Fabric::SimNic::NotOurs(const QpAddress& local) const {
  return Error{fmt::format("QP {:#x} is not of node {}", local.qpn, node_.Node())};
}

Result<bool> Fabric::SimNic::Connect(const QpAddress& local, const QpAddress& peer) {
  Qp* qp = Find(local);
  if (qp == nullptr) return NotOurs(local);
  sim::Rnic& function = node_.Function();
  const sim::Address to = sim::NicNode::AddressOf(peer.node);
  const std::string refusal =
      ConnectObjects(qp->objects, function.FindQp(local.qpn)->state, to, peer, function.Config(),
                     [&](uint32_t qpn, const sim::QpAttributes& attributes, uint32_t mask) {
                       return function.ModifyQp(qpn, attributes, mask);
                     });
  if (!refusal.empty()) return Error{refusal};
  qp->views.send.target = {abi::kDcAccessKey, peer.dct, to.lid};
  return true;
}

Result<QpView> Fabric::SimNic::View(const QpAddress& local) const {
  const Qp* qp = Find(local);
  if (qp == nullptr) return NotOurs(local);
  return qp->views.send;
}

Result<ReceiveView> Fabric::SimNic::Receives(const QpAddress& local) const {
  const Qp* qp = Find(local);
  if (qp == nullptr) return NotOurs(local);
  return qp->views.receive;
}

}  // namespace ringpost

#include "backends/sim/sim_nic.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

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

Result<QpAddress> Fabric::SimNic::CreateQp(const QpSpec& spec) {
  if (!std::has_single_bit(spec.depth_wqebbs) || spec.depth_wqebbs < 8 ||
      spec.depth_wqebbs > abi::kMaxDepthWqebbs) {
    return Error{
        fmt::format("a send queue of {} WQEBBs is impossible; give a power of two from 8 "
                    "to {}",
                    spec.depth_wqebbs, abi::kMaxDepthWqebbs)};
  }
  const sim::Home queues = HomeOf(spec.placement);
  const sim::Home gpu = HomeOf(Placement::kGpu);
  QpView view;
  view.depth = spec.depth_wqebbs;
  view.sq = Carve(queues, uint64_t{spec.depth_wqebbs} * abi::kWqebbBytes);
  view.record = Carve(queues, abi::kRecordBytes);
  view.cq = Carve(queues, abi::kCqeBytes);
  // Index words never leave the GPU; each has a line of its own, so that spinners do not meet.
  view.reserved = {Carve(gpu, sizeof(uint64_t))};
  view.ready = {Carve(gpu, sizeof(uint64_t))};
  view.published = {Carve(gpu, sizeof(uint64_t))};
  view.completed = {Carve(gpu, sizeof(uint64_t))};
  view.doorbell =
      Carve({sim::HomeKind::kUar, queues.node}, abi::kUarPageBytes) + abi::kUarDoorbellOffset;
  view.batch = std::max(1u, spec.batch);
  view.max_inline = spec.max_inline;
  view.shared = spec.shared ? 1 : 0;
  view.placement = spec.placement;
  view.timeout_ps = spec.timeout_ps;
  // Software fills a CQ before the NIC may write it: an entry that is not there reads invalid.
  std::vector<uint8_t> invalid(abi::kCqeBytes, abi::kCqeInitialOpOwn);
  memory_.Poke(view.cq, invalid.data(), invalid.size());
  sim::Rnic& function = node_.Function();
  const sim::Created cq = function.CreateCq({view.cq, 1, 0, true, true});
  if (!cq.Ok()) return Error{cq.refusal};
  sim::RnicQpConfig config;
  config.pd = pd_;
  config.send_cq = config.receive_cq = cq.number;
  config.sq = view.sq;
  config.sq_wqebbs = view.depth;
  config.record = view.record;
  config.max_inline = view.max_inline;
  const sim::Created qp = node_.CreateQp(config);
  if (!qp.Ok()) return Error{qp.refusal};
  view.qpn = qp.number;
  InjectErrorsOf(static_cast<uint32_t>(views_.size()), *function.FindQp(qp.number));
  views_.push_back(view);
  return QpAddress{node_.Node(), qp.number};
}

void Fabric::SimNic::InjectErrorsOf(uint32_t qp_number, sim::QpContext& qp) {
  for (const sim::FaultRule& rule : faults_.Rules()) {
    const bool here = rule.kind == sim::FaultKind::kError &&
                      rule.node.value_or(node_.Node()) == node_.Node() &&
                      rule.qp.value_or(qp_number) == qp_number;
    if (here) node_.Function().InjectFailure(qp, {rule.wqe.value_or(0)});
  }
}

Result<bool> Fabric::SimNic::Connect(const QpAddress& local, const QpAddress& peer) {
  if (local.node != node_.Node() || node_.Function().FindQp(local.qpn) == nullptr) {
    return Error{fmt::format("QP {:#x} is not of node {}", local.qpn, node_.Node())};
  }
  sim::Rnic& function = node_.Function();
  const std::string refusal = sim::BringUp(
      sim::UsualAttributes(sim::NicNode::AddressOf(peer.node), peer.qpn, function.Config()),
      [&](const sim::QpAttributes& attributes, uint32_t mask) {
        return function.ModifyQp(local.qpn, attributes, mask);
      });
  if (!refusal.empty()) return Error{refusal};
  return true;
}

Result<QpView> Fabric::SimNic::View(const QpAddress& local) const {
  const uint32_t index = local.qpn - sim::Rnic::kFirstQpn;
  if (index >= views_.size()) {
    return Error{fmt::format("QP {:#x} is not of node {}", local.qpn, node_.Node())};
  }
  return views_[index];
}

}  // namespace ringpost

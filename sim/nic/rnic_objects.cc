// Making and destroying CQs, SRQs and QPs: what may be, and in one line why something may not.
#include <algorithm>
#include <bit>

#include "sim/nic/rnic.h"

namespace ringpost::sim {
namespace {

std::string Beyond(const char* what, uint64_t value, uint64_t limit) {
  return std::string(what) + " " + std::to_string(value) + " is beyond this NIC's limit of " +
         std::to_string(limit);
}

// As many exist as there may be.
std::string Exhausted(const char* what, uint64_t limit) {
  return Beyond(what, limit + 1, limit) + "; make fewer, or destroy some first";
}

// The place of a new object: at the end, else the first that is free; 0 is nobody's, and means that
// all are taken.
template <class Objects>
size_t FreePlace(Objects& objects, uint64_t limit) {
  if (objects.size() <= limit) {
    objects.emplace_back();
    return objects.size() - 1;
  }
  const auto free = std::find(objects.begin() + 1, objects.end(), nullptr);
  return free == objects.end() ? 0 : static_cast<size_t>(free - objects.begin());
}

// A ring's size: a power of two up to the limit.
std::string CheckRing(const char* what, uint64_t size, uint64_t limit) {
  if (size > limit) return Beyond(what, size, limit);
  if (!std::has_single_bit(size)) {
    return std::string(what) + " " + std::to_string(size) + " is no power of two";
  }
  return {};
}

std::string CheckStride(uint32_t stride, uint32_t limit) {
  if (stride > limit) return Beyond("a receive WQE size of", stride, limit);
  if (!std::has_single_bit(stride) || stride < 16) {
    return "a receive WQE size of " + std::to_string(stride) + " is no power of two from 16 on";
  }
  return {};
}

}  // namespace

Created Rnic::CreateCq(const CqConfig& config) {
  std::string refusal = CheckRing("a CQ size of", config.entries, config_.limits.cq_entries);
  if (!refusal.empty()) return {0, refusal};
  if (config.entry_bytes != abi::kCqeBytes && config.entry_bytes != 2 * abi::kCqeBytes) {
    return {0, "a CQE size of " + std::to_string(config.entry_bytes) + " is none of 64 and 128"};
  }
  const size_t place = FreePlace(cqs_, config_.limits.cqs);
  if (place == 0) return {0, Exhausted("a CQ count of", config_.limits.cqs)};
  cqs_[place] = std::make_unique<CompletionQueue>();
  cqs_[place]->cqn = static_cast<uint32_t>(place);
  cqs_[place]->config = config;
  return {cqs_[place]->cqn, {}};
}

Created Rnic::CreateSrq(uint32_t pd, const ReceiveQueueConfig& config) {
  const NicLimits& limits = config_.limits;
  if (!protection_.HasPd(pd)) return {0, "PD " + std::to_string(pd) + " does not exist"};
  std::string refusal = CheckRing("an SRQ depth of", config.wqes, limits.srq_depth_wqes);
  if (refusal.empty()) refusal = CheckStride(config.stride, limits.receive_wqe_bytes);
  if (!refusal.empty()) return {0, refusal};
  const size_t place = FreePlace(srqs_, limits.srqs);
  if (place == 0) return {0, Exhausted("an SRQ count of", limits.srqs)};
  srqs_[place] = std::make_unique<Srq>();
  Srq& srq = *srqs_[place];
  srq.srqn = static_cast<uint32_t>(place);
  srq.pd = pd;
  ReceiveQueueConfig linked = config;
  linked.linked = true;
  srq.queue.Prepare(linked);
  protection_.UsePd(pd);
  return {srq.srqn, {}};
}

std::string Rnic::CheckQp(const RnicQpConfig& config) const {
  const NicLimits& limits = config_.limits;
  if (!protection_.HasPd(config.pd)) return "PD " + std::to_string(config.pd) + " does not exist";
  const auto has_cq = [this](uint32_t cqn) { return cqn < cqs_.size() && cqs_[cqn] != nullptr; };
  for (const uint32_t cqn : {config.send_cq, config.receive_cq}) {
    if (!has_cq(cqn)) return "CQ " + std::to_string(cqn) + " does not exist";
  }
  if (config.srq != 0 && (config.srq >= srqs_.size() || srqs_[config.srq] == nullptr)) {
    return "SRQ " + std::to_string(config.srq) + " does not exist";
  }
  if (config.max_sges > limits.sges) return Beyond("an SGE count of", config.max_sges, limits.sges);
  if (config.max_inline > limits.inline_bytes) {
    return Beyond("an inline size of", config.max_inline, limits.inline_bytes);
  }
  if (config.type == QpType::kDct) {
    if (config.sq_wqebbs != 0 || config.rq.wqes != 0 || config.srq == 0) {
      return "a DCT has an SRQ and no queues of its own";
    }
    return {};
  }
  if (config.type == QpType::kDci && (config.rq.wqes != 0 || config.srq != 0)) {
    return "a DCI does not receive";
  }
  if (config.sq_wqebbs != 0) {
    std::string refusal =
        CheckRing("a send queue depth of", config.sq_wqebbs, limits.sq_depth_wqebbs);
    if (!refusal.empty()) return refusal;
  }
  if (config.rq.wqes == 0) return {};
  if (config.srq != 0) return "a QP with an SRQ has no receive queue of its own";
  std::string refusal = CheckRing("a receive queue depth of", config.rq.wqes, limits.rq_depth_wqes);
  return refusal.empty() ? CheckStride(config.rq.stride, limits.receive_wqe_bytes) : refusal;
}

Created Rnic::CreateQp(const RnicQpConfig& config) {
  std::string refusal = CheckQp(config);
  if (!refusal.empty()) return {0, refusal};
  uint32_t index = static_cast<uint32_t>(qps_.size());
  if (index < config_.limits.qps) {
    qps_.emplace_back();
  } else if (!free_qps_.empty()) {
    // A number rests for as long as there are others.
    index = free_qps_.front();
    free_qps_.erase(free_qps_.begin());
  } else {
    return {0, Exhausted("a QP count of", config_.limits.qps)};
  }
  auto qp = std::make_unique<QpContext>();
  qp->qpn = (uint32_t{config_.slot} << 16) | (kFirstQpn + index);
  qp->type = config.type;
  qp->pd = config.pd;
  qp->config = config;
  constexpr wire::Service kServices[] = {wire::Service::kRc, wire::Service::kUc, wire::Service::kUd,
                                         wire::Service::kDc, wire::Service::kDc};
  qp->service = kServices[static_cast<int>(config.type)];
  qp->send_cq = FindCq(config.send_cq);
  qp->receive_cq = FindCq(config.receive_cq);
  protection_.UsePd(config.pd);
  ++qp->send_cq->users;
  ++qp->receive_cq->users;
  if (config.srq != 0) {
    qp->receives = &srqs_[config.srq]->queue;
    ++srqs_[config.srq]->users;
  } else if (config.rq.wqes != 0) {
    ReceiveQueueConfig rq = config.rq;
    rq.record = config.record;
    rq.linked = false;
    qp->rq.Prepare(rq);
    qp->receives = &qp->rq;
  }
  qps_[index] = std::move(qp);
  Reset(*qps_[index]);
  return {qps_[index]->qpn, {}};
}

std::string Rnic::DestroyCq(uint32_t cqn) {
  CompletionQueue* cq = FindCq(cqn);
  if (cq == nullptr) return "CQ " + std::to_string(cqn) + " does not exist";
  if (cq->users != 0) return "CQ " + std::to_string(cqn) + " is used by QPs";
  cqs_[cqn].reset();
  return {};
}

std::string Rnic::DestroySrq(uint32_t srqn) {
  if (srqn >= srqs_.size() || srqs_[srqn] == nullptr) {
    return "SRQ " + std::to_string(srqn) + " does not exist";
  }
  if (srqs_[srqn]->users != 0) return "SRQ " + std::to_string(srqn) + " is used by QPs";
  protection_.LeavePd(srqs_[srqn]->pd);
  srqs_[srqn].reset();
  return {};
}

std::string Rnic::DestroyQp(uint32_t qpn) {
  QpContext* qp = FindQp(qpn);
  if (qp == nullptr) return "QP " + std::to_string(qpn) + " does not exist";
  protection_.LeavePd(qp->pd);
  --qp->send_cq->users;
  --qp->receive_cq->users;
  if (qp->config.srq != 0) --srqs_[qp->config.srq]->users;
  for (const auto& cq : cqs_) {
    if (cq != nullptr) std::erase(cq->waiters, qpn);
  }
  const uint32_t index = (qpn & 0xffff) - kFirstQpn;
  qps_[index].reset();
  free_qps_.push_back(index);
  return {};
}

std::string Rnic::ResizeCq(uint32_t cqn, uint64_t ring, uint32_t entries) {
  CompletionQueue* cq = FindCq(cqn);
  if (cq == nullptr) return "CQ " + std::to_string(cqn) + " does not exist";
  std::string refusal = CheckRing("a CQ size of", entries, config_.limits.cq_entries);
  if (!refusal.empty()) return refusal;
  if (!HasRoom(cq->cqn, *cq)) return "CQ " + std::to_string(cqn) + " is full";
  if (cq->producer - cq->consumer + 1 >= entries) {
    return "CQ " + std::to_string(cqn) + " has more entries than that";
  }
  abi::Cqe last{};
  if (!PutCqe(cq->cqn, *cq, last, abi::CqeOpcode::kResize, 0)) {
    FailCq(*cq);
    return "CQ " + std::to_string(cqn) + " has a ring that cannot be written";
  }
  cq->config.ring = ring;
  cq->config.entries = entries;
  return {};
}

void Rnic::ArmSrqLimit(uint32_t srqn, uint32_t limit) {
  if (srqn >= srqs_.size() || srqs_[srqn] == nullptr) return;
  srqs_[srqn]->limit = limit;
  CheckSrqLimit(srqn);
}

// Fewer receives than software wanted to hear of are left: said once.
void Rnic::CheckSrqLimit(uint32_t srqn) {
  Srq& srq = *srqs_[srqn];
  if (srq.limit == 0) return;
  // What is known may be old: software has posted since.
  if (srq.queue.Available() < srq.limit) srq.queue.Refresh(dma_, 0);
  if (srq.queue.Available() >= srq.limit) return;
  srq.limit = 0;
  events_.push_back({EventKind::kSrqLimit, srqn});
}

}  // namespace ringpost::sim

#include "backends/qp_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "transport/abi/wqe.h"

namespace ringpost {

std::string RefusalOf(const QpSpec& spec, const DoorbellCaps& caps) {
  if (spec.doorbell == DoorbellMode::kBlueFlame && !caps.blueflame) {
    return "doorbell blueflame is for threads of a CPU, and these are a GPU's; use gpu or cpu";
  }
  if (spec.doorbell == DoorbellMode::kRecordFree && !caps.record_free) {
    return "doorbell record_free needs a register that loses no doorbell, and this one is a page "
           "of memory; use gpu or cpu";
  }
  const uint32_t depth = spec.depth_wqebbs;
  if (!std::has_single_bit(depth) || depth < 8 || depth > abi::kMaxDepthWqebbs) {
    return fmt::format("a send queue of {} WQEBBs is impossible; give a power of two from 8 to {}",
                       depth, abi::kMaxDepthWqebbs);
  }
  if (spec.receive_depth != 0 &&
      (!std::has_single_bit(spec.receive_depth) || spec.receive_depth > abi::kMaxDepthWqebbs)) {
    return fmt::format("a receive queue of {} is impossible; give 0 or a power of two up to {}",
                       spec.receive_depth, abi::kMaxDepthWqebbs);
  }
  return {};
}

uint32_t ReceiveDepth(const QpSpec& spec) {
  return spec.kind == TransportKind::kDc ? std::max(1u, spec.receive_depth) : spec.receive_depth;
}

uint32_t ReceiveStride(TransportKind kind) {
  return abi::kSegmentBytes * (kind == TransportKind::kDc ? 2 : 1);
}

uint64_t ReceiveRingBytes(const QpSpec& spec) {
  return uint64_t{ReceiveDepth(spec)} * ReceiveStride(spec.kind);
}

QpViews ViewsOf(const QpSpec& spec, uint32_t message_bytes) {
  QpViews views;
  QpView& view = views.send;
  view.depth = spec.depth_wqebbs;
  view.batch = std::max(1u, spec.batch);
  view.max_inline = spec.max_inline;
  view.max_message = message_bytes;
  if (spec.max_message != 0) {
    view.max_message = static_cast<uint32_t>(std::min<uint64_t>(spec.max_message, message_bytes));
  }
  view.shared = spec.shared ? 1 : 0;
  view.placement = spec.placement;
  view.timeout_ps = spec.timeout_ps;
  view.kind = spec.kind;
  view.indices = spec.kind == TransportKind::kDc ? IndexHome::kMemory : spec.indices;
  view.doorbell_mode = spec.doorbell == DoorbellMode::kAuto ? DoorbellMode::kGpu : spec.doorbell;
  views.receive.depth = ReceiveDepth(spec);
  views.receive.linked = spec.kind == TransportKind::kDc ? 1 : 0;
  return views;
}

}  // namespace ringpost

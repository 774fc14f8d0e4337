// standard_order.h: our orders in the words of std::atomic, as a host port needs them.
#pragma once

#include <atomic>

#include "transport/order.h"

namespace ringpost {

constexpr std::memory_order Standard(Order order) {
  constexpr std::memory_order kStandard[] = {std::memory_order_relaxed, std::memory_order_acquire,
                                             std::memory_order_release, std::memory_order_acq_rel,
                                             std::memory_order_seq_cst};
  return kStandard[static_cast<int>(order)];
}

// Every load acquires: see host_port.h.
constexpr std::memory_order LoadOrder(Order order) {
  return order == Order::kRelaxed ? std::memory_order_acquire : Standard(order);
}

constexpr std::memory_order UpdateOrder(Order order) {
  if (order == Order::kSeqCst) return std::memory_order_seq_cst;
  const bool releases = order == Order::kRelease || order == Order::kAcqRel;
  return releases ? std::memory_order_acq_rel : std::memory_order_acquire;
}

}  // namespace ringpost

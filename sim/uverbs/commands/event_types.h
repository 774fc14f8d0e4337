// event_types.h: what the kernel calls the NIC's events, and how many vectors there are for them.
#pragma once

#include <cstdint>

#include "sim/nic/facts.h"
#include "sim/uverbs/nic_host.h"

namespace ringpost::sim::uverbs {

inline constexpr uint32_t kCompletionVectors = NicHost::kCompletionVectors;

// `enum ib_event_type` of the kernel, which its uverbs pass on.
enum class EventType : uint32_t {
  kCqError = 0,
  kQpFatal = 1,
  kQpRequestError = 2,
  kQpAccessError = 3,
  kEstablished = 4,
  kSendQueueDrained = 5,
  kSrqLimit = 15,
  kLastWqeReached = 16,
};

constexpr uint32_t EventTypeOf(EventKind kind) {
  EventType type = EventType::kQpFatal;
  switch (kind) {
    case EventKind::kCqError:
      type = EventType::kCqError;
      break;
    case EventKind::kQpRequestError:
      type = EventType::kQpRequestError;
      break;
    case EventKind::kQpAccessError:
      type = EventType::kQpAccessError;
      break;
    case EventKind::kEstablished:
      type = EventType::kEstablished;
      break;
    case EventKind::kSendQueueDrained:
      type = EventType::kSendQueueDrained;
      break;
    case EventKind::kSrqLimit:
      type = EventType::kSrqLimit;
      break;
    case EventKind::kLastWqeReached:
      type = EventType::kLastWqeReached;
      break;
    default:
      break;
  }
  return static_cast<uint32_t>(type);
}

}  // namespace ringpost::sim::uverbs

// queue_layout.h: what a DevX QP has in the allocation of its queues.
//
// Every ring begins at a page, as devices want it. The receive ring stands before the send ring:
// the two are one work queue.
#pragma once

#include <cstdint>

#include "transport/abi/cqe.h"
#include "transport/abi/wqe.h"

namespace ringpost::mlx5 {

inline constexpr uint64_t kLine = 64;  // of a cache: words of different use do not share one
inline constexpr uint64_t kRecordPageBytes = 4096;

// In the page of records.
inline constexpr uint64_t kQpRecordAt = 0;
inline constexpr uint64_t kSendCqRecordAt = kLine;
inline constexpr uint64_t kReceiveCqRecordAt = 2 * kLine;
inline constexpr uint64_t kProducerAt = 3 * kLine;
inline constexpr uint64_t kWordsAt = 4 * kLine;

struct QueueLayout {
  uint64_t receive_ring = 0;  // and the begin of the work queue
  uint64_t send_ring = 0;
  uint64_t receive_cq = 0;
  uint64_t send_cq = 0;  // one slot
  uint64_t records = 0;
  uint64_t words = 0;  // the transport's own, a line each
  uint64_t bytes = 0;
};

// `receives` is 0 or at least 4.
constexpr QueueLayout LayoutOf(uint64_t send_wqebbs, uint64_t receives) {
  const auto pages = [](uint64_t bytes) {
    return (bytes + kRecordPageBytes - 1) / kRecordPageBytes * kRecordPageBytes;
  };
  QueueLayout layout;
  layout.send_ring = receives * abi::kSegmentBytes;
  layout.receive_cq = pages(layout.send_ring + send_wqebbs * abi::kWqebbBytes);
  layout.send_cq = layout.receive_cq + pages(receives * abi::kCqeBytes);
  layout.records = layout.send_cq + kRecordPageBytes;
  layout.words = layout.records + kWordsAt;
  layout.bytes = layout.records + kRecordPageBytes;
  return layout;
}

}  // namespace ringpost::mlx5

#include "backends/live/queue_memory.h"

#include <utility>

#include "transport/abi/cqe.h"
#include "transport/abi/doorbell.h"
#include "transport/abi/wqe.h"

namespace ringpost {
namespace {

constexpr uint64_t kLine = 64;
constexpr uint64_t kPage = 4096;

constexpr uint64_t RoundUp(uint64_t bytes, uint64_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

// One line each, so that no two of them share one.
enum Word : uint32_t {
  kReserved,
  kReady,
  kPublished,
  kCompleted,
  kRinging,
  kBlueFlame,
  kPostedReceives,
  kTakenReceives,
  kWords
};
constexpr uint64_t kWordBytes = kWords * kLine;

// Offsets within what the NIC uses.
struct QueueLayout {
  static constexpr uint64_t kRecord = 0;
  static constexpr uint64_t kSharedRecord = kLine;  // of a shared receive queue
  static constexpr uint64_t kCq = 2 * kLine;
  static constexpr uint64_t kSink = 3 * kLine;
  static constexpr uint64_t kRing = kPage;

  QueueLayout(const QpSpec& spec, const ReceiveView& receive)
      : receive_cq(kRing + uint64_t{spec.depth_wqebbs} * abi::kWqebbBytes),
        receive_cq_bytes(uint64_t{receive.depth} * abi::kCqeBytes),
        receive_ring(receive_cq + receive_cq_bytes),
        bytes(receive_ring + ReceiveRingBytes(spec)) {}

  uint64_t receive_cq;
  uint64_t receive_cq_bytes;
  uint64_t receive_ring;
  uint64_t bytes;
};

void PlaceWords(uint64_t at, QpViews& views) {
  QpView& view = views.send;
  view.reserved = {at + kReserved * kLine};
  view.ready = {at + kReady * kLine};
  view.published = {at + kPublished * kLine};
  view.completed = {at + kCompleted * kLine};
  view.ringing = {at + kRinging * kLine};
  view.blueflame = {at + kBlueFlame * kLine};
  views.receive.posted = {at + kPostedReceives * kLine};
  views.receive.taken = {at + kTakenReceives * kLine};
}

void PlaceRings(uint64_t at, const QueueLayout& layout, QpViews& views) {
  QpView& view = views.send;
  view.record = at + QueueLayout::kRecord;
  view.cq = at + QueueLayout::kCq;
  view.sink = at + QueueLayout::kSink;
  view.sq = at + QueueLayout::kRing;
  ReceiveView& receive = views.receive;
  receive.record = receive.linked != 0 ? at + QueueLayout::kSharedRecord
                                       : view.record + abi::kRecordReceiveOffset;
  receive.cq = at + layout.receive_cq;
  receive.ring = at + layout.receive_ring;
}

// Software fills a CQ before the NIC may write it: an entry that is not there reads invalid.
std::string Empty(MemoryProvider& provider, uint64_t cq, uint64_t bytes) {
  if (bytes == 0) return {};
  const std::string invalid(bytes, static_cast<char>(abi::kCqeInitialOpOwn));
  const Result<bool> filled =
      provider.Copy(cq, reinterpret_cast<uint64_t>(invalid.data()), invalid.size());
  return filled.Ok() ? std::string() : filled.Message();
}

std::string Take(MemoryProvider& provider, Placement placement, uint64_t bytes,
                 Allocation& memory) {
  if (bytes == 0) return {};
  const Result<Allocation> taken = provider.Allocate(placement, bytes);
  if (!taken.Ok()) return taken.Message();
  memory = taken.Value();
  return {};
}

std::string TakeAll(MemoryProvider& provider, KernelsOf kernels, const QpSpec& spec,
                    const QueueLayout& layout, QpViews& views, QueueMemory& memory) {
  const bool words_on_gpu = kernels == KernelsOf::kGpu;
  const bool queues_on_gpu = spec.placement == Placement::kGpu;
  const uint64_t words = RoundUp(kWordBytes, kPage);
  // What stands before the queues, there and there.
  const uint64_t on_page = abi::kUarPageBytes + (words_on_gpu ? 0 : words);
  const uint64_t on_words = words_on_gpu ? words : 0;
  const uint64_t on_host = on_page + (queues_on_gpu ? 0 : layout.bytes);
  const uint64_t on_gpu = on_words + (queues_on_gpu ? layout.bytes : 0);
  std::string refusal = Take(provider, Placement::kHost, on_host, memory.host);
  if (refusal.empty()) refusal = Take(provider, Placement::kGpu, on_gpu, memory.gpu);
  if (refusal.empty() && spec.doorbell == DoorbellMode::kCpu) {
    // A host thread reads it, wherever the queues are.
    refusal = Take(provider, Placement::kHost, kLine, memory.producer);
  }
  if (!refusal.empty()) return refusal;
  memory.page = memory.host.address;
  memory.placement = spec.placement;
  memory.queues = queues_on_gpu ? memory.gpu.address + on_words : memory.host.address + on_page;
  memory.queue_bytes = layout.bytes;
  views.send.doorbell = memory.page + abi::kUarDoorbellOffset;
  views.send.producer = {memory.producer.address};
  PlaceWords(words_on_gpu ? memory.gpu.address : memory.page + abi::kUarPageBytes, views);
  PlaceRings(memory.queues, layout, views);
  return {};
}

}  // namespace

std::string PlaceQueues(MemoryProvider& provider, KernelsOf kernels, const QpSpec& spec,
                        QpViews& views, QueueMemory& memory) {
  const QueueLayout layout(spec, views.receive);
  std::string refusal = TakeAll(provider, kernels, spec, layout, views, memory);
  if (refusal.empty()) refusal = Empty(provider, views.send.cq, abi::kCqeBytes);
  if (refusal.empty()) refusal = Empty(provider, views.receive.cq, layout.receive_cq_bytes);
  if (!refusal.empty()) FreeQueues(provider, std::exchange(memory, {}));
  return refusal;
}

void FreeQueues(MemoryProvider& provider, const QueueMemory& memory) {
  for (const Allocation& part : {memory.host, memory.gpu, memory.producer}) {
    if (part.bytes != 0) provider.Free(part);
  }
}

}  // namespace ringpost

// recording_port.h: a single-threaded Port over its own bytes that keeps what was stored, in order.
//
// Every word that a QpView can name lies in this port's memory; `view` is ready to use. Nothing
// completes by itself: a test writes CQEs with Complete, or gives `on_relax` the part of the NIC.
// A wait that is not helped ends after `turns` calls of Relax, with a timeout.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <type_traits>
#include <vector>

#include "tests/transport/alone.h"
#include "transport/abi/cqe.h"
#include "transport/abi/doorbell.h"
#include "transport/port.h"

namespace ringpost {

enum class EventKind : uint8_t { kWqe, kFence, kRecord, kDoorbell, kWord, kPair };

// kWqe: `index` and `count` of segments. kRecord, kDoorbell, kWord and kPair: `value`, of a pair
// the first; of kWord and kPair `index` is the address.
struct Event {
  EventKind kind;
  Order order;
  Scope scope;
  uint64_t index;
  uint64_t value;
  uint32_t count;
};

template <class MaskSet = FullMasks>
class RecordingPort : public Alone {
 public:
  using Masks = MaskSet;
  static constexpr bool kHasBlueFlame = true;

  explicit RecordingPort(uint32_t depth = 16) : memory(kSq + depth * abi::kWqebbBytes) {
    view.depth = depth;
    view.qpn = 0x123456;
    view.sq = kSq;
    view.record = kRecord;
    view.doorbell = kDoorbell;
    view.cq = kCq;
    view.reserved = {kIndices};
    view.ready = {kIndices + 8};
    view.published = {kIndices + 16};
    view.completed = {kIndices + 24};
    view.ringing = {kIndices + 32};
    view.max_inline = 220;
    memory[kCq + abi::kCqeBytes - 1] = abi::kCqeInitialOpOwn;
  }

  // Starts all indices of the QP at `index`, as if that much had completed.
  void StartAt(uint64_t index) {
    for (uint64_t word = kIndices; word < kIndices + 32; word += 8) Put(word, index);
  }

  // The NIC's part: slot 0 says that the WQE whose first WQEBB has this counter is done.
  void Complete(uint16_t counter) { WriteCqe(counter, abi::CqeOpcode::kRequester, {}); }

  void Fail(uint16_t counter, abi::Syndrome syndrome, uint8_t vendor) {
    memory[kCq + abi::kErrorVendorSyndromeOffset] = vendor;
    WriteCqe(counter, abi::CqeOpcode::kRequesterError, syndrome);
  }

  template <class T>
  T Get(uint64_t address) const {
    T value;
    std::memcpy(&value, memory.data() + address, sizeof(value));
    return value;
  }

  template <class T>
  void Put(uint64_t address, T value) {
    std::memcpy(memory.data() + address, &value, sizeof(value));
  }

  // The bytes of segment `segment` of the WQE at `index`, as the NIC would find them.
  abi::Segment SegmentAt(uint64_t index, uint32_t segment) const {
    const uint64_t at = index * abi::kWqebbBytes + segment * abi::kSegmentBytes;
    return Get<abi::Segment>(kSq + at % (view.depth * abi::kWqebbBytes));
  }

  std::vector<Event> Of(EventKind kind) const {
    std::vector<Event> found;
    for (const Event& event : events) {
      if (event.kind == kind) found.push_back(event);
    }
    return found;
  }

  template <Order O, Scope S, class T>
  T Load(Ref<T> word) {
    return Get<T>(word.address);
  }
  template <Order O, Scope S, class T>
  void Store(Ref<T> word, std::type_identity_t<T> value) {
    events.push_back({EventKind::kWord, O, S, word.address, value, 0});
    Put(word.address, value);
  }
  template <Order O, Scope S, class T>
  T FetchAdd(Ref<T> word, std::type_identity_t<T> value) {
    return Exchange<O, S>(word, static_cast<T>(Get<T>(word.address) + value));
  }
  template <Order O, Scope S, class T>
  T FetchMax(Ref<T> word, std::type_identity_t<T> value) {
    const T old = Get<T>(word.address);
    return Exchange<O, S>(word, old < value ? value : old);
  }
  template <Order O, Scope S, class T>
  void RaiseTo(Ref<T> word, std::type_identity_t<T> value) {
    FetchMax<O, S>(word, value);
  }
  template <Order O, Scope S>
  void StorePair(uint64_t address, uint64_t low, uint64_t high) {
    events.push_back({EventKind::kPair, O, S, address, low, 2});
    Put(address, low);
    Put(address + sizeof(low), high);
  }
  template <Order O, Scope S, class T>
  T Exchange(Ref<T> word, std::type_identity_t<T> value) {
    const T old = Get<T>(word.address);
    Store<O, S>(word, value);
    return old;
  }
  template <Order O, Scope S, class T>
  T CompareExchange(Ref<T> word, std::type_identity_t<T> expected, std::type_identity_t<T> value) {
    const T old = Get<T>(word.address);
    if (old == expected) Store<O, S>(word, value);
    return old;
  }
  void StorePayload(uint64_t address, const void* source, uint64_t bytes) {
    std::memcpy(memory.data() + address, source, bytes);
  }
  void LoadPayload(void* target, uint64_t address, uint64_t bytes) {
    std::memcpy(target, memory.data() + address, bytes);
  }
  void StoreWqe(const QpView& qp, uint64_t index, const abi::Segment* segments, uint32_t count) {
    events.push_back({EventKind::kWqe, Order::kRelaxed, Scope::kThread, index, 0, count});
    const uint64_t ring = uint64_t{qp.depth} * abi::kWqebbBytes;
    for (uint32_t i = 0; i < count; ++i) {
      const uint64_t at = index * abi::kWqebbBytes + i * abi::kSegmentBytes;
      Put(qp.sq + at % ring, segments[i]);
    }
  }
  void GatherInline(uint64_t) {}
  void Enter(Step, Ref<uint64_t>) {}
  template <Order O, Scope S>
  void Fence(const QpView&) {
    events.push_back({EventKind::kFence, O, S, 0, 0, 0});
  }
  template <Order O, Scope S>
  void StoreDoorbellRecord(const QpView& qp, uint32_t counter) {
    events.push_back({EventKind::kRecord, O, S, 0, counter, 0});
    Put(qp.record + abi::kRecordSendOffset, abi::Swap32(counter));
  }
  template <Order O, Scope S>
  void RingDoorbell(const QpView& qp, uint64_t value) {
    events.push_back({EventKind::kDoorbell, O, S, 0, value, 0});
    Put(qp.doorbell, value);
  }
  uint64_t LoadCqeTail(uint64_t cq, uint32_t slot) {
    return Get<uint64_t>(cq + slot * abi::kCqeBytes + abi::kCqeTailOffset);
  }
  uint64_t LoadCqeError(uint64_t cq, uint32_t slot) {
    return Get<uint64_t>(cq + slot * abi::kCqeBytes + abi::kCqeTailOffset - 8);
  }
  void Expect(Ref<uint64_t>, uint64_t) {}
  void ExpectCqe(uint64_t, uint32_t, uint64_t, uint64_t) {}
  bool Relax(uint64_t) {
    if (on_relax) on_relax();
    return turns-- > 0;
  }
  uint64_t Now() { return 0; }
  static constexpr uint64_t kIndices = 0;
  static constexpr uint64_t kRecord = 64;
  static constexpr uint64_t kDoorbell = 128;
  static constexpr uint64_t kCq = 192;
  static constexpr uint64_t kSq = 256;

  QpView view;
  std::vector<uint8_t> memory;
  std::vector<Event> events;
  std::function<void()> on_relax;
  int turns = 100;

 private:
  void WriteCqe(uint16_t counter, abi::CqeOpcode opcode, abi::Syndrome syndrome) {
    memory[kCq + abi::kErrorSyndromeOffset] = static_cast<uint8_t>(syndrome);
    Put(kCq + offsetof(abi::Cqe, wqe_counter), abi::Swap16(counter));
    memory[kCq + offsetof(abi::Cqe, op_own)] = static_cast<uint8_t>(static_cast<int>(opcode) << 4);
  }
};

static_assert(Port<RecordingPort<>>);

}  // namespace ringpost

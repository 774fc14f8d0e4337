// handoff.h: how a producer gets slots of a ring, fills them and waits for room: the two ways.
//
//   Tuned     one producer a ring. It knows the next slot itself and keeps what it last read of the
//             worker's progress, so that an operation is one posted store of 16 bytes.
//   Baseline  any number of producers. Each reserves by an atomic, reads the worker's progress in
//             host memory and releases at system scope, for every operation.
//
// Neither drops anything: who finds the ring full waits until the worker has read what is in it.
#pragma once

#include "transport/completion_queue.h"
#include "transport/proxy/ring.h"
#include "transport/send_queue.h"

namespace ringpost::proxy {

// What an Endpoint keeps of the ring that it fills.
struct Producer {
  uint64_t next = 0;  // held: the next free slot
  uint64_t room = 0;  // slots before it are free; 0 before the first operation
  bool held = false;
  bool keyed = false;  // the worker has these keys:
  bool fence = false;  // the next operation starts once those before it are complete
  uint32_t rkey = 0;
  uint32_t lkey = 0;
  // Slots that a value in the short form may take without a look at anything but its address and
  // key: there is room, keys are known and no fence is asked for.
  uint32_t quick = 0;
};

// How far slots were free, and whether that is enough.
struct Room {
  uint64_t end = 0;
  Completion status;
};

// Waits until slots before `end` are free. No acquire: the worker has read a slot before it said
// so, and the store that uses the slot again depends on the load that has seen that.
template <class P>
HOST_DEVICE_APART Room WaitForRoom(P& port, const QpView& ring, uint64_t end) {
  const uint64_t deadline = DeadlineOf(port.Now(), ring.timeout_ps);
  for (;;) {
    const uint64_t room =
        port.template Load<Order::kRelaxed, Scope::kSystem>(ring.published) + ring.depth;
    if (end <= room) return {room, {}};
    // A worker whose QP has failed reads no more.
    const uint64_t completed = port.template Load<Order::kRelaxed, Scope::kSystem>(ring.completed);
    if ((completed & kFailed) != 0) return {room, FailureIn(completed, ring.qpn, end)};
    if (!port.Relax(deadline)) return {room, {Status::kTimeout, 0, 0, ring.qpn, end - 1}};
  }
}

// `Ring` is a QpView, or what keeps it in registers.
struct Tuned {
  static constexpr const char* kName = "tuned";
  static constexpr bool kSharesRing = false;
  static constexpr bool kAlwaysReleases = false;

  template <class P, class Ring>
  static HOST_DEVICE Completion Reserve(P& port, const Ring& ring, Producer& own, uint32_t count,
                                        uint64_t* index) {
    if (own.next + count > own.room) [[unlikely]] {
      const Checked checked = MakeRoom(port, OriginOf(ring), own, count);
      own = checked.own;
      if (!checked.status.Ok()) return checked.status;
    }
    *index = own.next;
    own.next += count;
    return {};
  }

  // What Quiet through another Endpoint of the thread goes by: a plain store to GPU memory.
  template <class P, class Ring>
  static HOST_DEVICE void Note(P& port, const Ring& ring, const Producer& own) {
    port.template Store<Order::kRelaxed, Scope::kThread>(ring.ready, own.next);
  }
  template <class P>
  static HOST_DEVICE uint64_t EndOf(P& port, const QpView& ring, const Producer& own) {
    if (own.held) return own.next;
    return port.template Load<Order::kRelaxed, Scope::kThread>(ring.ready);
  }
  template <class P>
  static HOST_DEVICE void GiveBack(P& port, const QpView& ring, Producer& own) {
    if (!own.held) return;
    port.template Store<Order::kRelaxed, Scope::kThread>(ring.reserved, own.next);
    own = {};
  }

 private:
  struct Checked {
    Producer own;
    Completion status;
  };
  template <class P>
  static HOST_DEVICE_APART Checked MakeRoom(P& port, const QpView& ring, Producer own,
                                            uint32_t count) {
    if (!FitsRing(ring, count) || !Take(port, ring, own)) {
      return {own, {Status::kInvalidArgument, 0, 0, ring.qpn, 0}};
    }
    const Room room = WaitForRoom(port, ring, own.next + count);
    own.room = room.end;
    return {own, room.status};
  }

  // False: another Endpoint fills the ring.
  template <class P>
  static HOST_DEVICE bool Take(P& port, const QpView& ring, Producer& own) {
    if (own.held) return true;
    const uint64_t next = port.template Load<Order::kRelaxed, Scope::kThread>(ring.reserved);
    if (next == kHeld) return false;
    port.template Store<Order::kRelaxed, Scope::kThread>(ring.reserved, kHeld);
    own.next = next;
    own.held = true;
    return true;
  }
};

struct Baseline {
  static constexpr const char* kName = "baseline";
  static constexpr bool kSharesRing = true;
  static constexpr bool kAlwaysReleases = true;

  template <class P, class Ring>
  static HOST_DEVICE Completion Reserve(P& port, const Ring& ring, Producer&, uint32_t count,
                                        uint64_t* index) {
    if (!FitsRing(ring, count)) return {Status::kInvalidArgument, 0, 0, ring.qpn, 0};
    *index = port.template FetchAdd<Order::kRelaxed, Scope::kGpu>(ring.reserved, count);
    return WaitForRoom(port, OriginOf(ring), *index + count).status;
  }
  template <class P, class Ring>
  static HOST_DEVICE void Note(P&, const Ring&, const Producer&) {}
  // Also what other producers have reserved, and will fill.
  template <class P>
  static HOST_DEVICE uint64_t EndOf(P& port, const QpView& ring, const Producer&) {
    return port.template Load<Order::kRelaxed, Scope::kGpu>(ring.reserved);
  }
  template <class P>
  static HOST_DEVICE void GiveBack(P&, const QpView&, Producer&) {}
};

// Fills `count` slots, of which `slot_at(i)` is the i-th. `releases`: the operation reads memory of
// this side, which must be ordered before it.
template <class Handoff, class P, class Ring, class SlotAt>
HOST_DEVICE Posted Enqueue(P& port, const Ring& ring, Producer& own, uint32_t count, bool releases,
                           const SlotAt& slot_at) {
  uint64_t index = 0;
  const Completion reserved = Handoff::Reserve(port, ring, own, count, &index);
  if (!reserved.Ok()) return {0, reserved};
  for (uint32_t i = count - 1; i > 0; --i) {
    StoreSlot<Order::kRelaxed>(port, ring, index + i, slot_at(i));
  }
  if (Handoff::kAlwaysReleases || releases) {
    StoreSlot<Order::kRelease>(port, ring, index, slot_at(0));
  } else {
    StoreSlot<Order::kRelaxed>(port, ring, index, slot_at(0));
  }
  Handoff::Note(port, ring, own);
  return {index + count, {}};
}

}  // namespace ringpost::proxy

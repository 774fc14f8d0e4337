// receive_queue.h: where a peer's sends go, and what came: the receiving half of one QP.
//
//   ReceiveQueue<SimPort, OrderGpuFence> receives(port, qp, queue);
//   receives.Post(buffer);
//   const Received message = receives.Wait();
//
// One thread at a time uses a queue; to hand it over, order its words as any other memory. Receives
// are taken in the order posted. A peer that sends while none is posted tries again until its RNR
// retries run out. A DC target that several peers send to takes receives in order too, but may
// complete those of messages of several packets out of order: have one sender, or short messages.
#pragma once

#include "transport/abi/receive_wqe.h"
#include "transport/ordering.h"
#include "transport/send_queue.h"

namespace ringpost {

struct Received {
  Completion status;
  uint64_t index = 0;  // of the receive, counted from the first one posted
  uint32_t bytes = 0;
  uint32_t immediate = 0;  // where the message had one
  bool has_immediate = false;
};

template <class P, class Ordering>
class ReceiveQueue {
 public:
  // The views stay with the caller.
  HOST_DEVICE ReceiveQueue(P& port, const QpView& qp, const ReceiveView& queue)
      : port_(port), qp_(qp), queue_(queue) {}

  // The next message goes to `buffer`, up to 2^31 - 1 bytes; a put with immediate takes the
  // receive and leaves the buffer alone. kInvalidArgument if all WQEs are posted.
  HOST_DEVICE Completion Post(LocalSpan buffer) {
    const uint64_t posted = Word(queue_.posted);
    if (posted - Word(queue_.taken) >= queue_.depth || buffer.bytes >= abi::kInlineFlag) {
      return {Status::kInvalidArgument, 0, 0, qp_.qpn, posted};
    }
    const uint64_t stride = sizeof(abi::Segment) * (1 + queue_.linked);
    uint64_t at = queue_.ring + (posted & (queue_.depth - 1)) * stride;
    if (queue_.linked != 0) {
      const uint64_t next = (posted + 1) & (queue_.depth - 1);
      Store(at, abi::NextReceiveOf(static_cast<uint16_t>(next)));
      at += sizeof(abi::Segment);
    }
    Store(at, abi::ReceiveOf(static_cast<uint32_t>(buffer.bytes), buffer.lkey, buffer.address));
    SetWord(queue_.posted, posted + 1);
    Announce(static_cast<uint32_t>((posted + 1) & 0xffff));
    return {};
  }

  // Waits for the oldest receive that is not taken yet.
  HOST_DEVICE Received Wait() {
    const uint64_t taken = Word(queue_.taken);
    const uint32_t slot = static_cast<uint32_t>(taken & (queue_.depth - 1));
    const bool owner = (taken & queue_.depth) != 0;
    const uint64_t deadline = DeadlineOf(port_.Now(), qp_.timeout_ps);
    for (;;) {
      const uint64_t tail = port_.LoadCqeTail(queue_.cq, slot);
      if (abi::TailOpcode(tail) != abi::CqeOpcode::kInvalid && abi::TailOwner(tail) == owner) {
        // Orders the entry before what else it holds, and before the message.
        Ordering::Acquire(port_, qp_);
        SetWord(queue_.taken, taken + 1);
        return Read(slot, abi::TailOpcode(tail), taken);
      }
      if (!port_.Relax(deadline)) return {{Status::kTimeout, 0, 0, qp_.qpn, taken}, taken};
    }
  }

 private:
  HOST_DEVICE uint64_t Word(Ref<uint64_t> word) {
    return port_.template Load<Order::kRelaxed, Scope::kThread>(word);
  }
  HOST_DEVICE void SetWord(Ref<uint64_t> word, uint64_t value) {
    port_.template Store<Order::kRelaxed, Scope::kThread>(word, value);
  }

  // In words, as segments of the send ring have an operation of their own.
  HOST_DEVICE void Store(uint64_t address, const abi::Segment& segment) {
    for (uint32_t i = 0; i < 2; ++i) {
      const uint64_t high = segment.word[2 * i + 1];
      SetWord({address + i * sizeof(uint64_t)}, high << 32 | segment.word[2 * i]);
    }
  }
  HOST_DEVICE uint32_t FieldAt(uint64_t address) {
    return abi::Swap32(
        port_.template Load<Order::kRelaxed, Scope::kThread>(Ref<uint32_t>{address}));
  }

  // Release: orders the WQE before the count; the NIC relies on it when it takes the receive.
  HOST_DEVICE void Announce(uint32_t count) {
    const Ref<uint32_t> record{queue_.record};
    if constexpr (Ordering::kScope == Scope::kThread) {
      port_.template Store<Order::kRelaxed, Scope::kGpu>(record, abi::Swap32(count));
    } else {
      port_.template Store<Order::kRelease, Ordering::kScope>(record, abi::Swap32(count));
    }
  }

  HOST_DEVICE Received Read(uint32_t slot, abi::CqeOpcode opcode, uint64_t index) {
    Received message;
    message.index = index;
    message.status = {Status::kOk, 0, 0, qp_.qpn, index};
    if (opcode == abi::CqeOpcode::kResponderError) {
      const uint64_t word = port_.LoadCqeError(queue_.cq, slot);
      message.status = {Status::kErrorCompletion, static_cast<uint8_t>(word >> 56),
                        static_cast<uint8_t>(word >> 48), qp_.qpn, index};
      return message;
    }
    const uint64_t entry = queue_.cq + uint64_t{slot} * abi::kCqeBytes;
    message.immediate = FieldAt(entry + abi::kCqeImmediateOffset);
    message.bytes = FieldAt(entry + abi::kCqeByteCountOffset);
    message.has_immediate =
        opcode == abi::CqeOpcode::kResponderWriteImm || opcode == abi::CqeOpcode::kResponderSendImm;
    return message;
  }

  P& port_;
  const QpView& qp_;
  const ReceiveView& queue_;
};

}  // namespace ringpost

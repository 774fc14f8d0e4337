// agent_commands.h: what an agent does for each command: agent_loop.h says when. All 32 lanes of
// its warp call each function together; `value` is a lane's word of the command.
#pragma once

#include <cstdint>

#include "transport/abi/byte_order.h"
#include "transport/memory/agent_mailbox.h"
#include "transport/port.h"

namespace ringpost {

template <Port P>
class AgentCommands {
 public:
  HOST_DEVICE AgentCommands(P& port, AgentMailbox* mailbox) : port_(port), mailbox_(*mailbox) {}

  // What lanes `first` + 1 and `first` have brought.
  HOST_DEVICE uint64_t Wide(uint32_t value, uint32_t first) {
    const uint64_t low = port_.Shuffle(value, first);
    return low | port_.Shuffle(value, first + 1) << 32;
  }

  // Release: orders what all lanes have stored before the answer; the host relies on it.
  HOST_DEVICE void Done(uint64_t number, uint32_t value) {
    port_.SyncWarp();
    if (port_.Lane() != 0) return;
    port_.template Fence<Order::kAcqRel, Scope::kSystem>(QpView{});
    Answer(number, 0, value);
  }

  // Acquire: what the host wrote to its own memory before it posted this, payload say, is ordered
  // before these bytes, a CQE say. Release, on the last piece: orders the others, and all earlier
  // commands, before it; threads of this GPU that poll it rely on both.
  HOST_DEVICE void Write(uint64_t address, uint32_t size, uint32_t value) {
    port_.template Fence<Order::kAcquire, Scope::kSystem>(QpView{});
    if (((address | size) & 7) == 0) {
      WritePieces<uint64_t>(address, size / 8, value);
    } else if (((address | size) & 3) == 0) {
      WritePieces<uint32_t>(address, size / 4, value);
    } else {
      for (uint32_t first = 0; first < size; first += kLanes) {
        const uint32_t at = first + port_.Lane();
        const uint64_t word = port_.Shuffle(value, (AgentMailbox::kArguments + at / 4) % kLanes);
        const auto byte = static_cast<unsigned char>(word >> (8 * (at % 4)));
        if (at < size) port_.StorePayload(address + at, &byte, 1);
      }
      port_.SyncWarp();
      port_.template Fence<Order::kAcqRel, Scope::kGpu>(QpView{});
    }
  }

  HOST_DEVICE void Read(uint64_t number, uint64_t address, uint32_t size) {
    const uint32_t lane = port_.Lane();
    const uint64_t at = address + 4 * lane;
    if (4 * lane >= size) return;
    uint32_t value = 0;
    if ((at & 3) == 0 && 4 * lane + 4 <= size) {
      value = port_.template Load<Order::kRelaxed, Scope::kSystem>(Ref<uint32_t>{at});
    } else {
      // Acquire: these loads must not find in L1 what an earlier command left there.
      port_.template Fence<Order::kAcquire, Scope::kGpu>(QpView{});
      port_.LoadPayload(&value, at, size - 4 * lane < 4 ? size - 4 * lane : 4);
    }
    Answer(number, lane, value);
  }

  // Between GPU memory and the bulk, which is aligned. All loads of a lane are under way at once.
  HOST_DEVICE void CopyBulk(uint64_t to, uint64_t from, uint32_t size) {
    constexpr uint32_t kEach = AgentMailbox::kBulkBytes / kChunk / kLanes;
    struct alignas(kChunk) Chunk {
      uint64_t word[2];
    };
    Chunk chunks[kEach];
    // As in Read.
    port_.template Fence<Order::kAcquire, Scope::kGpu>(QpView{});
    RINGPOST_UNROLL
    for (uint32_t i = 0; i < kEach; ++i) {
      const uint32_t at = (i * kLanes + port_.Lane()) * kChunk;
      if (at < size) port_.LoadPayload(&chunks[i], from + at, Left(size, at));
    }
    RINGPOST_UNROLL
    for (uint32_t i = 0; i < kEach; ++i) {
      const uint32_t at = (i * kLanes + port_.Lane()) * kChunk;
      if (at < size) port_.StorePayload(to + at, &chunks[i], Left(size, at));
    }
    port_.SyncWarp();
  }

  HOST_DEVICE void CompareSwap(uint64_t number, uint64_t address, uint32_t size, uint32_t value) {
    uint64_t old = Wide(value, AgentMailbox::kArguments);
    const uint64_t desired = Wide(value, AgentMailbox::kArguments + 2);
    if (port_.Lane() != 0) return;
    if (size == sizeof(uint32_t)) {
      old = port_.template CompareExchange<Order::kAcqRel, Scope::kSystem>(
          Ref<uint32_t>{address}, static_cast<uint32_t>(old), static_cast<uint32_t>(desired));
    } else {
      old = port_.template CompareExchange<Order::kAcqRel, Scope::kSystem>(Ref<uint64_t>{address},
                                                                           old, desired);
    }
    Answer(number, 0, static_cast<uint32_t>(old));
    Answer(number, 1, static_cast<uint32_t>(old >> 32));
  }

  HOST_DEVICE void ReadRecord(uint64_t number, uint64_t address, uint32_t value) {
    constexpr uint32_t kFirst = AgentMailbox::kArguments;
    const uint64_t ring = Wide(value, kFirst);
    const uint64_t copy = Wide(value, kFirst + 2);
    const auto depth = static_cast<uint32_t>(port_.Shuffle(value, kFirst + 4));
    const auto last = static_cast<uint32_t>(port_.Shuffle(value, kFirst + 5));
    uint32_t record = 0;
    // Acquire: orders the record before the blocks that it announces, for all lanes by the shuffle.
    if (port_.Lane() == 0) {
      record = port_.template Load<Order::kAcquire, Scope::kSystem>(Ref<uint32_t>{address});
    }
    record = static_cast<uint32_t>(port_.Shuffle(record, 0));
    port_.SyncWarp();
    const uint32_t blocks = NewBlocks(abi::Swap32(record), last, depth);
    const uint32_t lane = port_.Lane();
    if (blocks == 1) {
      const uint64_t at = ring + (last & (depth - 1)) * 64 + 4 * (lane - 1);
      if (lane == 0) Answer(number, 0, record);
      if (lane == 0 || lane > 16) return;
      Answer(number, lane, port_.template Load<Order::kRelaxed, Scope::kSystem>(Ref<uint32_t>{at}));
      return;
    }
    for (uint32_t piece = lane; piece < 4 * blocks; piece += kLanes) {
      const uint64_t at = uint64_t{(last + piece / 4) & (depth - 1)} * 64 + piece % 4 * kChunk;
      alignas(kChunk) uint64_t chunk[2];
      port_.LoadPayload(chunk, ring + at, kChunk);
      port_.StorePayload(copy + at, chunk, kChunk);
    }
    if (blocks != 0) return Done(number, record);
    if (lane == 0) Answer(number, 0, record);
  }

 private:
  static constexpr uint32_t kChunk = 16;
  static constexpr uint32_t kLanes = AgentMailbox::kWords;

  HOST_DEVICE void Answer(uint64_t number, uint32_t lane, uint32_t value) {
    const auto address =
        reinterpret_cast<uint64_t>(&mailbox_.answer[number % AgentMailbox::kSlots][lane]);
    port_.template Store<Order::kRelaxed, Scope::kSystem>(Ref<uint64_t>{address},
                                                          AgentWord(number, value));
  }

  template <class T>
  HOST_DEVICE void WritePieces(uint64_t address, uint32_t count, uint32_t value) {
    constexpr uint32_t kEach = sizeof(T) / 4;
    const uint32_t lane = port_.Lane();
    const uint32_t first = (AgentMailbox::kArguments + kEach * lane) % (kLanes - 1);
    const T piece = static_cast<T>(kEach == 2 ? Wide(value, first) : port_.Shuffle(value, first));
    const Ref<T> at{address + sizeof(T) * lane};
    if (lane + 1 < count) port_.template Store<Order::kRelaxed, Scope::kGpu>(at, piece);
    port_.SyncWarp();
    if (lane + 1 == count) port_.template Store<Order::kRelease, Scope::kGpu>(at, piece);
    port_.SyncWarp();
  }

  HOST_DEVICE static uint32_t Left(uint32_t size, uint32_t at) {
    return size - at < kChunk ? size - at : kChunk;
  }

  P& port_;
  AgentMailbox& mailbox_;
};

}  // namespace ringpost

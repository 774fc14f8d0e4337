// agent_loop.h: the agent: one warp of 32 lanes that carries out the commands of a mailbox on
// memory of its own GPU.
//
// A template over a Port, so that host threads can be one too, in tests.
#pragma once

#include <cstdint>

#include "transport/memory/agent_commands.h"
#include "transport/memory/agent_mailbox.h"
#include "transport/port.h"

namespace ringpost {

template <Port P>
class AgentLoop {
 public:
  HOST_DEVICE AgentLoop(P& port, AgentMailbox* mailbox)
      : port_(port), mailbox_(*mailbox), commands_(port, mailbox) {}

  // Carries out commands from the one after `done` on, until a kStop, or until none has come for
  // `lease_ps`.
  HOST_DEVICE void Run(uint64_t done, uint64_t lease_ps) {
    uint64_t idle_since = port_.Now();
    for (bool stop = false; !stop;) {
      const uint64_t before = done;
      uint64_t words[kAhead];
      RINGPOST_UNROLL
      for (uint32_t i = 0; i < kAhead; ++i) words[i] = LoadCommand(done + 1 + i);
      for (uint32_t i = 0; i < kAhead && !stop; ++i) {
        const uint64_t word = Pick(words, i);
        if (!Arrived(word, done + 1)) break;
        stop = CarryOut(++done, static_cast<uint32_t>(word));
      }
      if (done != before) {
        if (port_.Lane() == 0) {
          port_.template Store<Order::kRelaxed, Scope::kSystem>(At(mailbox_.consumed), done);
        }
        idle_since = port_.Now();
      } else if (port_.Shuffle(port_.Now() - idle_since, 0) > lease_ps) {
        stop = true;
      }
    }
  }

 private:
  static constexpr uint32_t kAhead = 4;  // commands looked at in one trip over PCIe
  static constexpr uint32_t kLanes = AgentMailbox::kWords;

  HOST_DEVICE static Ref<uint64_t> At(uint64_t& word) {
    return {reinterpret_cast<uint64_t>(&word)};
  }
  HOST_DEVICE uint64_t BulkOf(uint64_t number) {
    return reinterpret_cast<uint64_t>(mailbox_.bulk[number % AgentMailbox::kSlots]);
  }

  // By selection, so that the words stay in registers and the loop over them one copy of its body.
  HOST_DEVICE static uint64_t Pick(const uint64_t (&words)[kAhead], uint32_t i) {
    uint64_t word = words[0];
    RINGPOST_UNROLL
    for (uint32_t k = 1; k < kAhead; ++k) word = i == k ? words[k] : word;
    return word;
  }

  // Relaxed: each word says itself whether it is of this command.
  HOST_DEVICE uint64_t LoadCommand(uint64_t number) {
    return port_.template Load<Order::kRelaxed, Scope::kSystem>(
        At(mailbox_.command[number % AgentMailbox::kSlots][port_.Lane()]));
  }

  HOST_DEVICE bool Arrived(uint64_t word, uint64_t number) {
    const uint32_t arrived = port_.Ballot(IsOfCommand(word, number));
    const auto header = static_cast<uint32_t>(port_.Shuffle(word, 0));
    if ((arrived & 1) == 0) return false;
    const uint32_t needed = 0xffffffffu >> (kLanes - AgentWords(header));
    return (arrived & needed) == needed;
  }

  HOST_DEVICE bool CarryOut(uint64_t number, uint32_t value) {
    const auto header = static_cast<uint32_t>(port_.Shuffle(value, 0));
    const uint32_t size = SizeOfHeader(header);
    const uint64_t address = commands_.Wide(value, 1);
    switch (OpOfHeader(header)) {
      case AgentOp::kWrite:
        commands_.Write(address, size, value);
        break;
      case AgentOp::kWriteBulk:
        // Acquire: the host has filled the bulk before it posted the command.
        port_.template Fence<Order::kAcquire, Scope::kSystem>(QpView{});
        commands_.CopyBulk(address, BulkOf(number), size);
        // The host fills this bulk again once the command counts as carried out: after the loads.
        port_.template Fence<Order::kAcqRel, Scope::kSystem>(QpView{});
        break;
      case AgentOp::kRead:
        commands_.Read(number, address, size);
        break;
      case AgentOp::kReadBulk:
        commands_.CopyBulk(BulkOf(number), address, size);
        commands_.Done(number, 0);
        break;
      case AgentOp::kCompareSwap:
        commands_.CompareSwap(number, address, size, value);
        break;
      case AgentOp::kReadRecord:
        commands_.ReadRecord(number, address, value);
        break;
      case AgentOp::kSettle:
        commands_.Done(number, 0);
        break;
      case AgentOp::kStop:
        return true;
    }
    return false;
  }

  P& port_;
  AgentMailbox& mailbox_;
  AgentCommands<P> commands_;
};

}  // namespace ringpost

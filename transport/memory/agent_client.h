// agent_client.h: the host's side of an agent's mailbox: DeviceAccess by commands.
//
// An agent costs one warp of the GPU while there is something to do: it ends by itself when no
// command has come for kLease, so that a program's cudaDeviceSynchronize or cudaFree, which wait
// for every kernel, are not held up for longer; the next command starts it again. It needs room for
// one block on the GPU then: kernels that fill every SM for as long as they wait for the NIC leave
// none.
#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "transport/device_access.h"
#include "transport/memory/agent_mailbox.h"
#include "transport/result.h"

namespace ringpost {

// Where an agent runs: on a GPU, or in tests on host threads.
class AgentRuntime {
 public:
  static constexpr uint64_t kLeasePs = 20'000'000'000;

  virtual ~AgentRuntime() = default;
  // Zeroed memory that both sides reach under one address, for as long as the runtime lives.
  virtual Result<uint64_t> Take(uint64_t bytes) = 0;
  // Starts an agent on the commands after `done`; empty, or why not. None runs.
  virtual std::string Start(AgentMailbox* mailbox, uint64_t done) = 0;
  // False: it has ended, and everything it did can be seen.
  virtual bool Runs() = 0;
  // An answer has been awaited for kLate; said once.
  virtual void Late() {}
};

class AgentClient final : public DeviceAccess {
 public:
  // An agent runs once it returns.
  static Result<std::unique_ptr<DeviceAccess>> Open(std::unique_ptr<AgentRuntime> runtime);
  ~AgentClient() override;

  bool Read(uint64_t address, void* bytes, uint64_t size) override;
  bool Write(uint64_t address, const void* bytes, uint64_t size) override;
  bool Settle() override;
  bool CompareSwap(uint64_t address, uint32_t bytes, uint64_t* expected, uint64_t desired) override;
  void Watch(const AnnouncedRing& ring) override;
  void Unwatch(uint64_t record) override;
  bool ReadRecord(uint64_t address, uint32_t* word) override;

 private:
  using Clock = std::chrono::steady_clock;
  struct Watched {
    AnnouncedRing ring;
    uint64_t copy = 0;    // the blocks that were announced
    uint32_t last = 0;    // the count that was read last
    bool follows = true;  // false: the record has jumped, and the copy is worth nothing
  };

  AgentClient(std::unique_ptr<AgentRuntime> runtime, AgentMailbox* mailbox)
      : runtime_(std::move(runtime)), mailbox_(*mailbox) {}
  uint64_t Post(AgentOp op, uint64_t address, uint32_t size,
                std::initializer_list<uint32_t> arguments = {});
  void StoreCommand(AgentOp op, uint64_t address, uint32_t size, const uint32_t* arguments,
                    uint32_t count);
  bool MakeRoom();
  bool Awake();
  bool Await(uint64_t number, uint32_t lane, uint32_t* value);
  template <class Ready>
  bool SpinUntil(Ready&& ready);
  bool Revive();
  uint64_t Consumed();
  bool WritePiece(uint64_t address, const uint8_t* bytes, uint32_t size);
  bool ReadPiece(uint64_t address, uint8_t* bytes, uint32_t size);
  const Watched* RingAt(uint64_t address, uint64_t size) const;

  const std::unique_ptr<AgentRuntime> runtime_;
  AgentMailbox& mailbox_;
  std::map<uint64_t, Watched> rings_;        // by the address of their blocks
  std::map<uint64_t, uint64_t> ring_of_;     // by record
  std::multimap<uint64_t, uint64_t> spare_;  // copies that are free, by bytes
  uint64_t posted_ = 0;
  Clock::time_point last_post_{};
  bool failed_ = false;
  bool late_ = false;
};

}  // namespace ringpost

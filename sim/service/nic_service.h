// nic_service.h: a software NIC with a thread of its own, which alone touches what the NIC touches.
//
//   auto nic = NicService::Start(std::move(port), config, {.idle = Idle::kYield});
//   nic.Value()->Call([&](NicLoop& loop) { created = loop.CreateQp(config, page); });
//
// Cold work comes through Call(): any thread hands over a function, and the NIC's thread runs it
// between two turns. An exception ends the thread; every Call() from then on returns what it said.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "sim/service/nic_loop.h"
#include "transport/result.h"

namespace ringpost::sim::service {

// What the thread does when there is nothing to do. kSleep: it looks at its doorbells once every
// `sleep`, or when a packet comes, if its port can sleep.
enum class Idle : uint8_t { kSpin, kYield, kSleep };

struct ServiceOptions {
  Idle idle = Idle::kYield;
  int core = -1;  // the only one it may use; -1: any
  std::chrono::nanoseconds sleep{50'000};
  // kSleep: idle turns before it does; until then it yields its core, but for the first 64.
  uint32_t turns_before_sleep = 1000;
  NicLoop::OnEvent on_event = {};  // on the NIC's thread
  LoopOverlay overlay = {};
};

class NicService {
 public:
  // `config.slot` is the port's. Refuses a core that this process may not use.
  static Result<std::unique_ptr<NicService>> Start(std::unique_ptr<PacketPort> port,
                                                   const RnicConfig& config,
                                                   const ServiceOptions& options);
  NicService(const NicService&) = delete;
  NicService& operator=(const NicService&) = delete;
  // Stops the thread after its present turn. Memory that was allowed must last until then.
  ~NicService();

  // Returns once the NIC's thread has run it, or why it has not. The NIC's own thread may call too.
  Result<bool> Call(const std::function<void(NicLoop&)>& body);

  // Why the thread has ended by itself; empty while it runs.
  std::string Failure() const;

 private:
  struct Command {
    const std::function<void(NicLoop&)>& body;
    bool done = false;
    bool ran = false;
  };

  NicService(std::unique_ptr<PacketPort> port, const RnicConfig& config,
             const ServiceOptions& options);
  void Run();
  void Loop();
  void RunCommands();
  void Rest(uint32_t idle_turns, NicLoop::Time now);
  void End(const std::string& failure);

  const ServiceOptions options_;
  NicLoop loop_;
  // Both relaxed, as neither passes anything on: what the thread did is ordered by its end (join),
  // and commands are handed over under mutex_. They only say that it is time to look.
  std::atomic<bool> stop_{false};
  std::atomic<bool> has_commands_{false};
  mutable std::mutex mutex_;
  std::condition_variable done_;
  std::vector<Command*> commands_;  // guarded by mutex_, as are the rest
  bool ended_ = false;
  std::string failure_;
  std::thread thread_;
};

}  // namespace ringpost::sim::service

// random_program.h: one random program, run on sim::Memory and on the naive view machine at once.
//
// Two nodes. Node 0: warp 0 (agents 0 and 1) and warp 1 (2) in one CTA, warp 2 (3) in another, QPs
// of its NIC (4 and 5). Node 1: a GPU thread (6) and a QP of its NIC (7). A host thread (8) on
// node 0. Three regions (GPU memory of each node, host memory of node 0) have four 4-byte cells
// each, two on either side of the border between two lines.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/engine/engine.h"
#include "sim/engine/random.h"
#include "sim/memory/memory.h"
#include "tests/properties/naive_view_machine.h"

namespace ringpost::sim {

class RandomProgram {
 public:
  RandomProgram(VisibilityMode mode, bool nic_reads_l2, uint64_t seed);

  // Runs `steps` steps; the first difference, or nothing.
  std::string Run(uint32_t steps);
  // What has been done so far, one line a step.
  const std::string& Log() const { return log_; }

 private:
  struct HandOver {
    AgentId from;
    Time made;
    Origin origin;
    NaiveReleased released;
  };
  struct Range {
    uint64_t address;
    uint32_t cells;
  };

  void AddAgents();
  void AddRegions();
  void ChooseActive();
  void Step();
  void StoreWord(AgentId agent);
  void LoadWord(AgentId agent);
  void ModifyWord(AgentId agent);
  void WeakWrite(AgentId agent);
  void WeakRead(AgentId agent);
  void DeviceWrite(AgentId device);
  void FenceOf(AgentId agent);
  void Meet();
  void Ring(AgentId thread);
  void AnswerDoorbell();
  void SendPacket(AgentId device);
  void CompareDepths();

  uint64_t Below(uint64_t bound) { return random_.Below(bound); }
  Order AnyOrder() { return static_cast<Order>(Below(5)); }
  Scope AnyScope() { return static_cast<Scope>(1 + Below(3)); }
  AgentId AnyThread() { return threads_[Below(threads_.size())]; }
  AgentId AnyDevice() { return static_cast<AgentId>(kDevices[Below(3)]); }
  bool IsDevice(AgentId agent) const;
  // A device reaches the memory of its own node.
  Range AnyRange(AgentId agent);
  Range AnyWord();
  // Meets the engine's clock, as a load must.
  void Sync(AgentId agent);
  Access At(AgentId agent, uint64_t address) const { return {agent, address, local_[agent], {}}; }
  NaiveMessage NewMessage(AgentId writer, Range range, Duration drain);
  static uint32_t Token(uint64_t number, uint64_t address) {
    return static_cast<uint32_t>(number * 16 + address / 4 % 16);
  }
  std::vector<uint32_t> TokensOf(const std::vector<NaiveMessage>& messages, Range range) const;
  // One message for each line.
  std::vector<NaiveMessage> Messages(AgentId writer, Range range, Duration drain);
  // Which messages the tokens come from, having checked that each may be read.
  Cells Origins(AgentId reader, Range range, const void* bytes, bool newest);
  void Say(const char* what, AgentId agent, Range range, int order, int scope);
  void Differ(const std::string& what);

  static constexpr AgentId kDevices[] = {4, 5, 7};

  VisibilityMode mode_;
  Engine engine_;
  Memory memory_;
  NaiveViewMachine naive_;
  Rng random_;
  std::vector<AgentPlace> places_;
  std::vector<Time> local_;
  std::vector<uint64_t> regions_;
  std::vector<Home> homes_;
  std::vector<uint64_t> cells_;
  std::vector<AgentId> threads_;                       // that take part
  std::vector<uint64_t> words_;                        // where shared words are
  std::vector<Place> stored_ = std::vector<Place>(1);  // by number
  std::vector<HandOver> doorbells_;
  std::string difference_;
  std::string log_;
};

}  // namespace ringpost::sim

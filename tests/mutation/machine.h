// machine.h: two simulated nodes set up for the program that mutants run, and what went wrong.
//
// Node 0 sends, node 1 receives; thread t of the one talks to thread t of the other. Operation i of
// thread t has its own 8 bytes of source, target and result, so that every word can be checked.
#pragma once

#include <string>
#include <vector>

#include "backends/sim/fabric.h"
#include "transport/endpoint.h"

namespace ringpost::mutation {

struct Scenario {
  std::string name;
  uint32_t threads = 4;
  uint32_t threads_per_block = 1;  // blocks: hand-over between them needs gpu scope
  bool nic_reads_l2 = true;
  bool shared = false;  // one QP for all threads; else one for each block
  bool fails = false;   // an early WQE of each QP completes in error
  Placement placement = Placement::kGpu;
  sim::VisibilityMode mode = sim::VisibilityMode::kAdversarial;
  uint64_t seed = 1;
};

// What a run showed. A mutant is caught if either part is there.
struct Verdict {
  std::string wrong;                 // the first wrong word or status, or that the run hung
  std::vector<std::string> reports;  // of the ordering checker
  bool Clean() const { return wrong.empty() && reports.empty(); }
  std::string What() const { return !reports.empty() ? reports.front() : wrong; }
};

class Machine {
 public:
  static constexpr uint64_t kOperations = 12;

  explicit Machine(const Scenario& scenario);

  Fabric& Ram() { return fabric_; }
  const Scenario& Plot() const { return scenario_; }
  const QpTable& Sender(uint32_t thread) const { return senders_[QpOf(thread)]; }
  const QpTable& Receiver(uint32_t thread) const { return receivers_[QpOf(thread)]; }
  const QpView& QpOfSender(uint32_t thread) const { return first_[QpOf(thread)]; }

  LocalSpan Source(uint32_t thread, uint64_t i) const { return source_.Local(At(thread, i), 8); }
  LocalSpan Result(uint32_t thread, uint64_t i) const { return result_.Local(At(thread, i), 8); }
  RemoteSpan Inbox(uint32_t thread, uint64_t i) const { return inbox_.Remote(At(thread, i)); }
  RemoteSpan Preset(uint32_t thread, uint64_t i) const { return preset_.Remote(At(thread, i)); }
  RemoteSpan Flag(uint32_t thread) const { return flags_.Remote(uint64_t{thread} * 64); }

  // What operation i of the thread sends, and what its get brings.
  static uint64_t Word(uint32_t thread, uint64_t i) {
    return (i + 1) * 0x9e3779b97f4a7c15ull ^ (uint64_t{thread} << 56);
  }

  // Keeps the first.
  void Wrong(const std::string& what) {
    if (wrong_.empty()) wrong_ = what;
  }
  void ExpectOk(const Completion& completion, const char* what);
  // Of a scenario that fails: the error, or the flush of what stood behind it.
  void ExpectError(const Completion& completion, const QpView& qp);
  void ExpectWord(uint64_t found, uint32_t thread, uint64_t i, const char* what);

  Verdict Run();

 private:
  uint32_t QpOf(uint32_t thread) const {
    return scenario_.shared ? 0 : thread / scenario_.threads_per_block;
  }
  static uint64_t At(uint32_t thread, uint64_t i) { return (thread * kOperations + i) * 8; }
  RegisteredMemory Allocate(uint32_t node, uint64_t bytes);

  Scenario scenario_;
  Fabric fabric_;
  std::vector<QpView> first_;
  std::vector<QpView> second_;
  std::vector<QpTable> senders_;
  std::vector<QpTable> receivers_;
  RegisteredMemory source_, result_, inbox_, preset_, flags_;
  std::string wrong_;
};

}  // namespace ringpost::mutation

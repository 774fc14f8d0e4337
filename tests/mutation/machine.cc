#include "tests/mutation/machine.h"

#include <fmt/format.h>

#include "configs/schema/platform_loader.h"

namespace ringpost::mutation {
namespace {

constexpr uint32_t kDepth = 32;  // the ring wraps several times in a run
constexpr uint64_t kTimeoutPs = 2'000'000'000;

const sim::Platform& PlatformUnderTest() {
  static const sim::Platform platform = config::LoadPlatform("p_ib");
  return platform;
}

FabricOptions OptionsOf(const Scenario& scenario) {
  FabricOptions options;
  options.seed = scenario.seed;
  options.visibility = scenario.mode;
  options.nic_reads_l2 = scenario.nic_reads_l2;
  options.stack_bytes = 64 * 1024;
  return options;
}

}  // namespace

Machine::Machine(const Scenario& scenario)
    : scenario_(scenario), fabric_(PlatformUnderTest(), OptionsOf(scenario)) {
  QpSpec spec;
  spec.depth_wqebbs = kDepth;
  spec.placement = scenario.placement;
  spec.batch = 8;  // several threads hand on before one rings
  spec.shared = scenario.shared;
  spec.timeout_ps = kTimeoutPs;
  const uint32_t qps = QpOf(scenario.threads - 1) + 1;
  for (uint32_t i = 0; i < qps; ++i) {
    const QpPair pair = fabric_.ConnectPair(0, 1, spec);
    first_.push_back(pair.first);
    second_.push_back(pair.second);
    if (scenario.fails) fabric_.InjectError(pair.first, 0, scenario.seed % 4);
  }
  for (uint32_t i = 0; i < qps; ++i) {
    senders_.push_back({first_.data() + i, 1, 0, 1, 0});
    receivers_.push_back({second_.data() + i, 1, 0, 1, 0});
  }
  const uint64_t words = scenario.threads * kOperations * 8;
  source_ = Allocate(0, words);
  result_ = Allocate(0, words);
  inbox_ = Allocate(1, words);
  preset_ = Allocate(1, words);
  flags_ = Allocate(1, scenario.threads * 64);
  for (uint32_t thread = 0; thread < scenario.threads; ++thread) {
    for (uint64_t i = 0; i < kOperations; ++i) {
      const uint64_t word = Word(thread, i);
      fabric_.Poke(Preset(thread, i).address, &word, sizeof(word));
    }
  }
}

RegisteredMemory Machine::Allocate(uint32_t node, uint64_t bytes) {
  return fabric_.nic(node).Allocate(scenario_.placement, bytes).Value();
}

void Machine::ExpectOk(const Completion& completion, const char* what) {
  if (completion.Ok()) return;
  Wrong(fmt::format("{}: status {}, syndrome {:#x}", what, static_cast<int>(completion.status),
                    completion.syndrome));
}

void Machine::ExpectError(const Completion& completion, const QpView& qp) {
  if (completion.status == Status::kErrorCompletion && completion.qpn == qp.qpn) return;
  Wrong(fmt::format("a QP in error: status {}, QP {:#x}", static_cast<int>(completion.status),
                    completion.qpn));
}

void Machine::ExpectWord(uint64_t found, uint32_t thread, uint64_t i, const char* what) {
  if (found == Word(thread, i)) return;
  Wrong(fmt::format("{} {} of thread {}: {:#x} instead of {:#x}", what, i, thread, found,
                    Word(thread, i)));
}

Verdict Machine::Run() {
  const FabricRun run = fabric_.Run();
  if (!run.ok) Wrong(run.error);
  return {wrong_, fabric_.Violations()};
}

}  // namespace ringpost::mutation

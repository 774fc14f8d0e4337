// What a NIC does does not depend on what it costs (design: function apart from time).
//
// Random fenced programs of puts and gets over 1 to 4 QPs between 2 or 3 nodes, with targets that
// no two operations share: final memory, and for each QP the sequence of CQEs, are equal under any
// costs, any cache and any length of runs.
#include <boost/test/unit_test.hpp>
#include <iterator>
#include <sstream>

#include "backends/sim/fabric.h"
#include "configs/schema/platform_loader.h"
#include "sim/engine/random.h"
#include "tests/seed.h"
#include "transport/endpoint.h"
#include "transport/publication/batched.h"

namespace ringpost {
namespace {

constexpr uint32_t kSlots = 40;  // operations of one QP
constexpr uint64_t kSlotBytes = 12'288;

struct Operation {
  enum class Kind : uint8_t { kPut, kPutInline, kPutSignal, kGet, kFence, kQuiet } kind;
  uint32_t bytes;
};

struct QpProgram {
  uint32_t source = 0;
  uint32_t target = 1;
  std::vector<Operation> operations;
};

struct Program {
  uint32_t nodes = 2;
  uint32_t batch = 1;
  std::vector<QpProgram> qps;
};

Program RandomProgram(uint64_t seed) {
  sim::Rng random(seed, "program");
  Program program;
  program.nodes = 2 + static_cast<uint32_t>(random.Below(2));
  program.batch = 1 + static_cast<uint32_t>(random.Below(6));
  program.qps.resize(1 + random.Below(4));
  for (QpProgram& qp : program.qps) {
    qp.source = static_cast<uint32_t>(random.Below(program.nodes));
    qp.target =
        (qp.source + 1 + static_cast<uint32_t>(random.Below(program.nodes - 1))) % program.nodes;
    for (uint32_t i = 0; i < kSlots; ++i) {
      constexpr uint32_t kLargest[] = {28, 100, 5000, kSlotBytes};
      const auto kind = static_cast<Operation::Kind>(random.Below(6));
      uint32_t bytes = 1 + static_cast<uint32_t>(random.Below(kLargest[random.Below(4)]));
      if (kind == Operation::Kind::kPutInline) bytes = static_cast<uint32_t>(random.Below(29));
      qp.operations.push_back({kind, bytes});
    }
  }
  return program;
}

// What happened, apart from when.
struct Outcome {
  std::string memory;
  std::vector<std::string> cqes;  // of each QP: opcode, status, WQE index
  std::string counters;
  uint64_t violations = 0;
  sim::Time end;
};

struct Side {
  QpView view;
  QpTable table;
  RegisteredMemory local;   // sources of puts, targets of gets: one slot for each operation
  RegisteredMemory remote;  // targets of puts and sources of gets
  RegisteredMemory signals;
};

std::string Describe(uint32_t operation, const Completion& done) {
  return "operation " + std::to_string(operation) + ": status " +
         std::to_string(static_cast<int>(done.status)) + ", syndrome " +
         std::to_string(done.syndrome) + ", WQE " + std::to_string(done.wqe_index);
}

// A line about the first operation that fails; empty if none does. (Nothing may be thrown here.)
std::string RunOperations(SimPort& port, const QpProgram& program, const Side& side) {
  Endpoint<SimPort, Batched, OrderGpuFence> endpoint(port, side.table);
  for (uint32_t i = 0; i < program.operations.size(); ++i) {
    const Operation& operation = program.operations[i];
    const LocalSpan local = side.local.Local(i * kSlotBytes, operation.bytes);
    const RemoteSpan remote = side.remote.Remote(i * kSlotBytes);
    const std::vector<uint8_t> payload(28, static_cast<uint8_t>(i + 1));
    Completion done;
    switch (operation.kind) {
      case Operation::Kind::kPut:
        done = endpoint.Put(remote, local).status;
        break;
      case Operation::Kind::kPutInline:
        done = endpoint.PutInline(remote, payload.data(), operation.bytes).status;
        break;
      case Operation::Kind::kPutSignal:
        done = endpoint.PutSignal(remote, local, side.signals.Remote(i * 8), i + 1).status;
        break;
      case Operation::Kind::kGet:
        done = endpoint.Get(local, remote).status;
        break;
      case Operation::Kind::kFence:
        done = endpoint.Fence();
        break;
      case Operation::Kind::kQuiet:
        done = endpoint.Quiet(CompletionScope::kSelectedQp);
        break;
    }
    if (!done.Ok()) return Describe(i, done);
  }
  const Completion done = endpoint.Quiet(CompletionScope::kSelectedQp);
  return done.Ok() ? "" : Describe(kSlots, done);
}

RegisteredMemory Filled(Fabric& fabric, uint32_t node, uint64_t bytes, uint64_t seed) {
  const RegisteredMemory memory = fabric.nic(node).Allocate(Placement::kGpu, bytes).Value();
  std::vector<uint8_t> pattern(bytes);
  for (uint64_t i = 0; i < bytes; ++i) pattern[i] = static_cast<uint8_t>(sim::Mix(seed + i / 8));
  fabric.Poke(memory.address, pattern.data(), bytes);
  return memory;
}

std::vector<Side> SidesOf(Fabric& fabric, const Program& program) {
  std::vector<Side> sides(program.qps.size());
  for (size_t i = 0; i < sides.size(); ++i) {
    const QpProgram& qp = program.qps[i];
    const QpSpec spec{.depth_wqebbs = 32, .batch = program.batch};
    sides[i].view = fabric.ConnectPair(qp.source, qp.target, spec).first;
    sides[i].local = Filled(fabric, qp.source, kSlots * kSlotBytes, 1000 * i);
    sides[i].remote = Filled(fabric, qp.target, kSlots * kSlotBytes, 7'000'000 + i);
    sides[i].signals = fabric.nic(qp.target).Allocate(Placement::kGpu, kSlots * 8).Value();
  }
  for (Side& side : sides) side.table = {&side.view, 1, 0, 1, 0};
  return sides;
}

void Append(Fabric& fabric, const RegisteredMemory& memory, std::string& to) {
  const size_t at = to.size();
  to.resize(at + memory.bytes);
  fabric.Peek(memory.address, to.data() + at, memory.bytes);
}

std::vector<std::string> CqesOf(Fabric& fabric, const Program& program,
                                const std::vector<Side>& sides) {
  std::vector<std::string> cqes(sides.size());
  for (const sim::TraceCqe& cqe : fabric.Steps().Cqes()) {
    for (size_t i = 0; i < sides.size(); ++i) {
      if (cqe.node != program.qps[i].source || cqe.qpn != sides[i].view.qpn) continue;
      cqes[i] += std::to_string(cqe.opcode) + "/" + std::to_string(cqe.syndrome) + "/" +
                 std::to_string(cqe.counter) + " ";
    }
  }
  for (size_t i = 0; i < sides.size(); ++i) {
    BOOST_TEST(!cqes[i].empty());
    // The last CQE itself, in full.
    std::vector<uint8_t> last(abi::kCqeBytes);
    fabric.Peek(sides[i].view.cq, last.data(), last.size());
    for (const uint8_t byte : last) cqes[i] += std::to_string(byte) + ",";
  }
  return cqes;
}

Outcome OutcomeOf(const Program& program, const sim::Platform& platform, uint32_t run_length) {
  FabricOptions options;
  options.nodes = program.nodes;
  options.run_length = run_length;
  options.trace = true;
  Fabric fabric(platform, options);
  const std::vector<Side> sides = SidesOf(fabric, program);
  std::vector<std::string> failures(sides.size());
  for (uint32_t node = 0; node < program.nodes; ++node) {
    std::vector<size_t> mine;
    for (size_t i = 0; i < sides.size(); ++i) {
      if (program.qps[i].source == node) mine.push_back(i);
    }
    if (mine.empty()) continue;
    const uint32_t threads = static_cast<uint32_t>(mine.size());
    fabric.Launch(node, {threads, 1, threads}, [&, mine](SimPort& port) {
      const size_t i = mine[port.ThreadIndex()];
      failures[i] = RunOperations(port, program.qps[i], sides[i]);
    });
  }
  const FabricRun run = fabric.Run();
  BOOST_REQUIRE_MESSAGE(run.ok, run.error);
  for (const std::string& failure : failures) BOOST_TEST(failure.empty(), failure);
  Outcome outcome;
  for (const Side& side : sides) {
    Append(fabric, side.local, outcome.memory);
    Append(fabric, side.remote, outcome.memory);
    Append(fabric, side.signals, outcome.memory);
  }
  outcome.cqes = CqesOf(fabric, program, sides);
  for (uint32_t node = 0; node < program.nodes; ++node) {
    sim::ForEachCounter(fabric.Counters(node), [&](const char* name, uint64_t value) {
      outcome.counters += std::string(name) + "=" + std::to_string(value) + " ";
    });
  }
  outcome.violations = fabric.ViolationCount();
  outcome.end = run.end;
  return outcome;
}

bool IsTime(const sim::ParameterInfo& info) { return info.unit == sim::Unit::kTime; }

// Every cost times a random power of two, from nothing at all to sixteen times.
sim::Platform Perturbed(sim::Platform platform, uint64_t seed) {
  sim::Rng random(seed, "platform");
  for (const sim::ParameterInfo& info : sim::Parameters()) {
    sim::Parameter& parameter = platform.*info.member;
    if (!IsTime(info)) continue;
    constexpr double kFactors[] = {0, 0.125, 0.5, 1, 2, 16};
    const double factor = kFactors[random.Below(6)];
    parameter.cycles *= factor;
    parameter.ns *= factor;
  }
  platform.spin.ns += 0.001;
  platform.link_rate.value *= static_cast<double>(1 + random.Below(8));
  return platform;
}

// Nothing takes time but a turn of a waiting loop.
sim::Platform Free(sim::Platform platform) {
  for (const sim::ParameterInfo& info : sim::Parameters()) {
    if (!IsTime(info)) continue;
    (platform.*info.member).cycles = 0;
    (platform.*info.member).ns = 0;
  }
  platform.spin.ns = 0.001;
  platform.link_rate.value = 1e9;
  return platform;
}

// Of one model or another, with hardly any contexts on chip.
sim::Platform WithSmallCache(sim::Platform platform, uint64_t model) {
  const sim::CacheSpec specs[] = {
      {.model = "lru", .entries_count = 1},
      {.model = "fifo", .entries_count = 2},
      {.model = "random", .entries_count = 2},
      {.model = "set_associative", .entries_count = 2, .ways_count = 1, .hash = "modulo"},
      {.model = "two_level",
       .entries_count = 2,
       .ways_count = 2,
       .hash = "mix",
       .first_level_entries_count = 1,
       .inclusion = "inclusive"},
      {.model = "two_level",
       .entries_count = 2,
       .ways_count = 1,
       .hash = "mix",
       .first_level_entries_count = 1,
       .inclusion = "exclusive"}};
  platform.requester_context = specs[model % std::size(specs)];
  platform.responder_context = specs[(model + model / std::size(specs)) % std::size(specs)];
  const bool odd = model % 2 == 1;
  if (odd) platform.wqe = {.model = "fifo", .entries_count = 2};
  if (model % 3 != 0) {
    platform.mpt = specs[(model + 1) % std::size(specs)];
    platform.mtt.shares = odd ? "mpt" : "";
    if (!odd) platform.mtt = specs[(model + 2) % std::size(specs)];
    platform.mtt.page_bytes = odd ? 2 << 20 : 4096;
  }
  platform.requester_context.blocks = odd ? "stage" : "";
  platform.responder_context.blocks = odd ? "" : "qp";
  platform.requester_context.outstanding_misses_count = model % 3;
  platform.responder_context.outstanding_misses_count = model % 4;
  platform.requester_times.write_back.ns = odd ? 90 : 0;
  platform.requester_times.second_level_hit.ns = 130;
  platform.responder_times.second_level_hit.ns = 70;
  return platform;
}

void CheckSame(const Outcome& expected, const Outcome& actual, const std::string& where) {
  BOOST_TEST((expected.memory == actual.memory), where << ": final memory differs");
  BOOST_TEST((expected.cqes == actual.cqes), where << ": CQEs differ");
  BOOST_TEST(actual.violations == 0u, where << ": reports of the checker");
}

}  // namespace

BOOST_AUTO_TEST_CASE(CostsAndCachesChangeNeitherMemoryNorCompletions) {
  const sim::Platform platform = config::LoadPlatform("p_ib");
  for (uint64_t i = 0; i < 12; ++i) {
    const uint64_t seed = sim::Mix(TestSeed()) + i;
    const Program program = RandomProgram(seed);
    const std::string where =
        "seed " + std::to_string(TestSeed()) + ", program " + std::to_string(i);
    const Outcome expected = OutcomeOf(program, platform, 64);
    BOOST_TEST(expected.violations == 0u, where);
    const Outcome free = OutcomeOf(program, Free(platform), 64);
    CheckSame(expected, free, where + ", no costs");
    BOOST_TEST(free.end.ps < expected.end.ps);
    CheckSame(expected, OutcomeOf(program, Perturbed(platform, seed), 64), where + ", other costs");
    const Outcome misses = OutcomeOf(program, WithSmallCache(platform, i), 64);
    CheckSame(expected, misses, where + ", few contexts on chip");
    CheckSame(expected, OutcomeOf(program, WithSmallCache(Perturbed(platform, seed + 1), i), 64),
              where + ", other costs and few contexts on chip");
  }
}

BOOST_AUTO_TEST_CASE(TheLengthOfRunsChangesNothingAtAll) {
  const sim::Platform platform = config::LoadPlatform("p_ib");
  for (uint64_t i = 0; i < 12; ++i) {
    const uint64_t seed = sim::Mix(TestSeed() + 1) + i;
    const Program program = RandomProgram(seed);
    const std::string where =
        "seed " + std::to_string(TestSeed()) + ", program " + std::to_string(i);
    // Without costs most things happen in one and the same picosecond.
    for (const sim::Platform& one :
         {platform, Free(platform), WithSmallCache(Perturbed(platform, seed), i)}) {
      const Outcome whole = OutcomeOf(program, one, 64);
      const Outcome single = OutcomeOf(program, one, 1);
      CheckSame(whole, single, where);
      BOOST_TEST(whole.end.ps == single.end.ps, where);
      BOOST_TEST(whole.counters == single.counters, where << ":\n"
                                                          << whole.counters << "\n"
                                                          << single.counters);
    }
  }
}

}  // namespace ringpost

// engine: what the parts of the simulator cost that every simulated operation is made of.
//
//   bazel run //bench:engine
//
// One item is one event, one switch into a fibre and back, or one access by a simulated thread.

#include "sim/engine/engine.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <array>
#include <exception>
#include <iostream>
#include <vector>

#include "backends/sim/fabric.h"
#include "sim/engine/fibre.h"
#include "sim/engine/random.h"

namespace ringpost::bench {
namespace {

constexpr uint64_t kSeed = 1;
constexpr char kPlatform[] = "p_ib";

// A handler that schedules itself again a random time ahead, most within the queue's horizon.
struct Ticker {
  sim::Engine* engine;
  sim::Rng* random;
  uint64_t* left;
  uint32_t node = 0;

  static void Fire(void* self) {
    Ticker& ticker = *static_cast<Ticker*>(self);
    if (*ticker.left == 0) return;
    --*ticker.left;
    const auto ahead = static_cast<int64_t>(ticker.random->Below(4'000'000));
    ticker.engine->Schedule(ticker.engine->Now() + sim::Duration{ahead}, ticker.node);
  }
};

void EventQueue(benchmark::State& state) {
  constexpr uint64_t kBatch = 1 << 16;
  sim::Engine engine;
  sim::Rng random(kSeed, "bench");
  uint64_t left = 0;
  std::vector<Ticker> tickers(static_cast<size_t>(state.range(0)), {&engine, &random, &left});
  for (Ticker& ticker : tickers) ticker.node = engine.Register(&Ticker::Fire, &ticker);
  for (auto _ : state) {
    left = kBatch;
    for (Ticker& ticker : tickers) engine.Schedule(engine.Now(), ticker.node);
    engine.Run();
  }
  state.SetItemsProcessed(static_cast<int64_t>(engine.EventsRun()));
}
BENCHMARK(EventQueue)->ArgName("pending")->Arg(64)->Arg(4096);

void FibreSwitch(benchmark::State& state) {
  sim::Fibre fibre;
  struct Loop {
    sim::Fibre* fibre;
    bool stop = false;
  } loop{&fibre};
  const auto body = [](void* argument) {
    Loop& self = *static_cast<Loop*>(argument);
    while (!self.stop) self.fibre->Yield();
  };
  sim::StackSlab stacks(1, 16 * 1024, body);
  fibre.Start(stacks, stacks.Take(), &loop);
  for (auto _ : state) fibre.Resume();
  loop.stop = true;
  fibre.Resume();
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations()));
}
BENCHMARK(FibreSwitch);

// Runs `body(port, memory, thread's QP)` for each iteration, in one simulated thread.
template <class Body>
void InThread(benchmark::State& state, const Body& body) {
  Fabric fabric(kPlatform, {.seed = kSeed});
  const RegisteredMemory memory = fabric.nic(0).Allocate(Placement::kGpu, 4096).Value();
  const QpPair qps = fabric.ConnectPair(0, 1, {});
  fabric.Launch(0, {.threads = 1}, [&](SimPort& port) {
    while (state.KeepRunning()) body(port, memory, qps.first);
  });
  const FabricRun run = fabric.Run();
  if (!run.ok) state.SkipWithError(run.error.c_str());
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations()));
}

void MemoryWriteAndRead(benchmark::State& state) {
  std::array<uint8_t, 64> line{};
  InThread(state, [&](SimPort& port, const RegisteredMemory& memory, const QpView& qp) {
    port.StorePayload(memory.address, line.data(), line.size());
    port.Fence<Order::kAcqRel, Scope::kGpu>(qp);
    port.LoadPayload(line.data(), memory.address, line.size());
  });
}
BENCHMARK(MemoryWriteAndRead);

void SharedLoad(benchmark::State& state) {
  InThread(state, [&](SimPort& port, const RegisteredMemory& memory, const QpView&) {
    benchmark::DoNotOptimize(
        port.Load<Order::kRelaxed, Scope::kGpu>(Ref<uint64_t>{memory.address}));
  });
}
BENCHMARK(SharedLoad);

void StoreWqe(benchmark::State& state) {
  const abi::Segment wqe[3] = {};
  uint64_t index = 0;
  InThread(state, [&](SimPort& port, const RegisteredMemory& memory, const QpView& qp) {
    port.StoreWqe(qp, index++, wqe, 3);
    port.Fence<Order::kAcqRel, Scope::kGpu>(qp);
    // Here the thread meets the clock, as a poster does that waits for space now and then.
    benchmark::DoNotOptimize(
        port.Load<Order::kRelaxed, Scope::kGpu>(Ref<uint64_t>{memory.address}));
  });
}
BENCHMARK(StoreWqe);

}  // namespace
}  // namespace ringpost::bench

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::AddCustomContext("ringpost",
                              fmt::format("simulated | backend sim | platform {} | seed {}",
                                          ringpost::bench::kPlatform, ringpost::bench::kSeed));
  try {
    benchmark::RunSpecifiedBenchmarks();
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 2;
  }
  return 0;
}

// What the operations of a host's core cost that a thread posts with: the `host` block of a
// platform file (configs/README.md) by the names here. Run it on a quiet machine, on two cores.
#include <benchmark/benchmark.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <thread>

namespace {

struct alignas(64) Line {
  std::atomic<uint64_t> word{0};
};

// Each load needs what the one before it has read.
void Load(benchmark::State& state) {
  std::array<uint64_t, 512> chain{};
  for (uint64_t i = 0; i < chain.size(); ++i) chain[i] = (i + 17) % chain.size();
  uint64_t at = 0;
  for (auto _ : state) benchmark::DoNotOptimize(at = chain[at]);
}
BENCHMARK(Load)->Name("host.load");

void Store(benchmark::State& state) {
  Line line;
  uint64_t value = 0;
  for (auto _ : state) {
    line.word.store(++value, std::memory_order_release);
    benchmark::ClobberMemory();
  }
}
BENCHMARK(Store)->Name("host.store");

void Payload(benchmark::State& state) {
  alignas(64) std::array<uint8_t, 4096> from{}, to{};
  for (auto _ : state) {
    benchmark::DoNotOptimize(from.data());
    std::memcpy(to.data(), from.data(), from.size());
    benchmark::DoNotOptimize(to.data());
  }
  // Told for 16 bytes.
  state.counters["each"] = benchmark::Counter(
      static_cast<double>(state.iterations()) * static_cast<double>(from.size()) / 16,
      benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(Payload)->Name("host.payload");

void Fence(benchmark::State& state) {
  Line line;
  for (auto _ : state) {
    line.word.store(1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }
}
BENCHMARK(Fence)->Name("host.fence");

// There and back: two lines that the other core wrote last.
void LoadShared(benchmark::State& state) {
  Line there, back;
  std::thread other([&] {
    uint64_t seen = 0;
    while (seen != ~uint64_t{0}) {
      const uint64_t now = there.word.load(std::memory_order_acquire);
      if (now == seen) continue;
      back.word.store(seen = now, std::memory_order_release);
    }
  });
  uint64_t turn = 0;
  for (auto _ : state) {
    there.word.store(++turn, std::memory_order_release);
    while (back.word.load(std::memory_order_acquire) != turn) {
    }
  }
  there.word.store(~uint64_t{0}, std::memory_order_release);
  other.join();
  state.counters["each"] =
      benchmark::Counter(2 * static_cast<double>(state.iterations()),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(LoadShared)->Name("host.load_shared")->UseRealTime();

// Two cores at one word.
void Atomic(benchmark::State& state) {
  static Line line;
  for (auto _ : state) line.word.fetch_add(1, std::memory_order_acq_rel);
}
BENCHMARK(Atomic)->Name("host.atomic")->Threads(2)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();

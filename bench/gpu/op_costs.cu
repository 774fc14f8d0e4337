// op_costs: what the operations of a platform file cost on this GPU.
//
//   nvcc -std=c++20 -O3 -arch=sm_90 -I. bench/gpu/op_costs.cu -o /tmp/op_costs && /tmp/op_costs
//   /tmp/op_costs --lock 1980,1200          # root: splits each cost into cycles and time
//   /tmp/op_costs --rings host              # the queue in pinned host memory, which fences wait
//   for /tmp/op_costs --platform BASE FILE      # also a platform file: BASE with what was measured
//   here
//
// Prints a table, then lines for the gpu section of configs/platforms/*.yaml. With one SM clock a
// cost is given in the unit of what limits it; with two it is solved for both. Changes no setting
// of the GPU without --lock, and takes a few seconds.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "bench/gpu/measure.cuh"
#include "bench/gpu/operations.cuh"
#include "bench/gpu/queue.cuh"

namespace ringpost::bench {
namespace {

// Which clock limits the operation; decides the unit where only one SM clock was measured.
enum class Limit : uint8_t { kSm, kTime };

struct Row {
  std::string name;
  Limit limit;
  uint32_t steps;
  Measured measured;
};

using Rows = std::vector<Row>;

uint64_t DeviceMemory(size_t bytes) {
  void* memory = nullptr;
  CheckCuda(cudaMalloc(&memory, bytes), "cudaMalloc");
  CheckCuda(cudaMemset(memory, 0, bytes), "cudaMemset");
  return reinterpret_cast<uint64_t>(memory);
}

uint64_t PinnedMemory(size_t bytes) {
  void* memory = nullptr;
  CheckCuda(cudaHostAlloc(&memory, bytes, cudaHostAllocMapped | cudaHostAllocPortable), "pinned");
  std::memset(memory, 0, bytes);
  return reinterpret_cast<uint64_t>(memory);
}

// Lines of 128 bytes, each of which starts with the address of another: one cycle through all.
void LinkChain(uint64_t memory, uint32_t lines, uint32_t stride_bytes) {
  std::vector<uint32_t> order(lines);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin() + 1, order.end(), std::mt19937(1));
  for (uint32_t i = 0; i < lines; ++i) {
    const uint64_t next = memory + uint64_t{order[(i + 1) % lines]} * stride_bytes;
    void* at = reinterpret_cast<void*>(memory + uint64_t{order[i]} * stride_bytes);
    CheckCuda(cudaMemcpy(at, &next, sizeof(next), cudaMemcpyDefault), "cudaMemcpy");
  }
}

Bench MakeBench(In rings) {
  constexpr uint32_t kDepth = 4096;
  Bench bench;
  bench.qp = MakeQueue(kDepth, 1, false, PinnedMemory(4096), rings);
  CompleteEverything(bench.qp);
  bench.l1_chain = DeviceMemory(8 * 128);
  bench.l2_chain = DeviceMemory(64 * 16384);
  bench.host_chain = PinnedMemory(16 * 4096);
  bench.payload = DeviceMemory(size_t{kWarmUp + kRepetitions} * 128);
  bench.self = DeviceMemory(128);
  LinkChain(bench.self, 1, 128);
  LinkChain(bench.l1_chain, 8, 128);
  LinkChain(bench.l2_chain, 64, 16384);
  LinkChain(bench.host_chain, 16, 4096);
  return bench;
}

template <class Op>
void Add(Rows& rows, const char* name, Limit limit, const Bench& bench, uint32_t threads = 1) {
  rows.push_back({name, limit, Op::kSteps, Measure(Op{{bench}}, threads)});
}

void AddLoads(Rows& rows, const Bench& b) {
  constexpr auto kSystem = Scope::kSystem;
  Add<Chain<ChainOp::kLoad, Scope::kThread, &Bench::l1_chain, 64>>(rows, "load_local", Limit::kSm,
                                                                   b);
  Add<Chain<ChainOp::kLoad, Scope::kGpu, &Bench::l2_chain, 64>>(rows, "load_gpu", Limit::kSm, b);
  Add<Chain<ChainOp::kLoad, kSystem, &Bench::l2_chain, 64>>(rows, "load_gpu.sys", Limit::kSm, b);
  Add<Chain<ChainOp::kLoad, kSystem, &Bench::host_chain, 4>>(rows, "load_host", Limit::kTime, b);
  Add<Chain<ChainOp::kAdd, Scope::kGpu, &Bench::l2_chain, 64>>(rows, "atomic_gpu", Limit::kSm, b);
  Add<Chain<ChainOp::kCompareSwap, Scope::kGpu, &Bench::l2_chain, 64>>(rows, "atomic_gpu.cas",
                                                                       Limit::kSm, b);
  Add<Chain<ChainOp::kAdd, kSystem, &Bench::host_chain, 4>>(rows, "atomic_host", Limit::kTime, b);
  Add<PayloadLoad>(rows, "payload_load", Limit::kSm, b);
}

template <Order O, Scope S>
void AddFence(Rows& rows, const std::string& name, const Bench& b) {
  Add<FenceOp<O, S, Outstanding::kWqe>>(rows, name.c_str(), Limit::kTime, b);
  Add<FenceOp<O, S, Outstanding::kNothing>>(rows, (name + "_idle").c_str(), Limit::kSm, b);
  Add<FenceOp<O, S, Outstanding::kWqeAndDoorbell>>(rows, (name + ".after_doorbell").c_str(),
                                                   Limit::kTime, b);
}

void AddFencesAndStores(Rows& rows, const Bench& b) {
  AddFence<Order::kAcqRel, Scope::kCta>(rows, "fence_cta", b);
  AddFence<Order::kAcqRel, Scope::kGpu>(rows, "fence_acq_rel_gpu", b);
  AddFence<Order::kSeqCst, Scope::kGpu>(rows, "fence_sc_gpu", b);
  AddFence<Order::kAcqRel, Scope::kSystem>(rows, "fence_acq_rel_system", b);
  AddFence<Order::kSeqCst, Scope::kSystem>(rows, "fence_sc_system", b);
  constexpr auto kWqe = Outstanding::kWqe;
  constexpr auto kNone = Outstanding::kNothing;
  Add<StoreOp<Order::kRelease, Scope::kGpu, kWqe>>(rows, "release_gpu", Limit::kTime, b);
  Add<StoreOp<Order::kRelease, Scope::kSystem, kWqe>>(rows, "release_system", Limit::kTime, b);
  Add<StoreOp<Order::kRelaxed, Scope::kGpu, kNone>>(rows, "store_issue", Limit::kSm, b);
  Add<DoorbellOp<Order::kRelaxed, Scope::kSystem>>(rows, "doorbell_store", Limit::kSm, b);
  Add<SegmentOp>(rows, "wqe_segment", Limit::kSm, b);
  Add<PayloadStore>(rows, "payload_store", Limit::kSm, b);
  Add<ShuffleOp>(rows, "shuffle", Limit::kSm, b, 32);
  Add<WarpSyncOp>(rows, "warp_sync", Limit::kSm, b, 32);
  Add<Chain<ChainOp::kLoad, Scope::kGpu, &Bench::self, 64>>(rows, "load_gpu.one_word", Limit::kSm,
                                                            b);
  Add<PollTurn>(rows, "load_gpu.one_word+spin", Limit::kSm, b);
}

template <class Ordering>
void AddPut(Rows& rows, const Bench& b) {
  const std::string name = std::string("put.") + Ordering::kName;
  Add<PutOp<Ordering, 1>>(rows, name.c_str(), Limit::kTime, b);
  Add<PutOp<Ordering, 32>>(rows, (name + ".back_to_back").c_str(), Limit::kTime, b);
}

Rows MeasureAll(const Bench& bench, double* contended_ns) {
  cudaDeviceProp device = {};
  CheckCuda(cudaGetDeviceProperties(&device, 0), "device");
  SpinKernel<<<1, 1>>>(400'000'000);  // 0.2 s, after which the clocks have risen
  CheckCuda(cudaDeviceSynchronize(), "warm-up");
  Rows rows;
  Add<Nothing>(rows, "nothing", Limit::kSm, bench);
  AddLoads(rows, bench);
  AddFencesAndStores(rows, bench);
  AddPut<OrderNone>(rows, bench);
  AddPut<OrderGpuFence>(rows, bench);
  AddPut<OrderGpuFenceDbrec>(rows, bench);
  AddPut<OrderGpuRelease>(rows, bench);
  AddPut<OrderThreadfence>(rows, bench);
  AddPut<OrderSystemRelease>(rows, bench);
  AddPut<OrderSystemFence>(rows, bench);
  *contended_ns = ContendedNs(bench.qp.ready.address, device.multiProcessorCount);
  return rows;
}

// Per step, less what reading the clock costs (`nothing`, the first row).
double CyclesOf(const Rows& rows, size_t i) {
  const double net = rows[i].measured.median - (i == 0 ? 0 : rows[0].measured.median);
  return (net > 0 ? net : 0) / rows[i].steps;
}

double NsOf(const Rows& rows, size_t i) {
  return 1e3 * CyclesOf(rows, i) / rows[i].measured.clock_mhz;
}

// The "NVRM version" line of the driver's file names the release, such as 580.65.06.
std::string DriverVersion() {
  std::ifstream file("/proc/driver/nvidia/version");
  std::string word;
  while (file >> word) {
    if (word.find_first_not_of("0123456789.") == std::string::npos &&
        word.find('.') != std::string::npos) {
      return word;
    }
  }
  return "unknown";
}

std::string Source(const std::string& clocks) {
  cudaDeviceProp device = {};
  CheckCuda(cudaGetDeviceProperties(&device, 0), "device");
  const std::time_t now = std::time(nullptr);
  char date[16] = {};
  std::strftime(date, sizeof(date), "%Y-%m-%d", std::gmtime(&now));
  return std::string("bench/gpu/op_costs on ") + device.name + ", SM clock " + clocks +
         " MHz, driver " + DriverVersion() + ", " + date;
}

void PrintTable(const Rows& rows, double contended_ns) {
  std::printf("# %-36s %9s %9s %9s %10s %9s\n", "operation (per step)", "cycles", "least", "p90",
              "ns", "SM MHz");
  for (size_t i = 0; i < rows.size(); ++i) {
    const Measured& m = rows[i].measured;
    std::printf("# %-36s %9.1f %9.1f %9.1f %10.1f %9.0f\n", rows[i].name.c_str(), CyclesOf(rows, i),
                m.least / rows[i].steps, m.p90 / rows[i].steps, NsOf(rows, i), m.clock_mhz);
  }
  std::printf("# %-36s %9s %9s %9s %10.2f\n", "atomic_same_address", "", "", "", contended_ns);
}

std::string Megahertz(const Rows& rows) {
  return std::to_string(static_cast<int>(rows.back().measured.clock_mhz + 0.5));
}

struct Cost {
  std::string name;
  double cycles = 0;
  double ns = 0;
};

// cost = cycles / clock + time, solved from two clocks; in one unit if there is only one clock.
std::vector<Cost> CostsOf(const std::vector<Rows>& runs, double contended_ns) {
  std::vector<Cost> costs;
  for (size_t i = 1; i < runs[0].size(); ++i) {
    Cost cost{runs[0][i].name, CyclesOf(runs[0], i), 0};
    if (runs.size() == 2) {
      const double period = 1e3 / runs[0][i].measured.clock_mhz;
      const double other = 1e3 / runs[1][i].measured.clock_mhz;
      cost.cycles = std::max(0.0, (NsOf(runs[0], i) - NsOf(runs[1], i)) / (period - other));
      cost.ns = std::max(0.0, NsOf(runs[0], i) - cost.cycles * period);
    } else if (runs[0][i].limit == Limit::kTime) {
      cost = {runs[0][i].name, 0, NsOf(runs[0], i)};
    }
    costs.push_back(cost);
  }
  costs.push_back({"atomic_same_address", 0, contended_ns});
  return costs;
}

void PrintCost(std::FILE* file, const char* indent, const Cost& cost, const std::string& source) {
  std::fprintf(file, "%s%s: {cycles: %.1f, time: %.1f ns, provenance: measured, source: \"%s\"}\n",
               indent, cost.name.c_str(), cost.cycles, cost.ns, source.c_str());
}

// The keys of a platform's gpu section that are one row each.
bool IsKey(const std::string& name) {
  for (const char* key :
       {"wqe_segment", "payload_load", "payload_store", "store_issue", "doorbell_store",
        "load_local", "load_gpu", "load_host", "atomic_gpu", "atomic_host", "atomic_same_address",
        "fence_cta", "fence_acq_rel_gpu", "fence_acq_rel_gpu_idle", "fence_sc_gpu",
        "fence_acq_rel_system", "fence_sc_system", "warp_sync", "shuffle"}) {
    if (name == key) return true;
  }
  return false;
}

// False where the file cannot be written.
bool WritePlatform(const char* path, const char* base, const std::vector<Cost>& costs,
                   const std::string& source, double mhz) {
  std::FILE* file = std::fopen(path, "w");
  if (file == nullptr) return false;
  std::fprintf(file,
               "# %s, with what operations cost on the GPU of this machine (bench/gpu/op_costs).\n"
               "# wqe_build, what a program spends on a put besides, stays that of %s.\n"
               "base: %s\n\ngpu:\n"
               "  sm_clock: {value: %.0f MHz, provenance: measured, source: \"%s\"}\n",
               base, base, base, mhz, source.c_str());
  Cost turn{"spin"};
  for (const Cost& cost : costs) {
    if (IsKey(cost.name)) PrintCost(file, "  ", cost, source);
    if (cost.name == "load_gpu.one_word+spin") turn.cycles += cost.cycles;
    if (cost.name == "load_gpu.one_word") turn.cycles -= cost.cycles;
  }
  turn.cycles = std::max(0.0, turn.cycles);
  PrintCost(file, "  ", turn, source);
  return std::fclose(file) == 0;
}

bool LockClock(const std::string& mhz) {
  if (mhz.empty() || mhz.find_first_not_of("0123456789") != std::string::npos) return false;
  const std::string command = "nvidia-smi --lock-gpu-clocks=" + mhz + "," + mhz + " >/dev/null";
  return std::system(command.c_str()) == 0;
}

void UnlockClock() {
  if (std::system("nvidia-smi --reset-gpu-clocks >/dev/null") != 0) {
    std::fprintf(stderr, "op_costs: the SM clock is still locked\n");
  }
}

// Empty where a clock could not be locked.
std::vector<Rows> MeasureAtClocks(const Bench& bench, const std::string& list, double* contended) {
  const size_t comma = list.find(',');
  if (comma == std::string::npos) return {};
  std::vector<Rows> runs;
  std::atexit(UnlockClock);
  for (const std::string& mhz : {list.substr(0, comma), list.substr(comma + 1)}) {
    if (!LockClock(mhz)) return {};
    runs.push_back(MeasureAll(bench, contended));
  }
  return runs;
}

struct Options {
  const char* lock = nullptr;
  const char* base = nullptr;
  const char* platform = nullptr;
  In rings = In::kGpu;
};

bool Parse(int argc, char** argv, Options* options) {
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    const int left = argc - i - 1;
    if (name == "--lock" && left >= 1) {
      options->lock = argv[++i];
    } else if (name == "--rings" && left >= 1 && std::strcmp(argv[i + 1], "host") == 0) {
      options->rings = In::kPinnedHost;
      ++i;
    } else if (name == "--platform" && left >= 2) {
      options->base = argv[++i];
      options->platform = argv[++i];
    } else {
      return false;
    }
  }
  return true;
}

int Main(int argc, char** argv) {
  Options options;
  if (!Parse(argc, argv, &options)) {
    std::fprintf(stderr,
                 "usage: op_costs [--lock MHZ,MHZ] [--rings host] [--platform BASE FILE]\n");
    return 2;
  }
  const Bench bench = MakeBench(options.rings);
  double contended_ns = 0;
  std::vector<Rows> runs;
  if (options.lock != nullptr) {
    runs = MeasureAtClocks(bench, options.lock, &contended_ns);
  } else {
    runs.push_back(MeasureAll(bench, &contended_ns));
  }
  if (runs.empty()) {
    std::fprintf(stderr, "op_costs: cannot lock the SM clock at %s MHz\n", options.lock);
    return 1;
  }
  for (const Rows& rows : runs) PrintTable(rows, contended_ns);
  std::string clocks = Megahertz(runs[0]);
  if (runs.size() == 2) clocks += " and " + Megahertz(runs[1]);
  const std::string source = Source(clocks);
  const std::vector<Cost> costs = CostsOf(runs, contended_ns);
  for (const Cost& cost : costs) PrintCost(stdout, "", cost, source);
  if (options.platform != nullptr && !WritePlatform(options.platform, options.base, costs, source,
                                                    runs[0].back().measured.clock_mhz)) {
    std::fprintf(stderr, "op_costs: cannot write %s\n", options.platform);
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace ringpost::bench

int main(int argc, char** argv) { return ringpost::bench::Main(argc, argv); }

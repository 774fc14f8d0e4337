// Backend mlx5 with queues and payload in GPU memory, on virtual devices: gpu_route_test.py runs it
// by `ringpost exec`, with the stand-in for CUDA's driver. Each rank's "kernel" is host threads
// with a FakeGpuPort; the NICs' threads would die of a load from GPU memory.
#include <dlfcn.h>
#include <fcntl.h>
#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <sys/mman.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "backends/mlx5/handles.h"
#include "backends/mlx5/mlx5_nic.h"
#include "tests/uverbs/gpu/fake_memory.h"
#include "transport/abi/cqe.h"
#include "transport/endpoint.h"
#include "transport/publication/per_thread.h"

namespace ringpost {
namespace {

using fake_gpu::FakeGpuPort;
using fake_gpu::FakeMemory;

constexpr uint64_t kHangGuardPs = 30'000'000'000'000;
constexpr uint64_t kPage = 4096;

struct TwoRanks {
  TwoRanks() {
    for (uint32_t rank = 0; rank < 2; ++rank) {
      Mlx5NicOptions options;
      options.memory = &memory;
      options.device.devices = {"mlx5_0", "mlx5_1"};
      options.device.number = rank;
      options.note = [this](const std::string& line) {
        const std::lock_guard<std::mutex> lock(mutex);
        notes.push_back(line);
      };
      auto opened = Mlx5Nic::Open(options);
      BOOST_TEST_REQUIRE(opened.Ok(), (opened.Ok() ? "" : opened.Message()));
      nics[rank] = std::move(opened.Value());
    }
  }

  // A QP of each rank, to the other.
  void Connect(TransportKind kind) {
    QpSpec spec{.depth_wqebbs = 64, .placement = Placement::kGpu, .timeout_ps = kHangGuardPs};
    spec.kind = kind;
    spec.doorbell = DoorbellMode::kGpu;
    QpAddress address[2];
    for (int rank = 0; rank < 2; ++rank) {
      const auto made = nics[rank]->CreateQp(spec);
      BOOST_TEST_REQUIRE(made.Ok(), (made.Ok() ? "" : made.Message()));
      address[rank] = made.Value();
    }
    for (int rank = 0; rank < 2; ++rank) {
      BOOST_TEST_REQUIRE(nics[rank]->Connect(address[rank], address[1 - rank]).Ok());
      views[rank] = nics[rank]->View(address[rank]).Value();
      arenas[rank] = nics[rank]->Allocate(Placement::kGpu, kPage).Value();
    }
  }

  // A kernel of one thread on each rank, at the same time.
  void Run(const std::function<void(FakeGpuPort& port, uint32_t rank)>& kernel) {
    std::thread threads[2];
    for (uint32_t rank = 0; rank < 2; ++rank) {
      threads[rank] = std::thread([&, rank] {
        HostWarp warp(1);
        FakeGpuPort port(HostGroup(warp, 0), memory.Memory());
        kernel(port, rank);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

  template <class T>
  T ReadBack(uint64_t address) {
    T value{};
    BOOST_TEST_REQUIRE(
        memory.Copy(reinterpret_cast<uint64_t>(&value), address, sizeof(value)).Ok());
    return value;
  }

  FakeMemory memory;  // outlives the NICs
  std::mutex mutex;
  std::vector<std::string> notes;  // guarded
  std::unique_ptr<Mlx5Nic> nics[2];
  QpView views[2];
  RegisteredMemory arenas[2];
};

// Where things are in an arena.
constexpr uint64_t kSource = 0, kTarget = 64, kGot = 128, kSignal = 192, kCounter = 200,
                   kFetched = 208;
constexpr uint64_t kRounds = 20;

// What a rank's kernel found wrong.
struct Found {
  uint64_t failed = 0, wrong_gets = 0, wrong_puts = 0, wrong_counters = 0;
  Completion last;
};

template <class Ordering>
Found Exchange(FakeGpuPort& port, const QpView& view, const RegisteredMemory& mine,
               const RegisteredMemory& peers) {
  Endpoint<FakeGpuPort, PerThread, Ordering> endpoint(port, {&view, 1, 0, 1, 0});
  Found found;
  for (uint64_t round = 1; round <= kRounds && found.failed == 0; ++round) {
    uint64_t source[8], got[8], target[8], fetched = 0;
    for (uint64_t i = 0; i < 8; ++i) source[i] = round * 1000 + i;
    port.StorePayload(mine.address + kSource, source, sizeof(source));
    endpoint.PutSignal(peers.Remote(kTarget), mine.Local(kSource, sizeof(source)),
                       peers.Remote(kSignal), round);
    endpoint.FetchAdd(mine.Local(kFetched, 8), peers.Remote(kCounter), 3);
    found.last = endpoint.Wait(endpoint.Get(mine.Local(kGot, sizeof(got)), peers.Remote(kTarget)));
    const Completion signalled =
        found.last.Ok() ? endpoint.WaitSignal(Ref<uint64_t>{mine.address + kSignal}, round)
                        : found.last;
    found.failed += !signalled.Ok();
    port.LoadPayload(got, mine.address + kGot, sizeof(got));
    found.wrong_gets += std::memcmp(got, source, sizeof(got)) != 0;
    port.LoadPayload(&fetched, mine.address + kFetched, sizeof(fetched));
    found.wrong_counters += fetched != 3 * (round - 1);
    // The peer may be a round ahead, and no more: it waits for this one's signal.
    port.LoadPayload(target, mine.address + kTarget, sizeof(target));
    found.wrong_puts += target[0] / 1000 != round && target[0] / 1000 != round + 1;
  }
  return found;
}

void CheckExchange(TwoRanks& ranks, TransportKind kind) {
  ranks.Connect(kind);
  Found found[2];
  ranks.Run([&](FakeGpuPort& port, uint32_t rank) {
    found[rank] = Exchange<OrderGpuFence>(port, ranks.views[rank], ranks.arenas[rank],
                                          ranks.arenas[1 - rank]);
  });
  for (uint32_t rank = 0; rank < 2; ++rank) {
    BOOST_TEST(found[rank].failed == 0u,
               "rank " << rank << ": syndrome " << int{found[rank].last.syndrome});
    BOOST_TEST(found[rank].wrong_gets == 0u);
    BOOST_TEST(found[rank].wrong_puts == 0u);
    BOOST_TEST(found[rank].wrong_counters == 0u);
    const uint64_t counter = ranks.ReadBack<uint64_t>(ranks.arenas[rank].address + kCounter);
    BOOST_TEST(counter == 3 * kRounds);
  }
}

std::string FactOf(const Mlx5Nic& nic, const std::string& name) {
  for (const auto& [fact, value] : nic.Facts()) {
    if (fact == name) return value;
  }
  return {};
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(GpuProgram, TwoRanks)

BOOST_AUTO_TEST_CASE(QueuesRecordsAndPayloadInGpuMemoryAreReachedOverRc) {
  CheckExchange(*this, TransportKind::kRc);
  BOOST_TEST(memory.Count().agents >= 2u);  // one of each NIC
  BOOST_TEST(memory.Count().exports > 0u);
  BOOST_TEST(notes.empty());
}

BOOST_AUTO_TEST_CASE(QueuesRecordsAndPayloadInGpuMemoryAreReachedOverDc) {
  CheckExchange(*this, TransportKind::kDc);
}

BOOST_AUTO_TEST_CASE(TheGpusOwnDoorbellIsThePageOfTheDeviceMappedAsOrdinaryMemory) {
  const fake_gpu::Counters before = memory.Count();
  Connect(TransportKind::kRc);
  for (int rank = 0; rank < 2; ++rank) BOOST_TEST(FactOf(*nics[rank], "doorbell") == "gpu");
  BOOST_TEST(memory.Count().io_maps == before.io_maps + 2);
  BOOST_TEST(memory.Count().mappings == before.mappings + 2);
  BOOST_TEST(notes.empty());
}

// As a program registers a buffer of its own framework's, which is not a page's.
BOOST_AUTO_TEST_CASE(APartOfAnAllocationThatBeginsAmidAPageIsRegistered) {
  Connect(TransportKind::kRc);
  const Allocation whole = memory.Allocate(Placement::kGpu, 3 * kPage).Value();
  const Allocation part{whole.address + 0x540, kPage, Placement::kGpu};
  const auto registered = nics[1]->Register(part);
  BOOST_TEST_REQUIRE(registered.Ok(), (registered.Ok() ? "" : registered.Message()));
  const RegisteredMemory& target = registered.Value().front();
  Completion done;
  Run([&](FakeGpuPort& port, uint32_t rank) {
    if (rank != 0) return;
    Endpoint<FakeGpuPort, PerThread, OrderGpuFence> endpoint(port, {&views[0], 1, 0, 1, 0});
    done = endpoint.Wait(endpoint.PutValue(target.Remote(8), uint64_t{77}));
  });
  BOOST_TEST(done.Ok());
  BOOST_TEST(ReadBack<uint64_t>(part.address + 8) == 77u);
  BOOST_TEST(notes.empty());
}

BOOST_AUTO_TEST_CASE(WithoutDmaBufsAddressesOfTheGpuServeWithOneWarningForEachNic) {
  memory.WithoutDmaBufs();
  CheckExchange(*this, TransportKind::kRc);
  BOOST_TEST(notes.size() == 2u);
  for (const std::string& note : notes) {
    BOOST_TEST(note.find("GPU memory goes through peer memory") != std::string::npos, note);
  }
}

// Its end takes the agents with it while the NICs' threads still run.
BOOST_AUTO_TEST_CASE(AProgramThatLeavesItsNicsOpenEnds) {
  CheckExchange(*this, TransportKind::kRc);
  for (auto& nic : nics) static_cast<void>(nic.release());
}

BOOST_AUTO_TEST_CASE(APutWithAKeyThatThePeerNeverGaveEndsInAnErrorCqeInGpuMemory) {
  Connect(TransportKind::kRc);
  Completion ended[2];
  Run([&](FakeGpuPort& port, uint32_t rank) {
    if (rank != 0) return;
    Endpoint<FakeGpuPort, PerThread, OrderGpuFence> endpoint(port, {&views[0], 1, 0, 1, 0});
    RemoteSpan wrong = arenas[1].Remote(0);
    wrong.rkey ^= 0x100;
    ended[0] = endpoint.Wait(endpoint.PutValue(wrong, uint64_t{1}));
  });
  BOOST_TEST((ended[0].status == Status::kErrorCompletion));
  BOOST_TEST(ended[0].syndrome == static_cast<uint8_t>(abi::Syndrome::kRemoteAccess));
}

BOOST_AUTO_TEST_SUITE_END()

namespace {

struct OneDevice {
  OneDevice() {
    int count = 0;
    ibv_device** list = ibv_get_device_list(&count);
    BOOST_TEST_REQUIRE(count > 0);
    context.reset(ibv_open_device(list[0]));
    ibv_free_device_list(list);
    pd.reset(ibv_alloc_pd(context.get()));
    BOOST_TEST_REQUIRE(pd != nullptr);
    allocation = memory.Allocate(Placement::kGpu, 4 * kPage).Value();
  }
  mlx5::Mr RegisterDmaBuf(int file, uint64_t offset, uint64_t bytes) {
    return mlx5::Mr(
        ibv_reg_dmabuf_mr(pd.get(), offset, bytes, 0x1000, file, IBV_ACCESS_LOCAL_WRITE));
  }
  mlx5::Mr RegisterAddress(uint64_t address, uint64_t bytes) {
    return mlx5::Mr(
        ibv_reg_mr(pd.get(), reinterpret_cast<void*>(address), bytes, IBV_ACCESS_LOCAL_WRITE));
  }

  FakeMemory memory;
  mlx5::Context context;
  mlx5::Pd pd;
  Allocation allocation;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(GpuRegistration, OneDevice)

BOOST_AUTO_TEST_CASE(ACopyOfADmaBufsDescriptorIsTheSameMemory) {
  const int file = memory.ExportDmaBuf(allocation).Value().file;
  const int copy = dup(file);
  close(file);
  BOOST_TEST((RegisterDmaBuf(copy, kPage, 3 * kPage) != nullptr));
  close(copy);
}

BOOST_AUTO_TEST_CASE(ADescriptorThatIsUsedAgainForAnotherFileIsNoDmaBuf) {
  const int file = memory.ExportDmaBuf(allocation).Value().file;
  const int other = memfd_create("other", MFD_CLOEXEC);
  BOOST_TEST_REQUIRE(dup2(other, file) == file);
  BOOST_TEST((RegisterDmaBuf(file, 0, kPage) == nullptr));
  BOOST_TEST(errno == EINVAL);
  close(file);
  close(other);
}

BOOST_AUTO_TEST_CASE(ARangeBeyondTheDmaBufIsRefused) {
  const int file = memory.ExportDmaBuf(allocation).Value().file;
  BOOST_TEST((RegisterDmaBuf(file, kPage, 4 * kPage) == nullptr));
  BOOST_TEST(errno == EINVAL);
  close(file);
}

BOOST_AUTO_TEST_CASE(TheDmaBufOfMemoryThatWasFreedIsRefused) {
  const int file = memory.ExportDmaBuf(allocation).Value().file;
  memory.Free(allocation);
  BOOST_TEST((RegisterDmaBuf(file, 0, kPage) == nullptr));
  BOOST_TEST(errno == EFAULT);
  close(file);
}

BOOST_AUTO_TEST_CASE(AnAddressOfAGpuIsRegisteredAsFarAsItsAllocationGoes) {
  BOOST_TEST((RegisterAddress(allocation.address, 4 * kPage) != nullptr));
  BOOST_TEST((RegisterAddress(allocation.address + kPage, kPage) != nullptr));
  BOOST_TEST((RegisterAddress(allocation.address, 5 * kPage) == nullptr));
  BOOST_TEST(errno == EFAULT);
}

BOOST_AUTO_TEST_SUITE_END()

// Whether `ringpost exec` was asked to let kernels ring (gpu_route_test.py runs both).
BOOST_FIXTURE_TEST_SUITE(GpuDoorbells, OneDevice)

namespace {

using Register = int(void*, size_t, unsigned);
using GetProc = int(const char*, void**, int, uint64_t, void*);
constexpr unsigned kDeviceMap = 2, kIoMemory = 4;

bool Asked() { return std::getenv("RINGPOST_TEST_GPU_DOORBELLS") != nullptr; }

// As CUDA's runtime and NVSHMEM find it, and as NCCL does.
std::vector<Register*> Registers() {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  BOOST_TEST_REQUIRE(driver != nullptr);
  void* found = nullptr;
  auto* const get = reinterpret_cast<GetProc*>(dlsym(driver, "cuGetProcAddress_v2"));
  BOOST_TEST_REQUIRE(get("cuMemHostRegister", &found, 12000, 0, nullptr) == 0);
  return {reinterpret_cast<Register*>(dlsym(driver, "cuMemHostRegister_v2")),
          reinterpret_cast<Register*>(found)};
}

}  // namespace

BOOST_AUTO_TEST_CASE(CudaTakesARegisterOfADeviceAsIoMemoryOnRequestAlone) {
  for (Register* const map : Registers()) {
    const mlx5::Uar uar(mlx5dv_devx_alloc_uar(context.get(), MLX5DV_UAR_ALLOC_TYPE_NC));
    BOOST_TEST_REQUIRE(uar != nullptr);
    BOOST_TEST((map(uar->base_addr, kPage, kDeviceMap | kIoMemory) == 0) == Asked());
    void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    reinterpret_cast<int (*)(void*)>(dlsym(driver, "cuMemHostUnregister"))(uar->base_addr);
  }
}

BOOST_AUTO_TEST_CASE(CudaStillRefusesOtherMemoryAsIoMemory) {
  void* const page =
      mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  for (Register* const map : Registers()) {
    BOOST_TEST(map(page, kPage, kDeviceMap | kIoMemory) != 0);
    BOOST_TEST(map(nullptr, kPage, kDeviceMap | kIoMemory) != 0);
  }
  munmap(page, kPage);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace ringpost

// Kernels post to the backend mlx5, with queues, records and doorbells in the GPU's hands: on a
// machine with a ConnectX, or on virtual ones (tests/gpu/portable.sh brings them). One GPU as two
// ranks, each with a NIC of its own.
#include <fmt/format.h>

#include <boost/test/unit_test.hpp>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "backends/mlx5/mlx5_nic.h"
#include "tests/gpu/live_workout.h"
#include "tests/gpu/needs_gpu.h"
#include "tests/gpu/workout_ranks.h"
#include "transport/abi/cqe.h"

namespace ringpost {
namespace {

using boost::unit_test::precondition;

boost::test_tools::assertion_result NeedsGpuAndConnectX(boost::unit_test::test_unit_id unit) {
  boost::test_tools::assertion_result result = NeedsGpu(unit);
  if (!result) return result;
  const auto nic = Mlx5Nic::Open({});
  if (nic.Ok()) return true;
  boost::test_tools::assertion_result none(false);
  none.message() << nic.Message();
  return none;
}

class Mlx5Ranks final : public gpu_test::RankNics {
 public:
  Mlx5Ranks(std::unique_ptr<Mlx5Nic> first, std::unique_ptr<Mlx5Nic> second)
      : nics_{std::move(first), std::move(second)} {}
  Mlx5Nic& nic(uint32_t rank) override { return *nics_[rank]; }
  std::string Story() override {
    return fmt::format("; {}; {}", nics_[0]->Failure(), nics_[1]->Failure());
  }

 private:
  std::unique_ptr<Mlx5Nic> nics_[2];
};

// CUDA's memory, of which no dma-buf is to be had.
class WithoutDmaBufs final : public MemoryProvider {
 public:
  explicit WithoutDmaBufs(CudaMemory& memory) : memory_(memory) {}
  Result<Allocation> Allocate(Placement placement, uint64_t bytes) override {
    return memory_.Allocate(placement, bytes);
  }
  void Free(const Allocation& allocation) override { memory_.Free(allocation); }
  Result<uint64_t> Map(void* pages, uint64_t bytes, Mapping mapping) override {
    return memory_.Map(pages, bytes, mapping);
  }
  void Unmap(void* pages) override { memory_.Unmap(pages); }
  Result<DmaBuf> ExportDmaBuf(const Allocation&) override { return Error{"none in this test"}; }
  Result<bool> Copy(uint64_t to, uint64_t from, uint64_t bytes) override {
    return memory_.Copy(to, from, bytes);
  }

 private:
  CudaMemory& memory_;
};

struct Mlx5Workout : gpu_test::Workout {
  Result<std::unique_ptr<Mlx5Nic>> OpenRank(uint32_t rank) {
    Mlx5NicOptions options;
    options.memory = by_address ? static_cast<MemoryProvider*>(&addresses) : &MemoryOf(rank);
    options.gpu_kernels = true;
    options.device.number = rank;
    options.note = [this](const std::string& line) {
      const std::lock_guard<std::mutex> lock(mutex);
      notes.push_back(line);
      BOOST_TEST_MESSAGE(line);
    };
    // Where there are two ports of these names, each rank has its own.
    options.device.devices = {"mlx5_0", "mlx5_1"};
    auto one_of_two = Mlx5Nic::Open(options);
    if (one_of_two.Ok()) return one_of_two;
    options.device.devices.clear();
    return Mlx5Nic::Open(options);
  }

  Result<std::unique_ptr<gpu_test::RankNics>> Open() override {
    std::unique_ptr<Mlx5Nic> opened[2];
    for (uint32_t rank = 0; rank < 2; ++rank) {
      auto nic = OpenRank(rank);
      if (!nic.Ok()) return Error{nic.Message()};
      opened[rank] = std::move(nic.Value());
    }
    return std::unique_ptr<gpu_test::RankNics>(
        new Mlx5Ranks(std::move(opened[0]), std::move(opened[1])));
  }

  bool by_address = false;
  WithoutDmaBufs addresses{memory};
  std::mutex mutex;
  std::vector<std::string> notes;  // guarded
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(GpuMlx5Test, Mlx5Workout, *precondition(NeedsGpuAndConnectX))

BOOST_AUTO_TEST_CASE(TheGpuRingsAndItsMemoryGoesByDmaBuf) {
  auto opened = Open();
  BOOST_TEST_REQUIRE(opened.Ok(), (opened.Ok() ? "" : opened.Message()));
  auto& ranks = static_cast<Mlx5Ranks&>(*opened.Value());
  const auto pair = gpu_test::ConnectPair(ranks, {.placement = Placement::kGpu});
  BOOST_TEST_REQUIRE(pair.Ok(), (pair.Ok() ? "" : pair.Message()));
  for (uint32_t rank = 0; rank < 2; ++rank) {
    for (const auto& [fact, value] : ranks.nic(rank).Facts()) {
      BOOST_TEST_MESSAGE(fact << ": " << value);
      if (fact == "doorbell") BOOST_TEST(value == "gpu");
    }
  }
  BOOST_TEST(notes.empty());
}

BOOST_AUTO_TEST_CASE(ThreadsThatOwnTheirQpReachThePeerThroughGpuMemoryInEveryOrdering) {
  for (const char* ordering : {"gpu_fence", "gpu_fence_dbrec", "gpu_release", "threadfence",
                               "system_release", "system_fence"}) {
    RunOwned("per_thread", ordering, Placement::kGpu);
  }
}

BOOST_AUTO_TEST_CASE(BatchesReachThePeerThroughGpuMemory) {
  RunOwned("batched", "gpu_fence", Placement::kGpu);
  RunOwned("batched", "system_fence", Placement::kGpu);
}

BOOST_AUTO_TEST_CASE(ThreadsThatShareQpsReachThePeerThroughGpuMemory) {
  for (const char* publication : {"ordered_handoff", "locked", "cooperative"}) {
    for (const char* ordering : {"gpu_fence", "gpu_release", "system_fence"}) {
      RunShared(publication, ordering, Placement::kGpu);
    }
  }
  RunShared("last_writer", "gpu_fence", Placement::kGpu);
}

BOOST_AUTO_TEST_CASE(BothReachThePeerOverDc) {
  RunOwned("per_thread", "gpu_fence", Placement::kGpu, TransportKind::kDc);
  RunShared("cooperative", "gpu_fence", Placement::kGpu, TransportKind::kDc);
}

BOOST_AUTO_TEST_CASE(KernelsReachThePeerThroughQueuesInHostMemory) {
  RunOwned("per_thread", "system_fence", Placement::kHost);
}

BOOST_AUTO_TEST_CASE(WithoutDmaBufsMemoryGoesByItsAddress) {
  by_address = true;
  RunOwned("per_thread", "gpu_fence", Placement::kGpu);
  BOOST_TEST(notes.size() == 6u);  // a NIC's first, of two NICs for each of three shapes
}

BOOST_AUTO_TEST_CASE(TwoGpusAreTwoRanks, *precondition(NeedsTwoGpus)) {
  devices[1] = 1;
  RunOwned("per_thread", "gpu_fence", Placement::kGpu);
  RunShared("cooperative", "gpu_fence", Placement::kGpu);
}

BOOST_AUTO_TEST_CASE(APutWithAKeyThatThePeerNeverGaveEndsInAnErrorOnTheGpu) {
  auto opened = Open();
  BOOST_TEST_REQUIRE(opened.Ok());
  gpu_test::RankNics& nics = *opened.Value();
  const QpSpec spec{.placement = Placement::kGpu, .timeout_ps = kHangGuardPs};
  const auto pair = gpu_test::ConnectPair(nics, spec);
  BOOST_TEST_REQUIRE(pair.Ok());
  const QpView view = pair.Value().first;
  const RegisteredMemory target = nics.nic(1).Allocate(Placement::kGpu, 64).Value();
  const QpView* views = gpu_test::CopyViews(0, &view, 1);
  gpu_test::RunningPuts puts({views, {target.address, target.rkey ^ 0x100}, 10});
  const gpu_test::PutsEnd end = puts.Finish();
  BOOST_TEST(puts.Refusal() == "");
  BOOST_TEST((end.last.status == Status::kErrorCompletion));
  BOOST_TEST(end.last.syndrome == static_cast<uint8_t>(abi::Syndrome::kRemoteAccess));
  BOOST_TEST(end.last.qpn == view.qpn);
  BOOST_TEST(end.puts == 0u);
  gpu_test::FreeViews(views);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace ringpost

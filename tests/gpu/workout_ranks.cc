#include "tests/gpu/workout_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <utility>
#include <vector>

namespace ringpost::gpu_test {
namespace {

std::string FailuresOf(const WorkoutReport& report) {
  std::string text = fmt::format("{} threads failed:", report.failed);
  for (uint64_t i = 0; i < std::min<uint64_t>(report.failed, report.kKept); ++i) {
    const WorkoutFailure& failure = report.failure[i];
    text += fmt::format(" [thread {} round {} step {}: status {}, syndrome {:#x}, WQE {}]",
                        failure.thread, failure.round, static_cast<int>(failure.step),
                        static_cast<int>(failure.error.status), failure.error.syndrome,
                        failure.error.wqe_index);
  }
  return text;
}

}  // namespace

// One rank's half of what a kernel of each side needs.
struct Workout::Side {
  RegisteredMemory arena;
  std::vector<QpView> views;
};

Result<std::pair<QpView, QpView>> ConnectPair(RankNics& nics, const QpSpec& spec) {
  QpAddress address[2];
  for (uint32_t rank = 0; rank < 2; ++rank) {
    const Result<QpAddress> made = nics.nic(rank).CreateQp(spec);
    if (!made.Ok()) return Error{made.Message()};
    address[rank] = made.Value();
  }
  QpView views[2];
  for (uint32_t rank = 0; rank < 2; ++rank) {
    const Result<bool> connected = nics.nic(rank).Connect(address[rank], address[1 - rank]);
    if (!connected.Ok()) return Error{connected.Message()};
    const Result<QpView> view = nics.nic(rank).View(address[rank]);
    if (!view.Ok()) return Error{view.Message()};
    views[rank] = view.Value();
  }
  return std::pair{views[0], views[1]};
}

bool Workout::Run(const std::string& publication, const std::string& ordering, Placement placement,
                  const WorkoutShape& shape, const QpSpec& spec) {
  auto opened = Open();
  if (!opened.Ok()) return Says(opened.Message());
  RankNics& nics = *opened.Value();
  Side sides[2];
  for (uint32_t i = 0; i < shape.qps; ++i) {
    auto pair = ConnectPair(nics, spec);
    if (!pair.Ok()) return Says(pair.Message());
    sides[0].views.push_back(pair.Value().first);
    sides[1].views.push_back(pair.Value().second);
  }
  for (uint32_t rank = 0; rank < 2; ++rank) {
    auto arena = nics.nic(rank).Allocate(placement, ArenaBytes(shape.threads));
    if (!arena.Ok()) return Says(arena.Message());
    sides[rank].arena = arena.Value();
  }
  if (Check(publication, ordering, shape, sides)) return true;
  return Says(said_ + nics.Story());
}

bool Workout::Check(const std::string& publication, const std::string& ordering,
                    const WorkoutShape& shape, const Side (&sides)[2]) {
  const uint64_t shared_at = SharedCounterAt(shape.threads);
  WorkoutRank ranks[2];
  for (uint32_t rank = 0; rank < 2; ++rank) {
    const Side& mine = sides[rank];
    const RegisteredMemory& peers = sides[1 - rank].arena;
    ranks[rank] = {devices[rank], CopyViews(devices[rank], mine.views.data(), shape.qps),
                   mine.arena.Local(0, mine.arena.bytes), peers.Remote(0), peers.Remote(shared_at)};
  }
  WorkoutReport reports[2];
  const auto begin = std::chrono::steady_clock::now();
  const std::string refusal = RunWorkout(publication, ordering, shape, ranks, reports);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  for (const WorkoutRank& rank : ranks) FreeViews(rank.views);
  const uint64_t each = uint64_t{shape.threads} * shape.rounds;
  const uint64_t all = 2 * each * kOperationsPerRound;
  const std::string what =
      fmt::format("{}.{}, {} threads, {} QPs: ", publication, ordering, shape.threads, shape.qps);
  BOOST_TEST_MESSAGE(what << all << " operations in " << took.count() << " s");
  if (!refusal.empty()) return Says(what + refusal);
  for (const WorkoutReport& report : reports) {
    if (report.finished != shape.threads) return Says(what + FailuresOf(report));
    if (report.wrong_gets + report.wrong_puts + report.wrong_counters != 0) {
      return Says(what + fmt::format("{} gets, {} puts and {} counters are wrong",
                                     report.wrong_gets, report.wrong_puts, report.wrong_counters));
    }
  }
  for (uint32_t rank = 0; rank < 2; ++rank) {
    uint64_t counter = 0;
    const uint64_t at = reinterpret_cast<uint64_t>(&counter);
    const auto copied = MemoryOf(rank).Copy(at, sides[rank].arena.address + shared_at, 8);
    if (!copied.Ok()) return Says(copied.Message());
    if (counter != each) return Says(fmt::format("{}the shared counter is {}", what, counter));
  }
  operations_ += all;
  return true;
}

bool Workout::Says(const std::string& what) {
  BOOST_TEST_MESSAGE(what);
  said_ = what;
  return false;
}

void Workout::RunOwned(const std::string& publication, const std::string& ordering,
                       Placement placement, TransportKind kind) {
  // The NIC goes through the agent to what is in GPU memory, which is slower.
  const uint32_t part = placement == Placement::kHost ? 1 : 8;
  for (const WorkoutShape& shape :
       {WorkoutShape{1, 1, 1000}, {16, 16, 800 / part}, {64, 64, 1600 / part}}) {
    QpSpec spec{.placement = placement, .batch = 16, .timeout_ps = kHangGuardPs};
    spec.kind = kind;
    BOOST_TEST(Run(publication, ordering, placement, shape, spec), said_);
  }
}

void Workout::RunShared(const std::string& publication, const std::string& ordering,
                        Placement placement, TransportKind kind) {
  const uint32_t part = placement == Placement::kHost ? 1 : 2;
  for (const WorkoutShape& shape : {WorkoutShape{1, 1, 500 / part},
                                    {32, 1, 200 / part},
                                    {256, 1, 32 / part},
                                    {1024, 4, 16 / part},
                                    {4096, 64, 14 / part}}) {
    QpSpec spec{.placement = placement, .batch = 32, .shared = true, .timeout_ps = kHangGuardPs};
    spec.kind = kind;
    BOOST_TEST(Run(publication, ordering, placement, shape, spec), said_);
  }
}

}  // namespace ringpost::gpu_test

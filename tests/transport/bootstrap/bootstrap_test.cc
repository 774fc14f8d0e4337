#include "transport/bootstrap/bootstrap.h"

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "tests/transport/bootstrap/run_of_ranks.h"

namespace ringpost {
namespace {

using bootstrap::Bootstrap;

bool Has(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return text.find('\n') == std::string::npos;
  BOOST_TEST_MESSAGE("'" << text << "' has no '" << part << "'");
  return false;
}

// Waits for something that another rank does.
void Await(const std::atomic<bool>& flag) {
  while (!flag) std::this_thread::yield();
}

// Steps until one fails.
std::string NextFailure(Bootstrap& bootstrap) {
  for (;;) {
    const auto step = bootstrap.Barrier("the next");
    if (!step.Ok()) return step.Message();
  }
}

std::string BlobOf(uint32_t rank, int round) {
  return std::string(static_cast<size_t>(rank * 1000 + round), static_cast<char>('a' + rank));
}

BOOST_AUTO_TEST_SUITE(BootstrapTest)

BOOST_AUTO_TEST_CASE(EveryRankGetsTheBlobsOfAllInEveryRound) {
  for (const uint32_t ranks : {1, 2, 3, 8}) {
    RunOfRanks run(ranks);
    const auto errors = run.Run([&](uint32_t rank, Bootstrap& bootstrap) -> std::string {
      for (int round = 0; round < 20; ++round) {
        const auto blobs = bootstrap.Exchange(BlobOf(rank, round), "blobs");
        if (!blobs.Ok()) return blobs.Message();
        if (blobs.Value().size() != ranks) return "some are missing";
        for (uint32_t other = 0; other < ranks; ++other) {
          if (blobs.Value()[other] != BlobOf(other, round)) return "a wrong blob";
        }
        const auto barrier = bootstrap.Barrier("end of round");
        if (!barrier.Ok()) return barrier.Message();
      }
      return MessageOf(bootstrap.Check());
    });
    BOOST_TEST(errors == std::vector<std::string>(ranks), boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(LargeBlobsPass) {
  RunOfRanks run(3);
  const auto errors = run.Run([&](uint32_t, Bootstrap& bootstrap) -> std::string {
    const auto blobs = bootstrap.Exchange(std::string(5 << 20, 'x'), "blobs");
    if (!blobs.Ok()) return blobs.Message();
    return blobs.Value()[2].size() == 5 << 20 ? "" : "it is cut off";
  });
  BOOST_TEST(errors == std::vector<std::string>(3), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(NobodyPassesABarrierBeforeAllHaveCome) {
  constexpr uint32_t kRanks = 4;
  std::atomic<uint32_t> come{0};
  RunOfRanks run(kRanks);
  const auto errors = run.Run([&](uint32_t, Bootstrap& bootstrap) -> std::string {
    for (uint32_t round = 1; round <= 20; ++round) {
      ++come;
      const auto barrier = bootstrap.Barrier("all");
      if (!barrier.Ok()) return barrier.Message();
      if (come < kRanks * round) return "somebody has not come";
      if (!bootstrap.Barrier("checked").Ok()) return "the second barrier";
    }
    return "";
  });
  BOOST_TEST(errors == std::vector<std::string>(kRanks), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(SilentRankIsNamedToAllWhenTheDeadlineHasPassed) {
  RunOfRanks run(3, kShortDeadline);
  std::atomic<bool> reported{false};
  std::atomic<bool> heard{false};
  const auto errors = run.Run([&](uint32_t rank, Bootstrap& bootstrap) {
    if (rank == 2) {
      Await(reported);
      Await(heard);
      return NextFailure(bootstrap);
    }
    const std::string error = MessageOf(bootstrap.Exchange("", "QP addresses"));
    (rank == 0 ? reported : heard) = true;
    return error;
  });
  for (const std::string& error : errors) {
    BOOST_TEST(error == "rank 0 (nic0) waited 50 ms for rank 2 (nic2): exchange 1, QP addresses");
  }
}

BOOST_AUTO_TEST_CASE(SilentFirstRankIsNamed) {
  RunOfRanks run(2, kShortDeadline);
  std::atomic<bool> reported{false};
  const auto errors = run.Run([&](uint32_t rank, Bootstrap& bootstrap) {
    if (rank == 0) {
      Await(reported);
      return NextFailure(bootstrap);
    }
    const std::string error = MessageOf(bootstrap.Barrier("start"));
    reported = true;
    return error;
  });
  for (const std::string& error : errors) {
    BOOST_TEST(error == "rank 1 (nic1) waited 575 ms for rank 0 (nic0): barrier 1, start");
  }
}

BOOST_AUTO_TEST_CASE(RankThatNeverJoinsIsNamed) {
  RunOfRanks run(3, kShortDeadline);
  const auto body = [](uint32_t, Bootstrap&) { return std::string("joined"); };
  run.Start(0, body);
  run.Start(2, body);
  const auto errors = run.Wait();
  for (const uint32_t rank : {0, 2}) {
    BOOST_TEST(Has(errors[rank], "rank 0 (nic0) waited 50 ms for rank 1"));
    BOOST_TEST(Has(errors[rank], "all ranks to join"));
  }
}

BOOST_AUTO_TEST_CASE(FirstRankThatNeverListensIsNamed) {
  bootstrap::BootstrapSpec spec;
  spec.rank = 1;
  spec.ranks = 2;
  spec.nic = "mlx5_1";
  spec.rendezvous = "127.0.0.1:1";
  spec.deadline = kShortDeadline;
  const std::string error = MessageOf(Bootstrap::Join(spec));
  BOOST_TEST(Has(error, "rank 1 (mlx5_1) waited 575 ms for rank 0"));
  BOOST_TEST(Has(error, "at 127.0.0.1:1: Connection refused"));
}

BOOST_AUTO_TEST_CASE(AbortReachesRanksThatWait) {
  for (const uint32_t aborting : {0, 1}) {
    RunOfRanks run(3);
    const auto errors = run.Run([&](uint32_t rank, Bootstrap& bootstrap) {
      if (rank == aborting) bootstrap.Abort("no GPU here");
      return MessageOf(bootstrap.Barrier("start"));
    });
    const std::string name = std::to_string(aborting);
    for (const std::string& error : errors) {
      BOOST_TEST(error == "rank " + name + " (nic" + name + ") aborted: no GPU here");
    }
  }
}

BOOST_AUTO_TEST_CASE(AbortReachesARankThatOnlyChecks) {
  RunOfRanks run(2);
  const auto errors = run.Run([&](uint32_t rank, Bootstrap& bootstrap) {
    if (rank == 1) bootstrap.Abort("enough");
    for (;;) {
      const auto check = bootstrap.Check();
      if (!check.Ok()) return check.Message();
      std::this_thread::yield();
    }
  });
  for (const std::string& error : errors) BOOST_TEST(error == "rank 1 (nic1) aborted: enough");
}

BOOST_AUTO_TEST_CASE(FailureStaysTheSame) {
  RunOfRanks run(2);
  const auto errors = run.Run([&](uint32_t rank, Bootstrap& bootstrap) -> std::string {
    if (rank == 1) bootstrap.Abort("first");
    const std::string error = MessageOf(bootstrap.Barrier("start"));
    bootstrap.Abort("second");
    if (MessageOf(bootstrap.Exchange("", "x")) != error) return "another one";
    if (MessageOf(bootstrap.Check()) != error) return "another one";
    return error;
  });
  for (const std::string& error : errors) BOOST_TEST(error == "rank 1 (nic1) aborted: first");
}

BOOST_AUTO_TEST_CASE(RankThatLeavesIsMissedOnlyInALaterStep) {
  RunOfRanks run(3);
  std::atomic<bool> gone{false};
  run.Start(0, [&](uint32_t, Bootstrap& bootstrap) -> std::string {
    if (!bootstrap.Barrier("start").Ok()) return "barrier";
    Await(gone);
    if (!bootstrap.Check().Ok()) return "check";
    return MessageOf(bootstrap.Barrier("next"));
  });
  run.Start(1, [&](uint32_t, Bootstrap& bootstrap) {
    if (!bootstrap.Barrier("start").Ok()) return std::string("barrier");
    return MessageOf(bootstrap.Barrier("next"));
  });
  std::string left;
  std::thread third([&] {
    left = MessageOf(Bootstrap::Join(run.SpecOf(2)).Value()->Barrier("start"));
    gone = true;
  });
  third.join();
  const auto errors = run.Wait();
  BOOST_TEST(left == "");
  for (const uint32_t rank : {0, 1}) {
    BOOST_TEST(Has(errors[rank], "rank 0 (nic0) lost rank 2 (nic2) after"));
    BOOST_TEST(Has(errors[rank], "it has left: barrier 2, next"));
  }
}

BOOST_AUTO_TEST_CASE(RanksInDifferentStepsAreToldSo) {
  RunOfRanks run(2);
  const auto errors = run.Run([&](uint32_t rank, Bootstrap& bootstrap) {
    if (rank == 0) return MessageOf(bootstrap.Exchange("", "keys"));
    return MessageOf(bootstrap.Barrier("start"));
  });
  for (const std::string& error : errors) {
    BOOST_TEST(error == "rank 1 (nic1) is in barrier 1 while rank 0 (nic0) is in exchange 1, keys");
  }
}

BOOST_AUTO_TEST_CASE(RankThatDoesNotExistIsRefused) {
  bootstrap::BootstrapSpec spec;
  spec.rank = 2;
  spec.ranks = 2;
  BOOST_TEST(Has(MessageOf(Bootstrap::Join(spec)), "rank 2 of 2 ranks"));
  spec.rank = 0;
  spec.rendezvous = "nothing";
  BOOST_TEST(Has(MessageOf(Bootstrap::Join(spec)), "there is no port"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace ringpost

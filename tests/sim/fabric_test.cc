// Puts, gets and signals end to end on a simulated machine.
#include <boost/test/unit_test.hpp>

#include "tests/seed.h"
#include "tests/sim/fabric_fixture.h"
#include "transport/publication/batched.h"

namespace ringpost {
namespace {

constexpr auto kSelected = CompletionScope::kSelectedQp;

}  // namespace

BOOST_FIXTURE_TEST_CASE(APutMovesBytesOfAnyLengthAndNothingBesideThem, FabricFixture) {
  constexpr uint64_t kSizes[] = {1, 7, 8, 63, 64, 65, 4095, 4096, 4097, 100'000};
  for (const uint64_t size : kSizes) {
    const std::vector<uint8_t> sent = Pattern(size, size);
    fabric.Poke(local.address + 5, sent.data(), size);
    const FabricRun run = RunOne([&](SimPort& port) {
      TestEndpoint<> endpoint(port, table);
      endpoint.Put(remote.Remote(size + 3), local.Local(5, size));
      BOOST_TEST(endpoint.Quiet(kSelected).Ok());
    });
    BOOST_TEST(run.ok, run.error);
    BOOST_TEST((BytesAt(remote.address + size + 3, size) == sent), "size " << size);
    BOOST_TEST(fabric.Read<uint8_t>(remote.address + 2 * size + 3) == 0);
    const std::vector<uint8_t> zeros(kBytes, 0);
    fabric.Poke(remote.address, zeros.data(), kBytes);
  }
  BOOST_TEST(fabric.ViolationCount() == 0u);
}

BOOST_FIXTURE_TEST_CASE(APutInlineTakesTheThreadsOwnBytesAtOnce, FabricFixture) {
  RunOne([&](SimPort& port) {
    TestEndpoint<> endpoint(port, table);
    std::vector<uint8_t> payload = Pattern(28, 9);
    endpoint.PutInline(remote.Remote(0), payload.data(), 28);
    payload.assign(28, 0);
    BOOST_TEST(endpoint.Quiet(kSelected).Ok());
    BOOST_TEST((endpoint.PutInline(remote.Remote(0), payload.data(), 29).status.status ==
                Status::kInvalidArgument));
  });
  BOOST_TEST((BytesAt(remote.address, 28) == Pattern(28, 9)));
  BOOST_TEST(fabric.Read<uint32_t>(remote.address + 28) == 0u);
}

BOOST_FIXTURE_TEST_CASE(APutOfLengthZeroCompletesAndWritesNothing, FabricFixture) {
  const FabricRun run = RunOne([&](SimPort& port) {
    TestEndpoint<> endpoint(port, table);
    BOOST_TEST(endpoint.Wait(endpoint.Put(remote.Remote(0), local.Local(0, 0))).Ok());
    BOOST_TEST(endpoint.Wait(endpoint.PutInline(remote.Remote(0), nullptr, 0)).Ok());
  });
  BOOST_TEST(run.ok);
  BOOST_TEST(fabric.Counters(1).dma_writes == 0u);
  BOOST_TEST(fabric.Counters(0).cqes == 2u);
}

BOOST_FIXTURE_TEST_CASE(WhoSeesTheSignalOfAPutMayReadItsPayload, FabricFixture) {
  const std::vector<uint8_t> sent = Pattern(10'000, 4);
  std::vector<uint8_t> received(sent.size());
  fabric.Launch(0, {}, [&](SimPort& port) {
    TestEndpoint<> endpoint(port, table);
    port.StorePayload(local.address, sent.data(), sent.size());
    endpoint.PutSignal(remote.Remote(64), local.Local(0, sent.size()), remote.Remote(0), 7);
    BOOST_TEST(endpoint.Quiet(kSelected).Ok());
  });
  fabric.Launch(1, {}, [&](SimPort& port) {
    TestEndpoint<> endpoint(port, back);
    BOOST_TEST(endpoint.WaitSignal({remote.address}, 7).Ok());
    port.LoadPayload(received.data(), remote.address + 64, received.size());
  });
  const FabricRun run = fabric.Run();
  BOOST_TEST(run.ok, run.error);
  BOOST_TEST((received == sent));
  BOOST_TEST(fabric.ViolationCount() == 0u);
}

BOOST_FIXTURE_TEST_CASE(AGetFetchesThePeersBytes, FabricFixture) {
  const std::vector<uint8_t> stored = Pattern(20'000, 8);
  std::vector<uint8_t> received(stored.size());
  fabric.Poke(remote.address + 100, stored.data(), stored.size());
  RunOne([&](SimPort& port) {
    TestEndpoint<> endpoint(port, table);
    BOOST_TEST(endpoint.Wait(endpoint.Get(local.Local(9, 20'000), remote.Remote(100))).Ok());
    port.LoadPayload(received.data(), local.address + 9, received.size());
  });
  BOOST_TEST((received == stored));
  BOOST_TEST(fabric.ViolationCount() == 0u);
  BOOST_TEST(fabric.Counters(1).dma_writes == 0u);
}

BOOST_FIXTURE_TEST_CASE(APutBehindAGetCompletesAfterIt, FabricFixture) {
  const std::vector<uint8_t> stored = Pattern(50'000, 8);
  fabric.Poke(remote.address, stored.data(), stored.size());
  RunOne([&](SimPort& port) {
    TestEndpoint<> endpoint(port, table);
    const uint64_t word = 5;
    endpoint.Get(local.Local(0, stored.size()), remote.Remote(0));
    const Posted put = endpoint.PutInline(remote.Remote(100'000), &word, sizeof(word));
    BOOST_TEST(endpoint.Wait(put).Ok());
    // The CQE of the put is there, so the get's bytes are.
    uint8_t last = 0;
    port.LoadPayload(&last, local.address + stored.size() - 1, 1);
    BOOST_TEST(last == stored.back());
  });
  BOOST_TEST(fabric.ViolationCount() == 0u);
}

BOOST_FIXTURE_TEST_CASE(AFenceHoldsAPutBackUntilEarlierGetsAreDone, FabricFixture) {
  const std::vector<uint8_t> stored = Pattern(30'000, 3);
  fabric.Poke(remote.address, stored.data(), stored.size());
  const FabricRun run = RunOne([&](SimPort& port) {
    TestEndpoint<> endpoint(port, table);
    // Sends on what the get before it brings.
    endpoint.Get(local.Local(0, stored.size()), remote.Remote(0));
    BOOST_TEST(endpoint.Fence().Ok());
    endpoint.Put(remote.Remote(100'000), local.Local(0, stored.size()));
    BOOST_TEST(endpoint.Quiet(kSelected).Ok());
  });
  BOOST_TEST(run.ok);
  BOOST_TEST((BytesAt(remote.address + 100'000, stored.size()) == stored));
}

BOOST_AUTO_TEST_CASE(AWarpWideQuietGivesEveryLaneTheCompletionOfAll) {
  FabricFixture f;
  const sim::LaunchShape shape{32, 32, 1};
  std::vector<uint64_t> ends(32);
  f.fabric.Launch(0, shape, [&](SimPort& port) {
    TestEndpoint<OrderGpuFence, Cooperative> endpoint(port, f.table);
    const uint64_t word = 1000 + port.Lane();
    endpoint.PutInline(f.remote.Remote(port.Lane() * 8), &word, sizeof(word));
    BOOST_TEST(endpoint.Quiet(kSelected).Ok());
    ends[port.Lane()] = port.Now();
  });
  const FabricRun run = f.fabric.Run();
  BOOST_TEST(run.ok, run.error);
  for (uint64_t lane = 0; lane < 32; ++lane) {
    BOOST_TEST(f.fabric.Read<uint64_t>(f.remote.address + lane * 8) == 1000 + lane);
    BOOST_TEST(ends[lane] == ends[0]);
  }
  BOOST_TEST(f.fabric.Counters(0).doorbells == 1u);
  BOOST_TEST(f.fabric.Counters(0).cqes == 1u);
  BOOST_TEST(f.fabric.ViolationCount() == 0u);
}

BOOST_FIXTURE_TEST_CASE(BothNodesPutAtOnceAndDoNotMixUp, FabricFixture) {
  constexpr uint64_t kCount = 200;
  for (uint32_t node = 0; node < 2; ++node) {
    fabric.Launch(node, {}, [&, node](SimPort& port) {
      TestEndpoint<> endpoint(port, node == 0 ? table : back);
      const RegisteredMemory& target = node == 0 ? remote : local;
      for (uint64_t i = 0; i < kCount; ++i) {
        const uint64_t word = (node + 1) * 1'000'000 + i;
        BOOST_TEST(endpoint.PutInline(target.Remote(i * 8), &word, 8).status.Ok());
      }
      BOOST_TEST(endpoint.Quiet(kSelected).Ok());
    });
  }
  BOOST_TEST(fabric.Run().ok);
  for (uint64_t i = 0; i < kCount; ++i) {
    BOOST_TEST(fabric.Read<uint64_t>(remote.address + i * 8) == 1'000'000 + i);
    BOOST_TEST(fabric.Read<uint64_t>(local.address + i * 8) == 2'000'000 + i);
  }
}

BOOST_AUTO_TEST_CASE(MorePutsThanTheRingHoldsWaitForSpaceAndAllArrive) {
  FabricFixture f({}, {.depth_wqebbs = 8});
  f.RunOne([&](SimPort& port) {
    TestEndpoint<> endpoint(port, f.table);
    for (uint64_t i = 0; i < 500; ++i) {
      BOOST_REQUIRE(endpoint.PutInline(f.remote.Remote(i * 8), &i, 8).status.Ok());
    }
    BOOST_TEST(endpoint.Quiet(kSelected).Ok());
  });
  for (uint64_t i = 0; i < 500; ++i) {
    BOOST_REQUIRE_EQUAL(f.fabric.Read<uint64_t>(f.remote.address + i * 8), i);
  }
  BOOST_TEST(f.fabric.Counters(0).ring_overruns == 0u);
}

BOOST_FIXTURE_TEST_CASE(AnErrorOnOneWqeFlushesAllLaterOnesAndNoEarlierOne, FabricFixture) {
  fabric.InjectError(qps.first, 0, 3);
  const FabricRun run = RunOne([&](SimPort& port) {
    TestEndpoint<> endpoint(port, table);
    for (uint64_t i = 1; i <= 6; ++i) endpoint.PutInline(remote.Remote(i * 8), &i, 8);
    const Completion done = endpoint.Quiet(kSelected);
    BOOST_TEST((done.status == Status::kErrorCompletion));
    BOOST_TEST(done.qpn == qps.first.qpn);
    BOOST_TEST((endpoint.Quiet(kSelected).status == Status::kErrorCompletion));
  });
  BOOST_TEST(run.ok, run.error);
  for (uint64_t i = 1; i <= 6; ++i) {
    BOOST_TEST(fabric.Read<uint64_t>(remote.address + i * 8) == (i <= 3 ? i : 0));
  }
  BOOST_TEST(fabric.Counters(0).cqes == 6u);
  BOOST_TEST(fabric.Counters(0).error_cqes == 3u);
  // The collapsed CQ ends with the last flush.
  BOOST_TEST(fabric.Read<uint8_t>(qps.first.cq + abi::kErrorSyndromeOffset) == 0x05);
}

BOOST_FIXTURE_TEST_CASE(AWrongRemoteKeyIsARemoteAccessError, FabricFixture) {
  RunOne([&](SimPort& port) {
    TestEndpoint<> endpoint(port, table);
    RemoteSpan wrong = remote.Remote(0);
    wrong.rkey ^= 1;
    const Completion done = endpoint.Wait(endpoint.Put(wrong, local.Local(0, 8)));
    BOOST_TEST((done.status == Status::kErrorCompletion));
    BOOST_TEST(done.syndrome == 0x13);
    BOOST_TEST(done.vendor_syndrome == 0x88);
    BOOST_TEST(done.wqe_index == 0u);
  });
}

BOOST_AUTO_TEST_CASE(AResponderDelayMovesTheCompletionByExactlyThatMuch) {
  const auto end_of = [](const FabricOptions& options) {
    FabricFixture f(options);
    std::vector<uint64_t> ends;
    f.RunOne([&](SimPort& port) {
      TestEndpoint<> endpoint(port, f.table);
      for (uint64_t i = 0; i < 3; ++i) {
        endpoint.Wait(endpoint.PutInline(f.remote.Remote(0), &i, 8));
        ends.push_back(port.Now());
      }
    });
    return ends;
  };
  const std::vector<uint64_t> clean = end_of({});
  FabricOptions options;
  const sim::CostTable costs = sim::MakeCostTable(PlatformIb(), 0);
  // A whole number of polling turns, so that the poll that finds the CQE moves by as much.
  const sim::Duration delay = (costs.gpu.load_gpu + costs.gpu.spin) * 1000;
  sim::FaultRule rule;
  rule.wqe = 1;
  rule.amount = delay;
  options.faults.push_back(rule);
  const std::vector<uint64_t> delayed = end_of(options);
  BOOST_REQUIRE_EQUAL(delayed.size(), 3u);
  BOOST_TEST(delayed[0] == clean[0]);
  BOOST_TEST(delayed[1] == clean[1] + static_cast<uint64_t>(delay.ps));
  BOOST_TEST(delayed[2] == clean[2] + static_cast<uint64_t>(delay.ps));
}

BOOST_AUTO_TEST_CASE(ANopCompletesBehindAPutThatIsHeldUpAtItsTarget) {
  FabricOptions options;
  sim::FaultRule rule;
  rule.wqe = 0;
  rule.amount = sim::Duration::Ns(100'000);
  options.faults.push_back(rule);
  FabricFixture f(options, {.batch = 8});
  f.RunOne([&](SimPort& port) {
    TestEndpoint<OrderGpuFence, Batched> endpoint(port, f.table);
    const uint64_t word = 5;
    endpoint.PutInline(f.remote.Remote(0), &word, 8);
    // The batch is not full: a NOP ends it.
    BOOST_TEST(endpoint.Quiet(kSelected).Ok());
    BOOST_TEST(port.Now() > 100'000'000u);
  });
  BOOST_TEST(f.fabric.Read<uint64_t>(f.remote.address) == 5u);
}

BOOST_FIXTURE_TEST_CASE(AWaitThatNothingCanEndIsReportedAndDoesNotHang, FabricFixture) {
  const FabricRun run = RunOne([&](SimPort& port) {
    TestEndpoint<> endpoint(port, table);
    BOOST_TEST(!endpoint.WaitSignal({local.address}, 1).Ok());
  });
  BOOST_TEST(!run.ok);
  BOOST_TEST(run.error.find("waited for ever") != std::string::npos, run.error);
}

BOOST_AUTO_TEST_CASE(AWaitWithATimeoutEndsAtIt) {
  FabricFixture f({}, {.timeout_ps = 5'000'000});
  const FabricRun run = f.RunOne([&](SimPort& port) {
    TestEndpoint<> endpoint(port, f.table);
    const Completion done = endpoint.WaitSignal({f.local.address}, 1);
    BOOST_TEST((done.status == Status::kTimeout));
    BOOST_TEST(port.Now() >= 5'000'000u);
    BOOST_TEST(port.Now() < 5'300'000u);
  });
  BOOST_TEST(run.ok, run.error);
}

BOOST_AUTO_TEST_CASE(MoreStacksThanAllowedAreRefusedBeforeAnythingRuns) {
  FabricOptions options;
  options.stack_memory_bytes = 1 << 20;
  FabricFixture f(options);
  bool ran = false;
  f.fabric.Launch(0, {1000, 1000, 1}, [&](SimPort&) { ran = true; });
  const FabricRun run = f.fabric.Run();
  BOOST_TEST(!run.ok);
  BOOST_TEST(run.error.find("engine.stack_memory") != std::string::npos, run.error);
  BOOST_TEST(!ran);
}

BOOST_AUTO_TEST_CASE(WhatStacksAreAllowedIsToldInUnitsThatShowIt) {
  FabricOptions options;
  options.stack_memory_bytes = 64 << 10;
  FabricFixture f(options);
  f.fabric.Launch(0, {1000, 1000, 1}, [](SimPort&) {});
  const FabricRun run = f.fabric.Run();
  BOOST_TEST(run.error.find("(now 64 KiB)") != std::string::npos, run.error);
}

}  // namespace ringpost

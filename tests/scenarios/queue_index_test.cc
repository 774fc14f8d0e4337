// Counters that wrap, queues that are full, reservations that are larger than the queue.
#include <boost/test/unit_test.hpp>

#include "tests/scenarios/scenario.h"
#include "transport/block_port.h"
#include "transport/publication/last_writer.h"
#include "transport/publication/locked.h"

namespace ringpost {
namespace {

using enum sim::FaultKind;
using enum sim::FaultWhere;

// The control segment's first word in the ring: opmod, index, opcode.
uint32_t ControlWordAt(Fabric& fabric, const QpView& qp, uint64_t index) {
  const uint64_t slot = index & (qp.depth - 1);
  return abi::Swap32(fabric.Read<uint32_t>(qp.sq + slot * abi::kWqebbBytes));
}

}  // namespace

// O-01: a counter that never wraps is put into the 16-bit index of a WQE and spills over into the
// opcode modifier. Here it is masked, in the WQE as in the record.
BOOST_AUTO_TEST_CASE(ThePutAfter65536OthersHasIndexZeroAndAPlainOpcode) {
  FabricFixture f({}, {.depth_wqebbs = 128});
  constexpr uint64_t kPuts = 65'537;
  const FabricRun run = f.RunOne([&](SimPort& port) {
    TestEndpoint<> endpoint(port, f.table);
    for (uint64_t i = 0; i < kPuts; ++i) {
      BOOST_REQUIRE(endpoint.PutInline(f.remote.Remote(i % 128 * 8), &i, 8).status.Ok());
      if (i % 64 == 63) BOOST_REQUIRE(endpoint.Quiet(kThisQp).Ok());
    }
    BOOST_TEST(endpoint.Quiet(kThisQp).Ok());
  });
  BOOST_TEST(run.ok, run.error);
  BOOST_TEST(ControlWordAt(f.fabric, f.qps.first, 65'536) == 0x00000008u);
  BOOST_TEST(abi::Swap32(f.fabric.Read<uint32_t>(f.qps.first.record + 4)) == 1u);
  BOOST_TEST(f.fabric.Counters(0).cqes == kPuts);
  BOOST_TEST(RingWasSound(f.fabric));
}

// O-01, for atomics, which some code paths forgot.
BOOST_AUTO_TEST_CASE(AtomicsGoOnAcrossTheWrapOfTheirIndex) {
  FabricFixture f;
  StartAt(f.fabric, 0, f.qps.first, 65'530);
  const FabricRun run = f.RunOne([&](SimPort& port) {
    Posted last;
    for (uint64_t i = 0; i < 20; ++i) {
      last = PostFetchAdd(port, f.qps.first, f.remote.Remote(0), f.local.Local(8 * i, 8), 1);
    }
    BOOST_TEST(WaitFor(port, f.qps.first, last).Ok());
  });
  BOOST_TEST(run.ok, run.error);
  BOOST_TEST(f.fabric.Read<uint64_t>(f.remote.address) == 20u);
  for (uint64_t i = 0; i < 20; ++i) {
    BOOST_TEST(f.fabric.Read<uint64_t>(f.local.address + 8 * i) == i);
  }
  BOOST_TEST(f.fabric.Counters(0).cqes == 20u);
  BOOST_TEST(RingWasSound(f.fabric));
}

// O-02: distances between 32-bit counters, taken in 64 bits, are huge at the wrap, and a put waits
// for ever for room. Here all counters have 64 bits, and nothing waits for what is not announced.
BOOST_AUTO_TEST_CASE(ThreadsThatShareAQpPassIndexTwoToThe32) {
  FabricFixture f({}, {.depth_wqebbs = 64, .shared = true});
  StartAt(f.fabric, 0, f.qps.first, 0xffffffc0);
  constexpr uint32_t kThreads = 128;
  f.fabric.Launch(0, {kThreads, 32, 1}, [&](SimPort& port) {
    TestEndpoint<OrderGpuFence, OrderedHandoff> endpoint(port, f.table);
    for (uint64_t i = 0; i < 2; ++i) {
      const uint64_t at = (port.ThreadIndex() * 2 + i) * 64;
      BOOST_TEST(endpoint.Put(f.remote.Remote(at), f.local.Local(at, 64)).status.Ok());
    }
    BOOST_TEST(endpoint.Quiet(kThisQp).Ok());
    BOOST_TEST(port.Now() < kSecond);
  });
  const std::vector<uint8_t> sent = f.Pattern(kThreads * 2 * 64, 3);
  f.fabric.Poke(f.local.address, sent.data(), sent.size());
  const FabricRun run = f.fabric.Run();
  BOOST_TEST(run.ok, run.error);
  BOOST_TEST((f.BytesAt(f.remote.address, sent.size()) == sent));
  BOOST_TEST(f.fabric.Read<uint64_t>(f.qps.first.reserved.address) == 0x1000000c0u);
  BOOST_TEST(RingWasSound(f.fabric));
}

// O-04: slots are given out without a look at completions, and WQEs that the NIC has not read are
// overwritten. Here a reservation waits until its slot is free, for the atomic at the end too.
BOOST_AUTO_TEST_CASE(NoWqeIsOverwrittenWhileTheNicDoesNotFetch) {
  for (const uint32_t depth : {128u, 1024u}) {
    FabricFixture f({.faults = {FaultAt(kFetch, kPause, 0, 3 * kMillisecond)}},
                    {.depth_wqebbs = depth});
    constexpr uint64_t kPuts = 2304;
    constexpr uint64_t kPayload = 7184;
    const RegisteredMemory target =
        f.fabric.nic(1).Allocate(Placement::kGpu, kPuts * kPayload).Value();
    const RegisteredMemory source =
        f.fabric.nic(0).Allocate(Placement::kGpu, kPuts * kPayload).Value();
    const std::vector<uint8_t> sent = f.Pattern(kPuts * kPayload, 1);
    f.fabric.Poke(source.address, sent.data(), sent.size());
    const FabricRun run = f.RunOne([&](SimPort& port) {
      TestEndpoint<> endpoint(port, f.table);
      for (uint64_t i = 0; i < kPuts; ++i) {
        endpoint.Put(target.Remote(i * kPayload), source.Local(i * kPayload, kPayload));
      }
      endpoint.GiveBack();
      const Posted add =
          PostFetchAdd(port, f.qps.first, f.remote.Remote(0), f.local.Local(0, 8), kPuts);
      BOOST_TEST(WaitFor(port, f.qps.first, add).Ok());
      BOOST_TEST(port.Now() > 3 * kMillisecond);
    });
    BOOST_TEST(run.ok, run.error);
    BOOST_TEST((f.BytesAt(target.address, sent.size()) == sent));
    BOOST_TEST(f.fabric.Read<uint64_t>(f.remote.address) == kPuts);
    BOOST_TEST(f.fabric.Counters(0).wqes == kPuts + 1);
    BOOST_TEST(RingWasSound(f.fabric));
  }
}

// O-05: a group reserves more slots at once than the queue has and waits for itself. Here the queue
// is given to one warp after the other.
BOOST_AUTO_TEST_CASE(ABlockOfMoreThreadsThanSlotsPutsAndEnds) {
  for (const uint32_t threads : {127u, 128u, 129u, 256u, 1024u}) {
    FabricFixture f({}, {.depth_wqebbs = 128, .shared = true});
    f.fabric.Launch(0, {threads, threads, 1}, [&](SimPort& port) {
      TestEndpoint<OrderGpuFence, Cooperative> endpoint(port, f.table);
      const uint64_t at = port.ThreadIndex() * 64;
      BOOST_TEST(endpoint.Put(f.remote.Remote(at), f.local.Local(at, 64)).status.Ok());
      BOOST_TEST(endpoint.Quiet(kThisQp).Ok());
    });
    const std::vector<uint8_t> sent = f.Pattern(threads * 64, 2);
    f.fabric.Poke(f.local.address, sent.data(), sent.size());
    const FabricRun run = f.fabric.Run();
    BOOST_TEST(run.ok, threads << " threads: " << run.error);
    BOOST_TEST((f.BytesAt(f.remote.address, sent.size()) == sent), threads << " threads");
    BOOST_TEST(RingWasSound(f.fabric));
  }
}

// O-05, for a group that no queue could serve: refused at once.
BOOST_AUTO_TEST_CASE(AReservationOfMoreThanHalfTheRingIsRefusedAtOnce) {
  FabricFixture f({}, {.depth_wqebbs = 8, .max_inline = 220});
  f.RunOne([&](SimPort& port) {
    const auto made = [&](uint32_t count) {
      Indices own;
      return MakeRoom<PerThread, OrderGpuFence>(port, f.qps.first, own, {count, 0}).status;
    };
    BOOST_TEST((made(5) == Status::kInvalidArgument));
    BOOST_TEST((made(4) == Status::kOk));
  });
}

// O-06: a depth computed from the workload passes what the hardware has, and an assertion ends the
// program. Here it is refused before anything is made, with both numbers.
BOOST_AUTO_TEST_CASE(ADepthBeyondTheHardwareIsRefusedBeforeAnyQpExists) {
  Fabric fabric(PlatformIb(), FabricOptions{});
  for (const uint32_t depth : {196'609u, 65'536u, 65'533u, 0u}) {
    const Result<QpAddress> made = fabric.nic(0).CreateQp({.depth_wqebbs = depth});
    BOOST_TEST_REQUIRE(!made.Ok());
    BOOST_TEST(made.Message().find(std::to_string(depth)) != std::string::npos, made.Message());
    BOOST_TEST(made.Message().find("32768") != std::string::npos, made.Message());
  }
  BOOST_TEST((fabric.Node(0).Function().FindQp(sim::Rnic::kFirstQpn) == nullptr));
  BOOST_TEST(fabric.nic(0).CreateQp({.depth_wqebbs = 32'768}).Ok());
  FabricOptions small;
  small.nic.limits.sq_depth_wqebbs = 16'384;
  Fabric less(PlatformIb(), small);
  const Result<QpAddress> refused = less.nic(0).CreateQp({.depth_wqebbs = 32'768});
  BOOST_TEST_REQUIRE(!refused.Ok());
  BOOST_TEST(refused.Message().find("32768") != std::string::npos, refused.Message());
  BOOST_TEST(refused.Message().find("16384") != std::string::npos, refused.Message());
}

// O-07: a completion is asked for every so many WQEs; who sends fewer never sees one. Here a quiet
// asks for one itself, also with one CQE for all, and after few puts.
BOOST_AUTO_TEST_CASE(AQuietEndsOnQpsThatNeverFilledABatch) {
  constexpr uint32_t kQps = 40;
  constexpr uint64_t kBytes = 32;
  for (const uint64_t puts : {63, 10, 1}) {
    FabricFixture f;
    const std::vector<QpPair> qps =
        f.fabric.ConnectPairs(0, 1, kQps, {.depth_wqebbs = 256, .batch = 64});
    const std::vector<uint8_t> sent = f.Pattern(kQps * puts * kBytes, 8);
    f.fabric.Poke(f.local.address, sent.data(), sent.size());
    f.fabric.Launch(0, {kQps, 1, 1}, [&](SimPort& port) {
      const QpTable table{&qps[port.ThreadIndex()].first, 1, 0, 1, 0};
      TestEndpoint<OrderGpuFence, Batched> endpoint(port, table);
      for (uint64_t i = 0; i < puts; ++i) {
        const uint64_t at = (port.ThreadIndex() * puts + i) * kBytes;
        BOOST_TEST(endpoint.Put(f.remote.Remote(at), f.local.Local(at, kBytes)).status.Ok());
      }
      BOOST_TEST(endpoint.Quiet(kThisQp).Ok());
    });
    const FabricRun run = f.fabric.Run();
    BOOST_TEST(run.ok, run.error);
    BOOST_TEST((f.BytesAt(f.remote.address, sent.size()) == sent));
    // One for each quiet, and none that nobody asked for.
    BOOST_TEST(f.fabric.Counters(0).cqes == kQps);
  }
}

// O-05: a group that reserves more slots than the queue has waits for completions of WQEs that it
// has not published. Here its threads take turns.
BOOST_AUTO_TEST_CASE(ABlockLargerThanItsQueuePutsInTurns) {
  for (const uint32_t threads : {127u, 128u, 129u, 256u, 1024u}) {
    FabricFixture f({}, {.depth_wqebbs = 128, .timeout_ps = kSecond});
    const auto bytes = f.Pattern(threads * 64, threads);
    f.fabric.Poke(f.local.address, bytes.data(), bytes.size());
    f.fabric.Launch(0, {threads, threads}, [&](SimPort& port) {
      BlockPort<SimPort> block(port);
      Endpoint<BlockPort<SimPort>, Cooperative, OrderGpuFence> endpoint(block, f.table);
      const uint64_t at = block.Lane() * 64;
      BOOST_TEST(endpoint.Put(f.remote.Remote(at), f.local.Local(at, 64)).status.Ok());
      BOOST_TEST(endpoint.Quiet(kThisQp).Ok());
    });
    const FabricRun run = f.fabric.Run();
    BOOST_TEST(run.ok, threads << " threads: " << run.error);
    BOOST_TEST((f.BytesAt(f.remote.address, bytes.size()) == bytes), threads << " threads");
    BOOST_TEST(f.fabric.ViolationCount() == 0u);
    BOOST_TEST(RingWasSound(f.fabric));
  }
}

// O-14: the threads leave the producer index where the host thread does not look, and posts that
// nobody waits for do not advance the ready head, so that a later one waits for its turn for ever.
template <class Publication>
void RingByHost(uint32_t block) {
  constexpr uint64_t kPuts = 400;  // of each thread
  FabricFixture f({}, {.depth_wqebbs = 128,
                       .batch = 8,
                       .shared = true,
                       .timeout_ps = kSecond,
                       .doorbell = DoorbellMode::kCpu});
  f.RunOne([&](SimPort& port) {
    Endpoint<SimPort, Locked, OrderGpuFence> endpoint(port, f.table);
    const uint64_t start = port.Now();
    endpoint.Put(f.remote.Remote(0), f.local.Local(0, 4096));
    BOOST_TEST(endpoint.Quiet(kThisQp).Ok());
    BOOST_TEST(port.Now() - start < 5 * kMillisecond);
  });
  f.fabric.Launch(0, {2 * block, block}, [&](SimPort& port) {
    Endpoint<SimPort, Publication, OrderGpuFence> endpoint(port, f.table);
    const RemoteSpan target = f.remote.Remote(port.ThreadIndex() * 8);
    for (uint64_t i = 0; i < kPuts; ++i) {
      const Posted put = endpoint.PutValue(target, i + 1);
      BOOST_REQUIRE((i % 2 == 0 ? put.status : endpoint.Wait(put)).Ok());
    }
    BOOST_TEST(endpoint.Quiet(kThisQp).Ok());
  });
  const FabricRun run = f.fabric.Run();
  BOOST_TEST(run.ok, run.error);
  for (uint64_t thread = 0; thread < 2 * block; ++thread) {
    BOOST_TEST(f.fabric.Read<uint64_t>(f.remote.address + thread * 8) == kPuts);
  }
  const QpView& qp = f.qps.first;
  const uint64_t reserved = f.fabric.Read<uint64_t>(qp.reserved.address);
  BOOST_TEST(f.fabric.Read<uint64_t>(qp.ready.address) == reserved);
  BOOST_TEST(f.fabric.Read<uint64_t>(qp.producer.address) == reserved);
  BOOST_TEST(f.fabric.ViolationCount() == 0u);
  BOOST_TEST(RingWasSound(f.fabric));
}

BOOST_AUTO_TEST_CASE(PostsWithAndWithoutAWaitShareAQueueThatTheHostRings) {
  RingByHost<Cooperative>(32);
  RingByHost<OrderedHandoff>(1);
  RingByHost<LastWriter>(1);
}

}  // namespace ringpost

// Sizes, addresses and peers at the edge of what is allowed, and links that go away.
#include <boost/test/unit_test.hpp>
#include <set>

#include "sim/nic/bring_up.h"
#include "tests/scenarios/scenario.h"

namespace ringpost {
namespace {

constexpr uint64_t kGibibyte = 1ull << 30;

// The outcome of one 8-byte put to `target` and that of the next put.
struct Outcome {
  Completion first, next;
};

Outcome PutTo(FabricFixture& f, RemoteSpan target, uint64_t bytes) {
  Outcome outcome;
  const FabricRun run = f.RunOne([&](SimPort& port) {
    TestEndpoint<> endpoint(port, f.table);
    outcome.first = endpoint.Wait(endpoint.Put(target, f.local.Local(0, bytes)));
    outcome.next = endpoint.Wait(endpoint.Put(f.remote.Remote(64), f.local.Local(0, 8)));
  });
  BOOST_TEST(run.ok, run.error);
  return outcome;
}

}  // namespace

// O-22: a signal to oneself goes to a QP that does not exist. Here a QP may lead back to its own
// node.
BOOST_AUTO_TEST_CASE(ARankSignalsItselfAndItsPeer) {
  FabricFixture f;
  const QpPair self[2] = {f.fabric.ConnectPair(0, 0, {}), f.fabric.ConnectPair(1, 1, {})};
  for (uint32_t node = 0; node < 2; ++node) {
    f.fabric.Launch(node, {}, [&, node](SimPort& port) {
      const RegisteredMemory& mine = node == 0 ? f.local : f.remote;
      const RegisteredMemory& theirs = node == 0 ? f.remote : f.local;
      const QpView& peer = node == 0 ? f.qps.first : f.qps.second;
      Posted to_self, to_peer;
      for (int i = 0; i < 100; ++i) {
        to_self = PostFetchAdd(port, self[node].first, mine.Remote(0), mine.Local(64, 8), 1);
        to_peer = PostFetchAdd(port, peer, theirs.Remote(0), mine.Local(128, 8), 1);
      }
      BOOST_TEST(WaitFor(port, self[node].first, to_self).Ok());
      BOOST_TEST(WaitFor(port, peer, to_peer).Ok());
    });
  }
  const FabricRun run = f.fabric.Run();
  BOOST_TEST(run.ok, run.error);
  BOOST_TEST(f.fabric.Read<uint64_t>(f.local.address) == 200u);
  BOOST_TEST(f.fabric.Read<uint64_t>(f.remote.address) == 200u);
}

// O-32: a length of more than 32 bits is cut to its low ones. Here its first piece is already more
// than there is, and an error; nothing is moved.
BOOST_FIXTURE_TEST_CASE(ALengthOfMoreThan32BitsIsNotCut, FabricFixture) {
  const FabricRun run = RunOne([&](SimPort& port) {
    TestEndpoint<> endpoint(port, table);
    const LocalSpan span{local.address, 4 * kGibibyte + 8, local.lkey};
    const Completion done = endpoint.Wait(endpoint.Put(remote.Remote(0), span));
    BOOST_TEST((done.status == Status::kErrorCompletion));
  });
  BOOST_TEST(run.ok, run.error);
  BOOST_TEST(fabric.Read<uint64_t>(remote.address) == 0u);
}

// O-32, up to the largest: one WQE, whose last byte arrives before its signal. One byte more than
// the NIC takes is another WQE, before the signal too.
BOOST_AUTO_TEST_CASE(AMessageOfTheLargestSizeIsOneWqeAndOneByteMoreAnother) {
  const uint64_t largest = Sized(1 << 18, kGibibyte);
  FabricOptions options;
  options.nic.limits.message_bytes = static_cast<uint32_t>(largest);
  Fabric fabric(PlatformIb(), options);
  const QpPair qps = fabric.ConnectPair(0, 1, {});
  const RegisteredMemory source = fabric.nic(0).Allocate(Placement::kGpu, largest + 8).Value();
  const RegisteredMemory target = fabric.nic(1).Allocate(Placement::kGpu, largest + 8).Value();
  const RegisteredMemory flag = fabric.nic(1).Allocate(Placement::kGpu, 8).Value();
  const QpTable table{&qps.first, 1, 0, 1, 0};
  uint8_t tag = 0;
  uint64_t wqes = 0;
  for (const uint64_t bytes : {largest - 1, largest, largest + 1}) {
    const uint8_t last[2] = {++tag, 0xee};  // the second is beyond the message
    fabric.Poke(source.address + bytes - 1, last, sizeof(last));
    fabric.Launch(0, {}, [&](SimPort& port) {
      TestEndpoint<> endpoint(port, table);
      endpoint.PutSignal(target.Remote(0), source.Local(0, bytes), flag.Remote(0), tag);
      BOOST_TEST(endpoint.Quiet(kThisQp).Ok());
    });
    fabric.Launch(1, {}, [&](SimPort& port) {
      const QpTable back{&qps.second, 1, 0, 1, 0};
      TestEndpoint<> endpoint(port, back);
      BOOST_TEST(endpoint.WaitSignal({flag.address}, tag).Ok());
      uint8_t found[2];
      port.LoadPayload(found, target.address + bytes - 1, sizeof(found));
      BOOST_TEST(found[0] == tag);
      BOOST_TEST(found[1] == 0);
    });
    const FabricRun run = fabric.Run();
    BOOST_TEST(run.ok, run.error);
    wqes += bytes > largest ? 3 : 2;
    BOOST_TEST(fabric.Counters(0).wqes == wqes);
  }
}

// O-33: a collective of size 0 hangs in its quiet. Here a put of nothing is a WQE without data that
// completes, as does a get of nothing, and its signal arrives.
BOOST_FIXTURE_TEST_CASE(PutsOfNothingCompleteAndTheirSignalsArrive, FabricFixture) {
  constexpr uint64_t kRounds = 1000;
  const FabricRun run = RunOne([&](SimPort& port) {
    TestEndpoint<> endpoint(port, table);
    for (uint64_t i = 1; i <= kRounds; ++i) {
      BOOST_TEST(endpoint.Put(remote.Remote(64), {0, 0, 0}).status.Ok());
      BOOST_TEST(endpoint.PutSignal(remote.Remote(64), {0, 0, 0}, remote.Remote(0), i).status.Ok());
      BOOST_TEST(endpoint.PutInline(remote.Remote(8), &i, 8).status.Ok());
    }
    BOOST_TEST(endpoint.Get(local.Local(0, 0), remote.Remote(0)).status.Ok());
    BOOST_TEST(endpoint.Quiet(kThisQp).Ok());
    const uint64_t before = port.Now();
    BOOST_TEST(endpoint.Quiet(kThisQp).Ok());
    BOOST_TEST(port.Now() - before < kMillisecond);
  });
  BOOST_TEST(run.ok, run.error);
  BOOST_TEST(fabric.Read<uint64_t>(remote.address) == kRounds);
  BOOST_TEST(fabric.Read<uint64_t>(remote.address + 8) == kRounds);
  BOOST_TEST((BytesAt(remote.address + 16, 256) == std::vector<uint8_t>(256)));
}

// O-34: a write out of range is logged and completes as a success. Here each is a remote access
// error, moves no byte, and the next WQE is flushed; ranges that wrap at 2^64 too.
BOOST_AUTO_TEST_CASE(AWriteOutOfRangeFailsAndMovesNothing) {
  const auto ends_of = [](FabricFixture& f) { return f.remote.address + FabricFixture::kBytes; };
  {
    FabricFixture f;
    BOOST_TEST(PutTo(f, {ends_of(f) - 8, f.remote.rkey}, 8).first.Ok());
  }
  for (int bad = 0; bad < 6; ++bad) {
    FabricFixture f;
    const uint64_t word = ~0ull;
    f.fabric.Poke(f.local.address, &word, 8);
    RemoteSpan target{ends_of(f) - 7, f.remote.rkey};
    if (bad == 1) target.address = f.remote.address - 1;
    if (bad == 2) target.address = ~0ull - 7;
    if (bad == 3) target = {f.remote.address, f.remote.rkey ^ 0x100};
    // A key for reading alone; one whose range a put leaves by passing 2^64, with memory behind it.
    if (bad >= 4) {
      sim::Rnic& nic = f.fabric.Node(1).Function();
      sim::MemoryRegion region{f.remote.address, f.remote.address, 4096,
                               nic.FindQp(f.qps.second.qpn)->pd, sim::kMayReadRemotely};
      if (bad == 5) region = {~0ull - 63, f.remote.address, 32, region.pd, sim::kAllRights};
      target = {region.iova, nic.Keys().Register(region)};
    }
    const uint64_t bytes = bad == 5 ? 72 : bad == 2 ? 16 : 8;
    const Outcome outcome = PutTo(f, target, bytes);
    BOOST_TEST((outcome.first.status == Status::kErrorCompletion), "case " << bad);
    BOOST_TEST(int{outcome.first.syndrome} == 0x13, "case " << bad);
    BOOST_TEST((outcome.next.status == Status::kErrorCompletion), "case " << bad);
    // The last entry of the collapsed CQ is the flush.
    BOOST_TEST(f.fabric.Read<uint8_t>(f.qps.first.cq + abi::kErrorSyndromeOffset) == 0x05);
    const std::vector<uint8_t> zeros(FabricFixture::kBytes);
    BOOST_TEST((f.BytesAt(f.remote.address, zeros.size()) == zeros), "case " << bad);
    BOOST_TEST(f.fabric.Counters(1).access_violations == 1u, "case " << bad);
  }
}

// O-35: more inline bytes than the queue was made for. Here the limit that was granted holds: one
// more is refused, and a put from memory takes its place.
BOOST_AUTO_TEST_CASE(InlineGoesUpToWhatWasGrantedAndNoFurther) {
  for (const uint32_t granted : {0u, 1u, 44u, 64u, 220u}) {
    FabricFixture f({}, {.max_inline = granted});
    const std::vector<uint8_t> payload = f.Pattern(granted + 1, 5);
    f.fabric.Poke(f.local.address, payload.data(), payload.size());
    const FabricRun run = f.RunOne([&](SimPort& port) {
      TestEndpoint<> endpoint(port, f.table);
      BOOST_TEST(endpoint.PutInline(f.remote.Remote(0), payload.data(), granted).status.Ok());
      BOOST_TEST(
          (endpoint.PutInline(f.remote.Remote(4096), payload.data(), granted + 1).status.status ==
           Status::kInvalidArgument));
      endpoint.Put(f.remote.Remote(8192), f.local.Local(0, granted + 1));
      BOOST_TEST(endpoint.Quiet(kThisQp).Ok());
    });
    BOOST_TEST(run.ok, run.error);
    const std::vector<uint8_t> most(payload.begin(), payload.end() - 1);
    BOOST_TEST((f.BytesAt(f.remote.address, granted) == most));
    BOOST_TEST(f.fabric.Read<uint8_t>(f.remote.address + 4096) == 0u);
    BOOST_TEST((f.BytesAt(f.remote.address + 8192, granted + 1) == payload));
  }
}

// O-36: an address is rounded down to a page, and bytes land elsewhere without an error. Here plain
// data has any alignment; an atomic must have its own and is refused otherwise.
BOOST_AUTO_TEST_CASE(UnalignedDataLandsExactlyAndAnUnalignedAtomicIsRefused) {
  constexpr uint64_t kGuard = 64;
  FabricFixture f;
  const std::vector<uint8_t> sent = f.Pattern(FabricFixture::kBytes, 7);
  f.fabric.Poke(f.local.address, sent.data(), sent.size());
  for (const uint64_t offset : {0, 1, 3, 63, 65'535}) {
    for (const uint64_t bytes : {1, 13, 4095, 4097, 500'001}) {
      const std::vector<uint8_t> zeros(bytes + 2 * kGuard);
      f.fabric.Poke(f.remote.address + offset, zeros.data(), zeros.size());
      const FabricRun run = f.RunOne([&](SimPort& port) {
        TestEndpoint<> endpoint(port, f.table);
        endpoint.Put(f.remote.Remote(offset + kGuard), f.local.Local(offset, bytes));
        BOOST_TEST(endpoint.Quiet(kThisQp).Ok());
      });
      BOOST_TEST(run.ok, run.error);
      std::vector<uint8_t> expected(bytes + 2 * kGuard);
      std::copy_n(sent.begin() + static_cast<int64_t>(offset), bytes, expected.begin() + kGuard);
      BOOST_TEST((f.BytesAt(f.remote.address + offset, expected.size()) == expected));
    }
  }
  f.RunOne([&](SimPort& port) {
    const Posted add = PostFetchAdd(port, f.qps.first, f.remote.Remote(4), f.local.Local(0, 8), 1);
    const Completion done = WaitFor(port, f.qps.first, add);
    BOOST_TEST((done.status == Status::kErrorCompletion));
    BOOST_TEST(int{done.syndrome} == 0x12);
  });
}

// O-44: host and device index the table of QPs in different orders, and data goes to another peer.
// Here a QP is found by the view that its connection gave.
BOOST_AUTO_TEST_CASE(EachQpOfEachPeerLeadsToThatPeer) {
  constexpr uint32_t kPeers = 4;
  constexpr uint32_t kQps = 3;
  Fabric fabric(PlatformIb(), {.nodes = kPeers + 1});
  std::vector<QpView> views;
  std::vector<RegisteredMemory> memory(1);
  std::set<uint32_t> numbers;
  for (uint32_t peer = 1; peer <= kPeers; ++peer) {
    memory.push_back(fabric.nic(peer).Allocate(Placement::kGpu, 4096).Value());
    for (const QpPair& pair : fabric.ConnectPairs(0, peer, kQps)) {
      views.push_back(pair.first);
      numbers.insert(pair.first.qpn);
    }
  }
  BOOST_TEST(numbers.size() == kPeers * kQps);
  fabric.Launch(0, {}, [&](SimPort& port) {
    for (uint32_t i = 0; i < kPeers * kQps; ++i) {
      const uint32_t peer = i / kQps;
      const QpTable table{views.data(), kPeers * kQps, peer * kQps, kQps, i};
      TestEndpoint<> endpoint(port, table);
      const uint64_t tag = 1000 * (peer + 1) + i % kQps;
      endpoint.PutInline(memory[peer + 1].Remote(i % kQps * 8), &tag, 8);
      BOOST_TEST(endpoint.Quiet(CompletionScope::kPeer).Ok());
    }
  });
  const FabricRun run = fabric.Run();
  BOOST_TEST(run.ok, run.error);
  for (uint32_t peer = 1; peer <= kPeers; ++peer) {
    for (uint64_t qp = 0; qp < kQps; ++qp) {
      BOOST_TEST(fabric.Read<uint64_t>(memory[peer].address + qp * 8) == 1000 * peer + qp);
    }
  }
}

}  // namespace ringpost

// The ordering checker: what it reports, and what it must not report.
#include <boost/test/unit_test.hpp>
#include <string>

#include "tests/sim/fabric_fixture.h"

namespace ringpost {
namespace {

using sim::Access;
using sim::AgentId;
using sim::AgentKind;
using sim::HomeKind;
using sim::Time;

const Site kStoreSite{"tests/sim/here.cc", 11};
const Site kReadSite{"tests/sim/there.cc", 22};
const Site kBellSite{"tests/sim/bell.cc", 33};

// Two threads of different CTAs of node 0, one of the first's CTA, and a QP of its NIC.
struct Machine {
  explicit Machine(bool nic_reads_l2 = true)
      : memory(engine, {sim::VisibilityMode::kTimed, nic_reads_l2, 1, sim::Duration::Ns(1000)}) {
    writer = memory.AddAgent({AgentKind::kGpuThread, 0, 1, 1});
    reader = memory.AddAgent({AgentKind::kGpuThread, 0, 2, 2});
    neighbour = memory.AddAgent({AgentKind::kGpuThread, 0, 1, 3});
    nic = memory.AddAgent({AgentKind::kNic, 0, 0, 0});
    gpu = memory.Space().Allocate({HomeKind::kGpu, 0}, 4096);
    host = memory.Space().Allocate({HomeKind::kHost, 0}, 4096);
  }

  Access At(AgentId agent, uint64_t address, Site site) {
    return {agent, address, engine.Now(), site};
  }
  void Write(uint64_t address) {
    const uint64_t value = 1;
    memory.Write(At(writer, address, kStoreSite), &value, sizeof(value), {});
  }
  void Read(AgentId agent, uint64_t address) {
    uint64_t value = 0;
    memory.Read(At(agent, address, kReadSite), &value, sizeof(value));
  }
  // Hands over through the flag at the end of GPU memory.
  void HandOver(AgentId to, Order release, Order acquire, Scope scope) {
    memory.Store(At(writer, gpu + 1024, kStoreSite), 1, 8, release, scope, {});
    memory.Load(At(to, gpu + 1024, kReadSite), 8, acquire, scope);
  }
  // Rings after a fence of this scope; the NIC then uses 8 bytes at `address` as a WQE.
  void FenceAndRing(uint64_t address, Scope scope) {
    memory.Fence(writer, Order::kAcqRel, scope);
    memory.AcceptDoorbell(nic, memory.Release(writer, Order::kRelaxed, Scope::kSystem, kBellSite));
    memory.Check(At(nic, address, {}), 8, nullptr, {sim::Consumer::kNicWqe, 0x123, 5, kBellSite});
  }
  uint64_t Reports() { return memory.Reports().Count(); }
  std::string Line() {
    return memory.Reports().Lines().empty() ? "" : memory.Reports().Lines().front();
  }

  sim::Engine engine;
  sim::Memory memory;
  AgentId writer = 0, reader = 0, neighbour = 0, nic = 0;
  uint64_t gpu = 0, host = 0;
};

bool Has(const std::string& line, const std::string& part) {
  return line.find(part) != std::string::npos;
}

// Puts 8 bytes that the kernel wrote, on a fabric that may fail the first WQE.
template <class Ordering>
std::vector<std::string> PutWith(bool fails, QpSpec spec = {}, bool nic_reads_l2 = true) {
  FabricOptions options;
  options.nic_reads_l2 = nic_reads_l2;
  FabricFixture f(options, spec);
  if (fails) f.fabric.InjectError(f.qps.first, 0, 0);
  f.RunOne([&f](SimPort& port) {
    TestEndpoint<Ordering> endpoint(port, f.table);
    const uint64_t word = 77;
    port.StorePayload(f.local.address, &word, sizeof(word));
    endpoint.Put(f.remote.Remote(0), f.local.Local(0, sizeof(word)));
    endpoint.Quiet(CompletionScope::kSelectedQp);
  });
  return f.fabric.Violations();
}

}  // namespace

BOOST_FIXTURE_TEST_CASE(AReleaseAndAnAcquireOrderAPayload, Machine) {
  Write(gpu);
  HandOver(reader, Order::kRelease, Order::kAcquire, Scope::kGpu);
  Read(reader, gpu);
  BOOST_TEST(Reports() == 0u, Line());
}

BOOST_FIXTURE_TEST_CASE(AMissingReleaseIsReportedWithTheFenceThatWouldDo, Machine) {
  Write(gpu);
  HandOver(reader, Order::kRelaxed, Order::kAcquire, Scope::kGpu);
  Read(reader, gpu);
  BOOST_TEST(Reports() == 1u);
  BOOST_TEST(Has(Line(), "tests/sim/here.cc:11"), Line());
  BOOST_TEST(Has(Line(), "thread 1 read at tests/sim/there.cc:22"), Line());
  BOOST_TEST(Has(Line(), "missing: fence.acq_rel.gpu (or a release store) after the store"),
             Line());
}

BOOST_FIXTURE_TEST_CASE(AMissingAcquireIsReportedAsOne, Machine) {
  Write(gpu);
  HandOver(reader, Order::kRelease, Order::kRelaxed, Scope::kGpu);
  Read(reader, gpu);
  BOOST_TEST(Reports() == 1u);
  BOOST_TEST(Has(Line(), "missing: an acquire at gpu scope by the reading side"), Line());
}

BOOST_FIXTURE_TEST_CASE(AnAcquireFenceAfterTheLoadIsAsGoodAsAnAcquireLoad, Machine) {
  Write(gpu);
  HandOver(reader, Order::kRelease, Order::kRelaxed, Scope::kGpu);
  memory.Fence(reader, Order::kAcquire, Scope::kGpu);
  Read(reader, gpu);
  BOOST_TEST(Reports() == 0u, Line());
}

// The reader's own read-modify-write, which it loads, has carried on the writer's release.
BOOST_FIXTURE_TEST_CASE(AThreadAcquiresWhatItsOwnUpdateCarriedOn, Machine) {
  Write(gpu);
  memory.Store(At(writer, gpu + 1024, kStoreSite), 1, 8, Order::kRelease, Scope::kGpu, {});
  memory.Modify(At(reader, gpu + 1024, kReadSite), 8, Order::kRelease, Scope::kGpu,
                [](uint64_t old) { return old + 1; });
  memory.Load(At(reader, gpu + 1024, kReadSite), 8, Order::kAcquire, Scope::kGpu);
  Read(reader, gpu);
  BOOST_TEST(Reports() == 0u, Line());
}

BOOST_FIXTURE_TEST_CASE(AnUpdateThatNobodyAcquiresOrdersNothing, Machine) {
  Write(gpu);
  memory.Store(At(writer, gpu + 1024, kStoreSite), 1, 8, Order::kRelease, Scope::kGpu, {});
  memory.Modify(At(reader, gpu + 1024, kReadSite), 8, Order::kRelease, Scope::kGpu,
                [](uint64_t old) { return old + 1; });
  Read(reader, gpu);
  BOOST_TEST(Reports() == 1u);
}

BOOST_FIXTURE_TEST_CASE(CtaScopeOrdersWithinACtaAndNotBetweenTwo, Machine) {
  Write(gpu);
  HandOver(neighbour, Order::kRelease, Order::kAcquire, Scope::kCta);
  Read(neighbour, gpu);
  BOOST_TEST(Reports() == 0u, Line());
  HandOver(reader, Order::kRelease, Order::kAcquire, Scope::kCta);
  Read(reader, gpu);
  BOOST_TEST(Reports() == 1u);
  BOOST_TEST(Has(Line(), "fence.acq_rel.gpu"), Line());
}

BOOST_FIXTURE_TEST_CASE(AStoreAfterTheReleaseIsNotCoveredByIt, Machine) {
  HandOver(reader, Order::kRelease, Order::kAcquire, Scope::kGpu);
  Write(gpu);
  Read(reader, gpu);
  BOOST_TEST(Reports() == 1u);
}

BOOST_FIXTURE_TEST_CASE(AWarpBarrierOrdersItsLanes, Machine) {
  const AgentId lane = memory.AddAgent({AgentKind::kGpuThread, 0, 1, 1});
  Write(gpu);
  memory.Barrier({writer, lane}, sim::kGroupBit | 1);
  Read(lane, gpu);
  BOOST_TEST(Reports() == 0u, Line());
}

BOOST_FIXTURE_TEST_CASE(ALaterReleaselessStoreDoesNotHideAnEarlierRelease, Machine) {
  memory.Fence(writer, Order::kRelease, Scope::kGpu);
  Write(gpu);
  HandOver(reader, Order::kRelease, Order::kRelaxed, Scope::kGpu);
  memory.Store(At(writer, gpu + 2048, kStoreSite), 2, 8, Order::kRelaxed, Scope::kGpu, {});
  memory.Load(At(reader, gpu + 2048, kReadSite), 8, Order::kRelaxed, Scope::kGpu);
  memory.Fence(reader, Order::kAcquire, Scope::kGpu);
  Read(reader, gpu);
  BOOST_TEST(Reports() == 0u, Line());
}

BOOST_FIXTURE_TEST_CASE(TheNicReadsGpuMemoryAfterAGpuScopeFenceBeforeTheDoorbell, Machine) {
  Write(gpu);
  FenceAndRing(gpu, Scope::kGpu);
  BOOST_TEST(Reports() == 0u, Line());
}

BOOST_FIXTURE_TEST_CASE(TheNicReadsHostMemoryOnlyAfterASystemScopeFence, Machine) {
  Write(host);
  FenceAndRing(host, Scope::kGpu);
  BOOST_TEST(Reports() == 1u);
  BOOST_TEST(Has(Line(), "missing: fence.acq_rel.sys"), Line());
  FenceAndRing(host, Scope::kSystem);
  BOOST_TEST(Reports() == 1u);
}

BOOST_AUTO_TEST_CASE(ReadsPtxDemandsSystemScopeForGpuMemoryToo) {
  Machine machine(false);
  machine.Write(machine.gpu);
  machine.FenceAndRing(machine.gpu, Scope::kGpu);
  BOOST_TEST(machine.Reports() == 1u);
  machine.FenceAndRing(machine.gpu, Scope::kSystem);
  BOOST_TEST(machine.Reports() == 1u);
}

BOOST_FIXTURE_TEST_CASE(AReportNamesStoreSlotQpDoorbellAndFence, Machine) {
  Write(gpu);
  FenceAndRing(gpu, Scope::kCta);
  for (const char* part :
       {"the store to ", "by agent 0 at tests/sim/here.cc:11", "slot 5 of QP 0x123",
        "announced by the doorbell at tests/sim/bell.cc:33", "fence.acq_rel.gpu", "(1 time)"}) {
    BOOST_TEST(Has(Line(), part), Line());
  }
}

BOOST_FIXTURE_TEST_CASE(TheSamePairOfProgramPointsIsOneLineWithACount, Machine) {
  Write(gpu);
  for (int i = 0; i < 3; ++i) Read(reader, gpu);
  BOOST_TEST(memory.Reports().Lines().size() == 1u);
  BOOST_TEST(Has(Line(), "(3 times)"), Line());
}

BOOST_FIXTURE_TEST_CASE(ACheckerThatIsOffReportsNothing, Machine) {
  memory.Reports().Enable(false);
  Write(gpu);
  Read(reader, gpu);
  BOOST_TEST(Reports() == 0u);
}

BOOST_AUTO_TEST_CASE(APutWithoutOrderIsReportedForItsWqeAndItsPayload) {
  const std::vector<std::string> lines = PutWith<OrderNone>(false);
  BOOST_REQUIRE_EQUAL(lines.size(), 2u);
  BOOST_TEST(Has(lines[0], "fetched the WQE in slot 0 of QP 0x100"), lines[0]);
  BOOST_TEST(Has(lines[0], "transport/poster.h:"), lines[0]);
  BOOST_TEST(Has(lines[1], "read the payload of the WQE in slot 0 of QP 0x100"), lines[1]);
  BOOST_TEST(Has(lines[1], "tests/sim/checker_test.cc:"), lines[1]);
}

BOOST_AUTO_TEST_CASE(GpuScopePoliciesAreCleanInGpuMemoryAndNotInHostMemory) {
  QpSpec host;
  host.placement = Placement::kHost;
  BOOST_TEST(PutWith<OrderGpuFence>(false).empty());
  BOOST_TEST(PutWith<OrderGpuRelease>(false).empty());
  BOOST_TEST(!PutWith<OrderGpuFence>(false, host).empty());
  BOOST_TEST(PutWith<OrderSystemFence>(false, host).empty());
  BOOST_TEST(PutWith<OrderSystemRelease>(false, host).empty());
  BOOST_TEST(!PutWith<OrderGpuFence>(false, {}, false).empty());
  BOOST_TEST(PutWith<OrderSystemFence>(false, {}, false).empty());
}

BOOST_AUTO_TEST_CASE(ADoorbellRecordIsConsumedOnlyWhenTheQpEntersError) {
  BOOST_TEST(PutWith<OrderGpuFence>(false).empty());
  const std::vector<std::string> lines = PutWith<OrderGpuFence>(true);
  BOOST_REQUIRE_EQUAL(lines.size(), 1u);
  BOOST_TEST(Has(lines[0], "took an index from the doorbell record of QP 0x100"), lines[0]);
  BOOST_TEST(PutWith<OrderGpuFenceDbrec>(true).empty());
}

}  // namespace ringpost

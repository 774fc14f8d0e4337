// When a paced NIC's completions are due: as in virtual time, where nothing else is under way.
#include <array>
#include <boost/test/unit_test.hpp>

#include "backends/sim/fabric.h"
#include "sim/service/paced_completions.h"
#include "transport/publication/per_thread.h"

namespace ringpost {
namespace {

using sim::service::Lateness;
using sim::service::Pace;

// From the fetch of a put's WQE to its CQE in memory, in the simulator.
sim::Duration SimulatedPut(Fabric& fabric, uint64_t bytes, bool in_wqe) {
  const QpPair qps = fabric.ConnectPair(0, 1, {.max_inline = 64});
  const RegisteredMemory source = fabric.nic(0).Allocate(Placement::kGpu, bytes).Value();
  const RegisteredMemory target = fabric.nic(1).Allocate(Placement::kGpu, bytes).Value();
  const QpTable table{&qps.first, 1, 0, 1, 0};
  fabric.Launch(0, {.threads = 1}, [&](SimPort& port) {
    Endpoint<SimPort, PerThread, OrderSystemFence> endpoint(port, table);
    const uint64_t word = 1;
    if (in_wqe) {
      endpoint.PutInline(target.Remote(0), &word, 8);
    } else {
      endpoint.Put(target.Remote(0), source.Local(0, bytes));
    }
    BOOST_TEST(endpoint.Quiet(CompletionScope::kSelectedQp).Ok());
  });
  BOOST_TEST(fabric.Run().error == "");
  sim::Time begin, end;
  for (const sim::TraceStep& step : fabric.Steps().Steps()) {
    if (step.stage == sim::Stage::kSerial) begin = step.begin;
    if (step.stage == sim::Stage::kCqe) end = step.end;
  }
  return end - begin;
}

BOOST_AUTO_TEST_CASE(APutIsDueWhenTheSimulatorCompletesIt) {
  for (const bool in_wqe : {true, false}) {
    for (const uint64_t bytes : {8, 4096, 10'000}) {
      if (in_wqe && bytes > 8) continue;
      Fabric fabric("p_ib", {.trace = true});
      Pace pace({.costs = fabric.Costs()}, {});
      Pace::Lane lane;
      const sim::Time fetched = pace.Fetched({}, 1);
      const sim::Time due = pace.Complete(
          lane, fetched,
          {.bytes = bytes, .packets = uint32_t(bytes + 4095) / 4096, .reads_payload = !in_wqe});
      BOOST_TEST((due - fetched).ps == SimulatedPut(fabric, bytes, in_wqe).ps);
    }
  }
}

BOOST_AUTO_TEST_CASE(ADoorbellThatABusHasDeliveredIsNotDeliveredAgain) {
  Fabric fabric("p_ib");
  const sim::CostTable& costs = fabric.Costs();
  Pace of_host({.costs = costs}, {});
  Pace of_gpu({.costs = costs, .doorbell_delivered = true}, {});
  BOOST_TEST((of_host.Fetched({}, 1) - of_gpu.Fetched({}, 1)).ps ==
             costs.path.doorbell_delivery.ps);
}

BOOST_AUTO_TEST_CASE(PutsThatFollowAreDueOneServiceTimeOfTheSlowestStageApart) {
  Fabric fabric("p_ib");
  const sim::CostTable& costs = fabric.Costs();
  Pace pace({.costs = costs}, {});
  Pace::Lane lane;
  const sim::Time fetched = pace.Fetched({}, 100);
  sim::Time last = pace.Complete(lane, fetched, {.bytes = 8});
  const sim::Time first = last;
  for (int i = 1; i < 100; ++i) last = pace.Complete(lane, fetched, {.bytes = 8});
  const sim::Duration link = costs.link.Serialise(8 + costs.link.header_bytes);
  const sim::Duration slowest = std::max(
      {costs.nic.qp_serial, costs.nic.transmit, link, costs.nic.receive, costs.nic.cqe_service});
  BOOST_TEST((last - first).ps == slowest.ps * 99);
}

BOOST_AUTO_TEST_CASE(LatenessIsGoodToOneIn16) {
  Lateness lateness;
  BOOST_TEST(lateness.Percentile(50) == 0u);
  for (uint64_t ns = 1; ns <= 2001; ++ns) lateness.Add(ns * 1000);
  BOOST_TEST(lateness.Count() == 2001u);
  BOOST_TEST(lateness.Max() == 2'001'000u);
  BOOST_TEST(lateness.Percentile(50) <= 1'001'000u);
  BOOST_TEST(lateness.Percentile(50) >= 1'001'000u * 15 / 16);
  BOOST_TEST(lateness.Percentile(99) <= 1'981'000u);
  BOOST_TEST(lateness.Percentile(99) >= 1'981'000u * 15 / 16);
  lateness.Add(~uint64_t{0});
  BOOST_TEST(lateness.Max() == ~uint64_t{0});
}

// The second WQE is flushed before it was fetched: it has no time of its own, but an order.
BOOST_AUTO_TEST_CASE(AnErrorIsNotOvertakenByTheCompletionsBeforeIt) {
  using sim::service::PacedCompletions;
  Fabric fabric("p_ib");
  const auto now = std::chrono::steady_clock::now();
  PacedCompletions paced({.costs = fabric.Costs()}, now);
  sim::QpContext qp;
  qp.qpn = 7;
  qp.config.sq_wqebbs = 8;
  qp.requester.window.Prepare(8, false);
  qp.requester.window.MakeRoom(0, 0);
  qp.requester.window.At(0) = {};
  qp.requester.tail = 1;
  qp.requester.producer = qp.requester.fetched = 1;
  paced.Announce(qp, 0, now);
  paced.Fetched(qp);
  alignas(64) std::array<uint8_t, abi::kCqeBytes> slot{};
  const auto address = reinterpret_cast<uint64_t>(slot.data());
  sim::service::ProcessDma memory;
  memory.Allow(address, slot.size());
  const auto hold = [&](uint8_t counter, abi::CqeOpcode opcode) {
    std::array<uint8_t, abi::kCqeBytes> cqe{};
    cqe[61] = counter;
    cqe[63] = static_cast<uint8_t>(static_cast<int>(opcode) << 4);
    paced.Hold(qp.qpn, address, cqe.data(), now);
  };
  hold(0, abi::CqeOpcode::kRequester);
  hold(1, abi::CqeOpcode::kRequesterError);
  BOOST_TEST(paced.Count().held + paced.Count().late == 1u);
  paced.Release(memory, now + std::chrono::seconds(1));
  BOOST_TEST(int{slot[61]} == 1);
  BOOST_TEST(int{slot[63]} >> 4 == static_cast<int>(abi::CqeOpcode::kRequesterError));
}

}  // namespace
}  // namespace ringpost

#include "workloads/kinds.h"
#include "workloads/launch.h"
#include "workloads/put_latency.h"

namespace ringpost::workloads {
namespace {

struct Kernel {
  const PutLatencyArguments* arguments;
  PutLatencySamples* samples;
  Outcome* outcome;
  template <class Publication, class Ordering>
  void operator()(SimPort& port) {
    PutLatencyKernel<SimPort, Publication, Ordering>(port, *arguments, *samples, *outcome);
  }
};

}  // namespace

void RunPutLatency(Fabric& fabric, const config::Config& config, RunResult& result,
                   Outcome& outcome) {
  const uint32_t qps = static_cast<uint32_t>(config.transport.qps_per_peer);
  const Pairing pairing = ConnectRanks(fabric, config, qps, false, outcome);
  const uint64_t bytes = config.workload.payload_bytes;
  const uint64_t room = bytes == 0 ? 8 : bytes;
  const RegisteredMemory source = AllocateOn(fabric, 0, Placement::kGpu, room, outcome);
  const RegisteredMemory target = AllocateOn(fabric, 1, Placement::kGpu, room, outcome);
  if (!outcome.ok) return;
  std::vector<uint8_t> payload(room);
  for (uint64_t i = 0; i < bytes; ++i) payload[i] = static_cast<uint8_t>(i * 31 + config.seed);
  fabric.Poke(source.address, payload.data(), room);

  PutLatencyArguments arguments;
  arguments.qps = TableFor(pairing.first, 0);
  arguments.target = target.Remote(0);
  arguments.source = source.Local(0, bytes);
  arguments.inline_payload = SendsInline(config) ? payload.data() : nullptr;
  arguments.bytes = static_cast<uint32_t>(bytes);
  arguments.warm_up = config.workload.warm_up;
  arguments.operations = config.workload.operations;
  arguments.completion = config.transport.completion;
  PutLatencySamples samples;
  const uint32_t threads = static_cast<uint32_t>(config.workload.threads);
  if (!LaunchOn(fabric, 0, config, threads, Kernel{&arguments, &samples, &outcome})) {
    outcome.Fail("this pair of publication and ordering is not built");
    return;
  }
  const FabricRun run = fabric.Run();
  if (!run.ok) outcome.Fail(run.error);
  if (!outcome.ok || samples.issue.Empty()) return;
  std::vector<uint8_t> arrived(room);
  fabric.Peek(target.address, arrived.data(), room);
  if (bytes > 0 && arrived != payload)
    outcome.Fail("the payload at the target is not what was put");
  result.metrics.push_back({"issue_latency", samples.issue.Median(), "us"});
  result.metrics.push_back({"put_completion_latency", samples.completion.Median(), "us"});
  result.metrics.push_back({"put_completion_latency_p99", samples.completion.Percentile(99), "us"});
  result.metrics.push_back({"doorbell_to_cqe", samples.doorbell_to_cqe.Median(), "us"});
}

}  // namespace ringpost::workloads

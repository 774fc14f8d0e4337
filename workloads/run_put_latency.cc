#include "workloads/gpu_launch.h"
#include "workloads/kinds.h"
#include "workloads/launch.h"
#include "workloads/put_latency.h"

namespace ringpost::workloads {
namespace {

struct Kernel {
  const PutLatencyArguments* arguments;
  std::vector<PutLatencySamples>* samples;  // by thread
  Outcome* outcome;
  template <class Publication, class Ordering, class P>
  void operator()(P& port, uint32_t thread) {
    PutLatencyKernel<P, Publication, Ordering>(port, *arguments, (*samples)[thread], *outcome);
  }
  std::unique_ptr<GpuLaunch> OnGpu(Gpu& gpu, const GpuGrid& grid) const {
    return LaunchPutLatency(gpu, grid, *arguments, samples->data(), outcome);
  }
};

}  // namespace

void RunPutLatency(Machine& machine, const config::Config& config, RunResult& result,
                   Outcome& outcome) {
  const uint32_t qps = static_cast<uint32_t>(config.transport.qps_per_peer);
  const uint32_t idle = static_cast<uint32_t>(config.transport.idle_qps);
  const Pairing pairing = ConnectRanks(machine, config, idle + qps, false, outcome);
  const uint64_t bytes = config.workload.payload_bytes;
  const uint64_t room = bytes == 0 ? 8 : bytes;
  const RegisteredMemory source = AllocateOn(machine, 0, config, room, outcome);
  const RegisteredMemory target = AllocateOn(machine, 1, config, room, outcome);
  if (!outcome.ok) return;
  std::vector<uint8_t> payload(room);
  for (uint64_t i = 0; i < bytes; ++i) payload[i] = static_cast<uint8_t>(i * 31 + config.seed);
  if (machine.Owns(0)) machine.Poke(source.address, payload.data(), room);

  PutLatencyArguments arguments;
  arguments.qps = {pairing.first.data(), idle + qps, idle, qps, idle};
  arguments.target = target.Remote(0);
  arguments.source = source.Local(0, bytes);
  arguments.inline_payload = SendsInline(config) ? payload.data() : nullptr;
  arguments.bytes = static_cast<uint32_t>(bytes);
  arguments.warm_up = config.workload.warm_up;
  arguments.operations = config.workload.operations;
  arguments.completion = config.transport.completion;
  const uint32_t threads = static_cast<uint32_t>(config.workload.threads);
  std::vector<PutLatencySamples> of_threads(threads);
  if (!LaunchOn(machine, 0, config, threads, Kernel{&arguments, &of_threads, &outcome})) {
    outcome.Fail("this pair of publication and ordering is not built");
    return;
  }
  const std::string wrong = machine.Run();
  if (!wrong.empty()) outcome.Fail(wrong);
  if (!outcome.ok) return;
  if (machine.Owns(1) && config.workload.operations + config.workload.warm_up > 0) {
    std::vector<uint8_t> arrived(room);
    machine.Peek(target.address, arrived.data(), room);
    if (bytes > 0 && arrived != payload) {
      outcome.Fail("the payload at the target is not what was put");
    }
  }
  PutLatencySamples samples;
  for (const PutLatencySamples& some : of_threads) samples.Add(some);
  if (samples.issue.Empty()) return;
  result.metrics.push_back({"issue_latency", samples.issue.Median(), "us"});
  result.metrics.push_back({"put_completion_latency", samples.completion.Median(), "us"});
  result.metrics.push_back({"put_completion_latency_p99", samples.completion.Percentile(99), "us"});
  result.metrics.push_back({"doorbell_to_cqe", samples.doorbell_to_cqe.Median(), "us"});
}

}  // namespace ringpost::workloads

// What must hold between keys.
#include <boost/test/unit_test.hpp>
#include <string>

#include "configs/schema/config_error.h"
#include "configs/schema/loader.h"
#include "tests/configs/scratch.h"

namespace ringpost::config {
namespace {

// The line about a file without the file's name; empty when it loads.
std::string ErrorOf(const std::string& text) {
  const std::string path = WriteScratch("c.yaml", text);
  try {
    Load({path, {}});
  } catch (const ConfigError& error) {
    return std::string(error.what()).substr(path.size());
  }
  return "";
}

BOOST_AUTO_TEST_CASE(NoOrderingNeedsUnsafe) {
  BOOST_TEST(ErrorOf("transport: {ordering: none}") ==
             ":1:23: transport.ordering: none orders nothing before the doorbell; "
             "use another ordering, or set transport.unsafe: true");
  BOOST_TEST(ErrorOf("transport: {ordering: none, unsafe: true}") == "");
}

BOOST_AUTO_TEST_CASE(GpuScopeDoesNotReachHostMemory) {
  for (const std::string ordering :
       {"gpu_fence", "gpu_fence_dbrec", "gpu_release", "threadfence"}) {
    BOOST_TEST(ErrorOf("transport: {ordering: " + ordering + ", placement: host}") ==
               ":1:23: transport.ordering: a GPU-scope ordering does not reach queues in host "
               "memory; use system_release or system_fence, or set transport.unsafe: true");
    BOOST_TEST(ErrorOf("transport: {ordering: " + ordering + ", placement: host, unsafe: true}") ==
               "");
  }
}

BOOST_AUTO_TEST_CASE(GpuScopeDoesNotReachPayloadInHostMemory) {
  const std::string refusal =
      ":2:23: workload.placement: a GPU-scope ordering does not reach payload in host memory; use "
      "system_release or system_fence, or set transport.unsafe: true";
  BOOST_TEST(ErrorOf("transport: {placement: gpu}\nworkload: {placement: host}") == refusal);
  BOOST_TEST(ErrorOf("transport: {unsafe: true}\nworkload: {placement: host}") == "");
  BOOST_TEST(ErrorOf("transport: {ordering: system_release}\nworkload: {placement: host}") == "");
}

BOOST_AUTO_TEST_CASE(KernelsDoWhatAGpuCan) {
  const std::string live = "backend: live\nlive: {threads: gpu}\n";
  BOOST_TEST(ErrorOf(live + "transport: {doorbell: blueflame}") ==
             ":3:23: transport.doorbell: blueflame is for threads of a CPU; use gpu or cpu");
  BOOST_TEST(ErrorOf(live + "transport: {doorbell: cpu}") ==
             ":3:23: transport.doorbell: a host thread writes the record, and cannot reach GPU "
             "memory; use gpu, or transport.placement: host");
  BOOST_TEST(ErrorOf(live + "transport: {qps_per_peer: 17}") ==
             ":3:27: transport.qps_per_peer: put_latency on a GPU has no room for 17 QPs; use at "
             "most 16");
  BOOST_TEST(ErrorOf(live + "transport: {qps_per_peer: 2}\nworkload: {threads: 2}") ==
             ":4:21: workload.threads: put_latency is one thread on a GPU, or one warp with "
             "cooperative; use 1, or message_rate");
  const std::string many =
      "transport: {qps_per_peer: 2048}\n"
      "workload: {kind: message_rate, threads: 2048, sms_count: 2}";
  BOOST_TEST(ErrorOf(live + many) == "");
  BOOST_TEST(
      ErrorOf("backend: live\n" + many).starts_with(":3:41: workload.threads: 2048 threads"));
}

// Else the first advice is how several threads would share a queue, which this kind does not take.
BOOST_AUTO_TEST_CASE(ThreadsOfALatencyAreRefusedBeforeTheirQueuesAreLookedAt) {
  for (const std::string transport :
       {"publication: per_thread, batch: 4", "publication: ordered_handoff, qps_per_peer: 1",
        "publication: cooperative", "ordering: none"}) {
    const std::string error = ErrorOf(
        "transport: {" + transport + "}\nworkload: {kind: put_latency, threads: 64, sms_count: 3}");
    BOOST_TEST(error.starts_with(":2:40: workload.threads: put_latency is one thread"), error);
  }
}

BOOST_AUTO_TEST_CASE(ALatencyIsThatOfOneThreadOnEveryBackend) {
  const std::string two = "transport: {qps_per_peer: 2}\nworkload: {kind: ";
  const std::string end = ", threads: 2}";
  BOOST_TEST(ErrorOf(two + "put_latency" + end) ==
             ":2:40: workload.threads: put_latency is one thread on a GPU, or one warp with "
             "cooperative; use 1, or message_rate");
  for (const std::string backend : {"live", "mlx5"}) {
    BOOST_TEST(ErrorOf(two + "put_latency" + end + "\nbackend: " + backend) ==
               ":2:40: workload.threads: put_latency has one thread with backend " + backend +
                   "; use 1, or message_rate");
  }
  for (const std::string backend : {"sim", "live"}) {
    BOOST_TEST(ErrorOf(two + "round_trip" + end + "\nbackend: " + backend) ==
               ":2:39: workload.threads: round_trip is one thread of each rank; use 1, or "
               "message_rate");
  }
}

BOOST_AUTO_TEST_CASE(LanesOfOneWarpPutTogether) {
  const std::string warp =
      "transport: {publication: cooperative, qps_per_peer: 3}\n"
      "workload: {threads_per_qp: 32, threads: ";
  BOOST_TEST(ErrorOf(warp + "32}") == "");
  BOOST_TEST(ErrorOf(warp + "64}").starts_with(":2:41: workload.threads: put_latency is one"));
  BOOST_TEST(ErrorOf(warp + "32, sms_count: 2}") ==
             ":2:56: workload.sms_count: put_latency with cooperative is one warp, on one SM; use "
             "1");
}

BOOST_AUTO_TEST_CASE(APairThatIsNotBuiltIsRefusedWithThoseThatAre) {
  BOOST_TEST(ErrorOf("transport: {publication: batched, ordering: threadfence}") ==
             ":1:45: transport.ordering: batched with threadfence is not built; use gpu_fence, "
             "gpu_release or system_fence");
  BOOST_TEST(ErrorOf("transport: {publication: last_writer, ordering: none, unsafe: true}") ==
             ":1:49: transport.ordering: last_writer with none is not built; use gpu_fence, "
             "threadfence or system_fence");
}

// What a refusal advises is not refused in its turn.
BOOST_AUTO_TEST_CASE(AdviceNamesOrderingsThatThePublicationHas) {
  BOOST_TEST(ErrorOf("transport: {publication: batched, placement: host}") ==
             ":1:46: transport.placement: a GPU-scope ordering does not reach queues in host "
             "memory; use system_fence, or set transport.unsafe: true");
  BOOST_TEST(ErrorOf("transport: {publication: locked, placement: host, ordering: threadfence}") ==
             ":1:61: transport.ordering: locked with threadfence is not built; use system_fence");
  for (const std::string publication :
       {"per_thread", "batched", "ordered_handoff", "locked", "last_writer"}) {
    BOOST_TEST(ErrorOf("transport: {placement: host, ordering: system_fence, publication: " +
                       publication + "}") == "");
  }
}

BOOST_AUTO_TEST_CASE(CallersAreKernels) {
  const std::string caller = "workload: {kind: compute_caller, placement: host, live_values: 8}\n";
  const std::string queues = "transport: {placement: host, ordering: system_release}\n";
  BOOST_TEST(
      ErrorOf(caller + queues) ==
      ":1:18: workload.kind: a caller shows what registers and residency its kernel has, for "
      "which the model has no costs; use backend live with live.threads: gpu, or another "
      "kind");
  const std::string live = "backend: live\nlive: {threads: gpu}\n";
  BOOST_TEST(ErrorOf(live + caller + queues) == "");
  BOOST_TEST(ErrorOf("backend: live\n" + caller + queues).starts_with(":2:18: workload.kind: "));
  const auto refused = [&](const std::string& others, const std::string& keys, const char* start) {
    const std::string error = ErrorOf(live + others + keys);
    BOOST_TEST(error.starts_with(start), error);
  };
  const std::string streams = "workload: {kind: streaming_caller, placement: host}\n";
  refused(streams, "transport: {ordering: system_fence}", ":3:18: workload.kind: ");
  refused(streams, "transport: {placement: gpu, ordering: system_fence}",
          ":4:24: transport.placement: blocks of a caller");
  refused(streams, "transport: {placement: host, ordering: gpu_fence, unsafe: true}",
          ":4:40: transport.ordering: a caller of this ordering");
  refused(streams, "transport: {placement: host, ordering: system_fence, publication: locked}",
          ":4:67: transport.publication: each block");
  refused("workload: {kind: compute_caller, threads_per_qp: 32}\n",
          "transport: {publication: cooperative}", ":4:26: transport.publication: each block");
  refused("workload: {kind: compute_caller, threads_per_qp: 32}\n", queues,
          ":3:50: workload.threads_per_qp: each block of a caller has its own QP, and rings for "
          "each message; use 1");
  refused("workload: {kind: compute_caller}\n", "transport: {batch: 4}",
          ":4:20: transport.batch: each block of a caller");
  refused("workload: {kind: compute_caller}\n", "transport: {placement: host}",
          ":3:18: workload.kind: a caller of this ordering");
  refused("workload: {kind: compute_caller, placement: host, live_values: 9}\n", queues,
          ":3:64: workload.live_values: a kernel of 9 values is not built; use 8, 16 or 32");
}

BOOST_AUTO_TEST_CASE(SystemScopeReachesHostMemory) {
  BOOST_TEST(ErrorOf("transport: {ordering: system_release, placement: host}") == "");
  BOOST_TEST(ErrorOf("transport: {ordering: system_fence, placement: host}") == "");
}

BOOST_AUTO_TEST_CASE(TheKeyThatWasSetIsBlamed) {
  BOOST_TEST(ErrorOf("transport: {placement: host}").starts_with(":1:24: transport.placement: "));
}

BOOST_AUTO_TEST_CASE(BlueFlameIsForThreadsOfACpu) {
  BOOST_TEST(ErrorOf("transport: {doorbell: blueflame}") ==
             ":1:23: transport.doorbell: blueflame is for threads of a CPU, and those of this "
             "backend are a GPU's; use gpu, cpu or record_free");
  BOOST_TEST(ErrorOf("transport: {doorbell: cpu, kind: dc, publication: last_writer}") == "");
}

BOOST_AUTO_TEST_CASE(ThreadsThatOwnTheirQpDoNotShareIt) {
  BOOST_TEST(ErrorOf("workload: {threads: 32, threads_per_qp: 32, kind: message_rate}") ==
             ":1:41: workload.threads_per_qp: per_thread and batched give each thread its own QP; "
             "use 1, or publication ordered_handoff, locked, cooperative or last_writer");
}

BOOST_AUTO_TEST_CASE(APublicationThatRingsForEachWqeTakesNoBatch) {
  BOOST_TEST(ErrorOf("transport: {publication: locked, batch: 16}") ==
             ":1:41: transport.batch: per_thread and locked ring for each WQE; "
             "use 1, or publication batched, ordered_handoff, cooperative or last_writer");
}

BOOST_AUTO_TEST_CASE(ABatchFitsTheQueue) {
  BOOST_TEST(ErrorOf("transport: {publication: batched, batch: 16, sq_depth_wqebbs: 8}") ==
             ":1:42: transport.batch: 16 WQEs do not fit a send queue of 8; "
             "use a smaller batch or a deeper queue");
}

BOOST_AUTO_TEST_CASE(CooperativeNeedsWholeWarps) {
  BOOST_TEST(ErrorOf("transport: {publication: cooperative}\n"
                     "workload: {threads: 48, threads_per_qp: 48, kind: message_rate}") ==
             ":1:26: transport.publication: cooperative needs whole warps on each QP; "
             "use a multiple of 32 for workload.threads_per_qp");
}

BOOST_AUTO_TEST_CASE(EachThreadHasAQp) {
  BOOST_TEST(ErrorOf("transport: {qps_per_peer: 4}\nworkload: {threads: 16, kind: message_rate}") ==
             ":1:27: transport.qps_per_peer: 16 threads at 1 per QP need 16 QPs, and there are 4; "
             "use at least 16");
}

BOOST_AUTO_TEST_CASE(ThreadsSpreadEvenlyOverSms) {
  BOOST_TEST(ErrorOf("transport: {qps_per_peer: 16}\n"
                     "workload: {threads: 16, sms_count: 3, kind: message_rate}") ==
             ":2:36: workload.sms_count: 16 threads do not spread evenly over 3 SMs; "
             "use a divisor of workload.threads");
}

BOOST_AUTO_TEST_CASE(AlwaysInlineNeedsRoomInTheWqe) {
  BOOST_TEST(ErrorOf("workload: {inline: always, payload: 29 B}") ==
             ":1:20: workload.inline: 29 B are more than transport.inline_max, 28 B; "
             "use auto, a smaller payload or a larger transport.inline_max");
}

BOOST_AUTO_TEST_CASE(PayloadThatTakesMoreThanAMachineHasIsRefusedWithTheLargestThatFits) {
  const std::string rate = "workload: {kind: message_rate, payload: ";
  BOOST_TEST(ErrorOf(rate + "1 GiB}") ==
             ":1:41: workload.payload: 1025 slots of 1 GiB take more than 8 GiB; use at most 7 "
             "MiB, or a shorter transport.sq_depth_wqebbs");
  BOOST_TEST(ErrorOf(rate + "7 MiB}") == "");
  BOOST_TEST(ErrorOf(rate + "8 MiB}").starts_with(":1:41: workload.payload: 1025 slots of 8 MiB"));
  BOOST_TEST(ErrorOf(rate + "8 MiB}\ntransport: {sq_depth_wqebbs: 512}") == "");
  BOOST_TEST(ErrorOf("workload: {kind: goodput, payload: 1 GiB, threads: 64}\n"
                     "transport: {qps_per_peer: 64}") ==
             ":1:36: workload.payload: 65600 slots of 1 GiB take more than 8 GiB; "
             "use at most 127 KiB, or a shorter transport.sq_depth_wqebbs");
  BOOST_TEST(ErrorOf("workload: {payload: 1 GiB}") == "");
}

BOOST_AUTO_TEST_CASE(ADelayHasAnAmount) {
  BOOST_TEST(ErrorOf("faults: {rules: [{kind: delay}]}") ==
             ":1:18: faults.rules[0].amount: a delay has no amount; add an amount such as 50 us");
  BOOST_TEST(ErrorOf("faults: {rules: [{where: fetch, kind: pause, amount: 0 us}]}") ==
             ":1:54: faults.rules[0].amount: a pause has no amount; add an amount such as 50 us");
}

BOOST_AUTO_TEST_CASE(AFaultHappensWhereItCan) {
  BOOST_TEST(ErrorOf("faults: {rules: [{where: doorbell, kind: corrupt}]}") ==
             ":1:42: faults.rules[0].kind: corrupt does not happen at doorbell; "
             "use delay, drop or duplicate");
  BOOST_TEST(ErrorOf("faults:\n  rules:\n  - {where: wire, kind: drop}\n  - {where: fetch}") ==
             ":4:5: faults.rules[1].kind: delay does not happen at fetch; use pause");
}

BOOST_AUTO_TEST_CASE(AnErrorHappensOnce) {
  BOOST_TEST(ErrorOf("faults: {rules: [{kind: error, probability: 5 %}]}") ==
             ":1:45: faults.rules[0].probability: an error happens once, to the WQE that at.wqe "
             "names; leave this key out");
}

BOOST_AUTO_TEST_CASE(OnlyAnErrorHasASyndrome) {
  BOOST_TEST(ErrorOf("faults: {rules: [{kind: error, syndrome: remote_access}]}") == "");
  BOOST_TEST(ErrorOf("faults: {rules: [{kind: delay, amount: 1 us, syndrome: remote_access}]}") ==
             ":1:56: faults.rules[0].syndrome: a delay has none; leave it out, or use kind error");
}

BOOST_AUTO_TEST_CASE(ADispatchHasItsExpertsOnAllRanks) {
  const std::string moe =
      "transport: {publication: ordered_handoff}\nworkload: {kind: moe_dispatch, ";
  BOOST_TEST(ErrorOf(moe + "experts: 64}\nranks: 8") == "");
  BOOST_TEST(ErrorOf(moe + "experts: 65}\nranks: 8") ==
             ":2:41: workload.experts: 65 experts are not as many on each of 8 ranks; use a "
             "multiple of 8");
  BOOST_TEST(ErrorOf(moe + "experts: 4, top_k: 5}") ==
             ":2:51: workload.top_k: a token cannot have 5 of 4 experts; use at most 4");
  BOOST_TEST(ErrorOf(moe + "pattern: normal, chunk_tokens: 9, ring_tokens: 8}") ==
             ":2:63: workload.chunk_tokens: chunks of 9 tokens do not fit a ring of 8; use at most "
             "8");
  BOOST_TEST(ErrorOf(moe + "tokens: 65536, experts: 64, top_k: 32}") ==
             ":2:40: workload.tokens: 65536 tokens of each rank take more than 4 GiB; use at most "
             "9362");
  BOOST_TEST(ErrorOf(moe + "experts: 128}\nranks: 128") ==
             ":3:8: ranks: 128 ranks are too many for moe_dispatch; use 2 to 64");
  BOOST_TEST(ErrorOf(moe + "threads: 2}") ==
             ":2:41: workload.threads: the pattern says how many threads there are on each SM; "
             "leave it at 1");
  BOOST_TEST(ErrorOf("transport: {publication: batched}\nworkload: {kind: moe_dispatch}") ==
             ":1:26: transport.publication: threads of moe_dispatch share their queue pairs; use "
             "ordered_handoff, locked or last_writer");
}

BOOST_AUTO_TEST_CASE(HostThreadsHaveTheirQueuesAndNoSms) {
  const std::string host = "transport: {placement: host, ordering: system_fence";
  BOOST_TEST(ErrorOf(host + "}\nworkload: {kind: host_verbs, threads: 3}") == "");
  BOOST_TEST(ErrorOf("workload: {kind: host_verbs}") ==
             ":1:18: workload.kind: host_verbs has its queues in host memory; use host");
  BOOST_TEST(ErrorOf(host + ", doorbell: cpu}\nworkload: {kind: host_verbs}") ==
             ":1:64: transport.doorbell: the threads of host_verbs ring themselves; use gpu, as "
             "others that do");
  BOOST_TEST(ErrorOf(host + "}\nworkload: {kind: host_verbs, threads: 4, sms_count: 2}") ==
             ":2:53: workload.sms_count: the threads of host_verbs have a core each, and no SM; "
             "use 1");
}

BOOST_AUTO_TEST_CASE(AKeyThatAKindDoesNotLookAtIsRefused) {
  BOOST_TEST(ErrorOf("workload: {kind: moe_dispatch, operations: 5}\n"
                     "transport: {publication: ordered_handoff}") ==
             ":1:44: workload.operations: has no effect on moe_dispatch; "
             "set workload.tokens, hidden_elements and rounds");
  BOOST_TEST(ErrorOf("workload: {kind: connection_scaling, warm_up: 5}") ==
             ":1:47: workload.warm_up: has no effect on this kind; "
             "leave it out: passes go on until two are alike");
  BOOST_TEST(ErrorOf("workload: {tokens: 5}") ==
             ":1:20: workload.tokens: has no effect on a kind other than moe_dispatch; "
             "use kind moe_dispatch, or leave it out");
  BOOST_TEST(ErrorOf("workload: {visit_order: zipf}") ==
             ":1:25: workload.visit_order: has no effect on a kind other than connection_scaling "
             "and host_verbs; use one of these, or leave it out");
  BOOST_TEST(ErrorOf("workload: {kind: round_trip, live_values: 16}") ==
             ":1:43: workload.live_values: has no effect on a kind other than the callers; "
             "use compute_caller or streaming_caller, or leave it out");
}

BOOST_AUTO_TEST_CASE(AKeyThatAKindDoesNotLookAtMayHaveItsDefault) {
  BOOST_TEST(ErrorOf("workload: {tokens: 128, visit_order: round_robin, live_values: 8}") == "");
  BOOST_TEST(ErrorOf("workload: {kind: connection_scaling, operations: 10000}") == "");
}

}  // namespace
}  // namespace ringpost::config

#include "configs/schema/workload_keys.h"

namespace ringpost::config {
namespace {

void AddPosting(Rows& rows) {
  constexpr auto block = &Config::workload;
  using W = WorkloadConfig;
  rows.push_back(
      {Word("workload.kind", "put_latency",
            {"put_latency", "round_trip", "message_rate", "goodput", "compute_caller",
             "streaming_caller", "connection_scaling", "host_verbs", "moe_dispatch"},
            "what the threads do; goodput: as message_rate, told in bytes; callers: "
            "kernels that compute, or stream through GPU memory, with the code of a put "
            "absent, dormant and used (docs/gpu.md); connection_scaling: puts to many "
            "queue pairs in turn, until a pass is as the one before within 1 %; host_verbs: the "
            "same by threads of the host's cores; moe_dispatch: each rank sends its "
            "tokens to the ranks of their experts (docs/moe_dispatch.md)"),
       kStoreIn<block, &W::kind>});
  rows.push_back(
      {Number("workload.payload", Type::kBytes, "8 B", {0, kGibibyte}, "size of each message"),
       kStoreIn<block, &W::payload_bytes>});
  rows.push_back({Word("workload.inline", "auto", {"auto", "always", "never"},
                       "payload in the WQE: auto up to transport.inline_max"),
                  kStoreIn<block, &W::inline_mode>});
  rows.push_back(
      {Word("workload.signal", "write", {"write", "add"},
            "round_trip: what raises the peer's flag: the put writes it; or an atomic add "
            "behind the put, in the same post"),
       kStoreIn<block, &W::signal>});
  rows.push_back(
      {Word("workload.placement", "gpu", {"gpu", "host"}, "memory that holds payload and flags"),
       kStoreIn<block, &W::placement>});
  rows.push_back(
      {Number("workload.threads", Type::kCount, "1", {1, 1048576},
              "threads that post; put_latency and round_trip: one, or of put_latency a warp that "
              "posts together; callers: blocks"),
       kStoreIn<block, &W::threads>});
  rows.push_back({Number("workload.threads_per_qp", Type::kCount, "1", {1, 1048576},
                         "neighbouring threads that share one queue pair"),
                  kStoreIn<block, &W::threads_per_qp>});
  rows.push_back({Number("workload.sms_count", Type::kCount, "1", {1, 4096},
                         "SMs over which the threads are spread evenly"),
                  kStoreIn<block, &W::sms_count>});
}

void AddOfSomeKinds(Rows& rows) {
  constexpr auto block = &Config::workload;
  using W = WorkloadConfig;
  rows.push_back({Number("workload.live_values", Type::kCount, "8", {8, 32},
                         "floats that each thread of a caller keeps: 8, 16 or 32"),
                  kStoreIn<block, &W::live_values>});
  rows.push_back({Number("workload.messages_per_block", Type::kCount, "4", {0, 1024},
                         "puts of each block of 256 threads of a caller"),
                  kStoreIn<block, &W::messages_per_block>});
  rows.push_back({Word("workload.direction", "both", {"both", "send", "receive"},
                       "connection_scaling: all to all, rank 0 to the others, or they to it"),
                  kStoreIn<block, &W::direction>});
  rows.push_back({Number("workload.writes_per_visit", Type::kCount, "32", {1, 32768},
                         "connection_scaling: puts to one queue pair before the next"),
                  kStoreIn<block, &W::writes_per_visit>});
  rows.push_back(
      {Word("workload.visit_order", "round_robin", {"round_robin", "strided", "random", "zipf"},
            "connection_scaling: of a thread's queue pairs; zipf: the n-th by about 1/n"),
       kStoreIn<block, &W::visit_order>});
  rows.push_back({Word("workload.revisit", "room", {"room", "completed"},
                       "a queue pair's next visit: its ring has room, or its puts are done"),
                  kStoreIn<block, &W::revisit>});
  rows.push_back({Number("workload.whole_pass_messages", Type::kCount, "2097152",
                         {1, kMostOperations}, "connection_scaling: a pass of more is sampled"),
                  kStoreIn<block, &W::whole_pass_messages>});
}

// Of moe_dispatch alone.
void AddMoe(Rows& rows) {
  using M = MoeConfig;
  rows.push_back(
      {Word("workload.pattern", "low_latency", {"low_latency", "normal"},
            "moe_dispatch: low_latency: a put for each token and expert, then a flag for "
            "each expert; normal: each token once to a rank, in chunks through a ring"),
       kStoreMoe<&M::pattern>});
  rows.push_back({Word("workload.routing", "uniform", {"uniform", "zipf"},
                       "moe_dispatch: how tokens choose experts, by seed; zipf: the n-th by 1/n"),
                  kStoreMoe<&M::routing>});
  rows.push_back({Number("workload.tokens", Type::kCount, "128", {1, 65536},
                         "moe_dispatch: tokens of each rank"),
                  kStoreMoe<&M::tokens>});
  rows.push_back({Number("workload.hidden_elements", Type::kCount, "7168", {8, 65536},
                         "moe_dispatch: elements of a token"),
                  kStoreMoe<&M::hidden_elements>});
  rows.push_back({Number("workload.element", Type::kBytes, "1 B", {1, 8},
                         "moe_dispatch: size of each; of 1 B, a scale of 4 B for 128 of them"),
                  kStoreMoe<&M::element_bytes>});
  rows.push_back({Number("workload.experts", Type::kCount, "64", {1, 4096},
                         "moe_dispatch: experts of all ranks together"),
                  kStoreMoe<&M::experts>});
  rows.push_back(
      {Number("workload.top_k", Type::kCount, "8", {1, 32}, "moe_dispatch: experts of each token"),
       kStoreMoe<&M::top_k>});
  rows.push_back({Number("workload.chunk_tokens", Type::kCount, "16", {1, 65536},
                         "moe_dispatch, normal: most tokens of one put"),
                  kStoreMoe<&M::chunk_tokens>});
  rows.push_back(
      {Number("workload.ring_tokens", Type::kCount, "64", {1, 65536},
              "moe_dispatch, normal: what a receiver takes of a channel before it copies"),
       kStoreMoe<&M::ring_tokens>});
  rows.push_back({Number("workload.rounds", Type::kCount, "1", {1, 1000},
                         "moe_dispatch: measured dispatches, after one that fills the caches"),
                  kStoreMoe<&M::rounds>});
}

void AddAmount(Rows& rows) {
  constexpr auto block = &Config::workload;
  using W = WorkloadConfig;
  rows.push_back({Number("workload.operations", Type::kCount, "10000", {1, kMostOperations},
                         "measured operations, all threads together; callers: kernels"),
                  kStoreIn<block, &W::operations>});
  rows.push_back({Number("workload.warm_up", Type::kCount, "1000", {0, kMostOperations},
                         "operations before the measured ones"),
                  kStoreIn<block, &W::warm_up>});
}

}  // namespace

void AddWorkload(Rows& rows) {
  AddPosting(rows);
  AddOfSomeKinds(rows);
  AddMoe(rows);
  AddAmount(rows);
}

}  // namespace ringpost::config

#include "configs/schema/unused_keys.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "configs/schema/schema.h"

namespace ringpost::config {
namespace {

using Kinds = std::vector<WorkloadKind>;

// A kind that has no row for a key looks at it.
struct Row {
  Kinds kinds;
  bool unused;  // by these kinds; false: by all others
  const char* who;
  const char* right;
  std::vector<const char*> keys;
};

const std::vector<Row>& Rows() {
  using enum WorkloadKind;
  static const std::vector<Row> rows = {
      {{kMoeDispatch},
       true,
       "moe_dispatch",
       "set workload.tokens, hidden_elements and rounds",
       {"operations", "warm_up", "payload", "inline", "threads_per_qp"}},
      {{kConnectionScaling, kHostVerbs},
       true,
       "this kind",
       "leave it out: passes go on until two are alike",
       {"operations", "warm_up"}},
      {{kMoeDispatch},
       false,
       "a kind other than moe_dispatch",
       "use kind moe_dispatch, or leave it out",
       {"pattern", "routing", "tokens", "hidden_elements", "element", "experts", "top_k",
        "chunk_tokens", "ring_tokens", "rounds"}},
      {{kConnectionScaling, kHostVerbs},
       false,
       "a kind other than connection_scaling and host_verbs",
       "use one of these, or leave it out",
       {"direction", "writes_per_visit", "visit_order", "revisit"}},
      {{kRoundTrip},
       false,
       "a kind other than round_trip",
       "use round_trip, or leave it out",
       {"signal"}},
      {{kComputeCaller, kStreamingCaller},
       false,
       "a kind other than the callers",
       "use compute_caller or streaming_caller, or leave it out",
       {"live_values", "messages_per_block"}},
  };
  return rows;
}

// Whether the key's field is as its default leaves it.
bool IsDefault(const Config& config, const std::string& path) {
  for (const Key<Config>& key : Keys()) {
    if (key.info.path != path) continue;
    Config with = config;
    key.store(with, ParseValue(key.info, key.info.fallback));
    return with.workload == config.workload;
  }
  return true;
}

}  // namespace

std::optional<Conflict> UnusedKeyConflict(const Config& config) {
  for (const Row& row : Rows()) {
    bool among = false;
    for (const WorkloadKind kind : row.kinds) among |= kind == config.workload.kind;
    if (among != row.unused) continue;
    for (const char* const key : row.keys) {
      const std::string path = std::string("workload.") + key;
      if (IsDefault(config, path)) continue;
      return Conflict{{path, "workload.kind"},
                      {fmt::format("has no effect on {}", row.who), row.right}};
    }
  }
  return std::nullopt;
}

}  // namespace ringpost::config

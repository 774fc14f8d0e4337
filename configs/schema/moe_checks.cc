#include "configs/schema/moe_checks.h"

#include <fmt/format.h>

namespace ringpost::config {
namespace {

using Found = std::optional<Conflict>;

Found CheckMachine(const Config& config) {
  constexpr uint64_t kMostRanks = 64;
  const Publication publication = config.transport.publication;
  if (config.backend != Backend::kSim) {
    return Conflict{{"workload.kind", "backend"},
                    {"moe_dispatch is simulated alone", "use backend sim"}};
  }
  if (config.ranks > kMostRanks) {
    return Conflict{{"ranks", "workload.kind"},
                    {fmt::format("{} ranks are too many for moe_dispatch", config.ranks),
                     fmt::format("use 2 to {}", kMostRanks)}};
  }
  if (publication != Publication::kOrderedHandoff && publication != Publication::kLocked &&
      publication != Publication::kLastWriter) {
    return Conflict{{"transport.publication", "workload.kind"},
                    {"threads of moe_dispatch share their queue pairs",
                     "use ordered_handoff, locked or last_writer"}};
  }
  if (config.workload.placement != Placement::kGpu) {
    return Conflict{{"workload.placement", "workload.kind"},
                    {"tokens of moe_dispatch are in GPU memory", "use gpu"}};
  }
  if (config.workload.threads != 1) {
    return Conflict{{"workload.threads", "workload.kind"},
                    {"the pattern says how many threads there are on each SM", "leave it at 1"}};
  }
  return std::nullopt;
}

Found CheckExperts(const Config& config) {
  const MoeConfig& moe = config.workload.moe;
  if (moe.experts % config.ranks != 0) {
    return Conflict{
        {"workload.experts", "ranks"},
        {fmt::format("{} experts are not as many on each of {} ranks", moe.experts, config.ranks),
         fmt::format("use a multiple of {}", config.ranks)}};
  }
  if (moe.top_k > moe.experts) {
    return Conflict{{"workload.top_k", "workload.experts"},
                    {fmt::format("a token cannot have {} of {} experts", moe.top_k, moe.experts),
                     fmt::format("use at most {}", moe.experts)}};
  }
  if (moe.pattern == MoePattern::kNormal && moe.chunk_tokens > moe.ring_tokens) {
    return Conflict{{"workload.chunk_tokens", "workload.ring_tokens"},
                    {fmt::format("chunks of {} tokens do not fit a ring of {}", moe.chunk_tokens,
                                 moe.ring_tokens),
                     fmt::format("use at most {}", moe.ring_tokens)}};
  }
  return std::nullopt;
}

// What arrives, and its copy, are memory of this machine.
Found CheckMemory(const Config& config) {
  constexpr uint64_t kMost = uint64_t{4} << 30;
  const MoeConfig& moe = config.workload.moe;
  const uint64_t each = moe.hidden_elements * moe.element_bytes * moe.top_k * config.ranks;
  if (moe.tokens <= kMost / each) return std::nullopt;
  return Conflict{{"workload.tokens", "ranks", "workload.top_k", "workload.hidden_elements"},
                  {fmt::format("{} tokens of each rank take more than 4 GiB", moe.tokens),
                   kMost < each ? "use fewer ranks, or shorter tokens"
                                : fmt::format("use at most {}", kMost / each)}};
}

}  // namespace

Found MoeConflict(const Config& config) {
  if (config.workload.kind != WorkloadKind::kMoeDispatch) return std::nullopt;
  if (Found found = CheckMachine(config)) return found;
  if (Found found = CheckExperts(config)) return found;
  return CheckMemory(config);
}

}  // namespace ringpost::config

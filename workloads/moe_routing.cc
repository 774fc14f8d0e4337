#include "workloads/moe_routing.h"

#include <algorithm>

#include "workloads/mixed.h"

namespace ringpost::workloads {
namespace {

// The ends of the experts' shares. Whole numbers, as logarithms differ between machines.
std::vector<uint64_t> Shares(const config::MoeConfig& moe) {
  constexpr uint64_t kFirst = uint64_t{1} << 32;
  std::vector<uint64_t> ends;
  uint64_t end = 0;
  for (uint64_t n = 1; n <= moe.experts; ++n) {
    end += moe.routing == config::MoeRouting::kZipf ? kFirst / n : kFirst;
    ends.push_back(end);
  }
  return ends;
}

}  // namespace

MoeRouting::MoeRouting(const config::Config& config)
    : ranks_(static_cast<uint32_t>(config.ranks)),
      tokens_(static_cast<uint32_t>(config.workload.moe.tokens)),
      top_k_(static_cast<uint32_t>(config.workload.moe.top_k)),
      experts_(static_cast<uint32_t>(config.workload.moe.experts)),
      counts_(uint64_t{ranks_} * experts_) {
  const std::vector<uint64_t> ends = Shares(config.workload.moe);
  uint64_t state = Mixed(config.seed + 1);
  for (uint64_t token = 0; token < uint64_t{ranks_} * tokens_; ++token) {
    const auto first = static_cast<std::ptrdiff_t>(chosen_.size());
    while (chosen_.size() - static_cast<size_t>(first) < top_k_) {
      state += 0x9e3779b97f4a7c15ull;
      const uint64_t draw = Mixed(state) % ends.back();
      const auto expert =
          static_cast<uint32_t>(std::upper_bound(ends.begin(), ends.end(), draw) - ends.begin());
      // An expert that the token has is drawn again.
      if (std::find(chosen_.begin() + first, chosen_.end(), expert) != chosen_.end()) continue;
      chosen_.push_back(expert);
      ++counts_[token / tokens_ * experts_ + expert];
    }
  }
}

bool MoeRouting::Goes(uint32_t rank, uint32_t token, uint32_t to) const {
  const uint32_t* experts = Of(rank) + uint64_t{token} * top_k_;
  return std::any_of(experts, experts + top_k_,
                     [&](uint32_t expert) { return RankOf(expert) == to; });
}

uint32_t MoeRouting::HottestRank() const {
  std::vector<uint64_t> tokens(ranks_);
  for (const uint32_t expert : chosen_) ++tokens[RankOf(expert)];
  return static_cast<uint32_t>(std::max_element(tokens.begin(), tokens.end()) - tokens.begin());
}

}  // namespace ringpost::workloads

// moe_routing.h: which experts the tokens of a mixture of experts are for, by seed. Experts are
// spread over ranks in order, as many on each. Equal on every machine.
#pragma once

#include <cstdint>
#include <vector>

#include "configs/schema/config.h"

namespace ringpost::workloads {

class MoeRouting {
 public:
  explicit MoeRouting(const config::Config& config);

  uint32_t Ranks() const { return ranks_; }
  uint32_t Tokens() const { return tokens_; }  // of each rank
  uint32_t TopK() const { return top_k_; }
  uint32_t Experts() const { return experts_; }
  uint32_t ExpertsOfRank() const { return experts_ / ranks_; }
  uint32_t RankOf(uint32_t expert) const { return expert / ExpertsOfRank(); }

  // The experts of all tokens of a rank, TopK() different ones for each.
  const uint32_t* Of(uint32_t rank) const { return &chosen_[uint64_t{rank} * tokens_ * top_k_]; }
  // How many tokens of a rank an expert has: by expert.
  const uint32_t* CountsOf(uint32_t rank) const { return &counts_[uint64_t{rank} * experts_]; }
  // Whether a token has an expert on rank `to`.
  bool Goes(uint32_t rank, uint32_t token, uint32_t to) const;
  // Whose experts have the most tokens.
  uint32_t HottestRank() const;

 private:
  uint32_t ranks_, tokens_, top_k_, experts_;
  std::vector<uint32_t> chosen_;
  std::vector<uint32_t> counts_;
};

}  // namespace ringpost::workloads

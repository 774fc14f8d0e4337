#include "workloads/moe_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "workloads/mixed.h"
#include "workloads/setup.h"

namespace ringpost::workloads {
namespace {

constexpr uint64_t kLine = 64;

// As DeepEP sends them: elements of one byte have a scale for each 128.
uint64_t PayloadBytes(const config::MoeConfig& moe) {
  constexpr uint64_t kScaled = 128, kScaleBytes = 4;
  const uint64_t scales =
      moe.element_bytes == 1 ? (moe.hidden_elements + kScaled - 1) / kScaled * kScaleBytes : 0;
  return moe.hidden_elements * moe.element_bytes + scales;
}

uint64_t NameOf(uint64_t rank, uint64_t token) { return rank << 32 | token; }

}  // namespace

MoeMemory::MoeMemory(Fabric& fabric, const config::Config& config, const MoeRouting& routing,
                     uint64_t rounds, Outcome& outcome)
    : fabric_(fabric),
      config_(config),
      routing_(routing),
      rounds_(rounds),
      normal_(config.workload.moe.pattern == config::MoePattern::kNormal),
      blocks_(static_cast<uint32_t>(config.workload.sms_count)),
      payload_bytes_(PayloadBytes(config.workload.moe)),
      stride_((sizeof(MoeHeader) + payload_bytes_ + kLine - 1) / kLine * kLine),
      ranks_(routing.Ranks()) {
  Allocate(outcome);
  if (outcome.ok) Connect(outcome);
  if (!outcome.ok) return;
  FillInputs();
  MakeLists();
}

MoeMemory::Sizes MoeMemory::SizesOf() const {
  const uint64_t ranks = routing_.Ranks(), tokens = routing_.Tokens();
  const uint64_t experts = routing_.ExpertsOfRank();
  if (normal_) {
    const uint64_t rings = blocks_ * ranks;
    const uint64_t slots = rings * config_.workload.moe.ring_tokens;
    return {slots, slots, ranks * tokens, rings, rings, 1};
  }
  return {tokens, experts * ranks * tokens,        experts * ranks * tokens, experts * ranks,
          1,      2 * routing_.Experts() + experts};
}

void MoeMemory::Allocate(Outcome& outcome) {
  const Sizes sizes = SizesOf();
  for (uint32_t rank = 0; rank < routing_.Ranks(); ++rank) {
    Rank& own = ranks_[rank];
    for (const auto& [memory, bytes] :
         {std::pair{&own.input, routing_.Tokens() * stride_},
          {&own.staging, sizes.staging * stride_},
          {&own.slots, sizes.slots * stride_},
          {&own.output, sizes.output * stride_},
          {&own.flags, rounds_ * sizes.flags * kMoeWordStride},
          {&own.heads, rounds_ * sizes.heads * kMoeWordStride},
          {&own.counters, rounds_ * sizes.counters * kMoeWordStride}}) {
      const Result<RegisteredMemory> made = fabric_.nic(rank).Allocate(Placement::kGpu, bytes);
      if (!made.Ok()) return outcome.Fail(made.Message());
      *memory = made.Value();
    }
  }
}

void MoeMemory::Connect(Outcome& outcome) {
  QpSpec spec = SpecOf(config_);
  spec.shared = true;
  const auto queues = static_cast<uint32_t>(config_.transport.qps_per_peer);
  const Mesh mesh = ConnectMesh(
      fabric_, spec, queues, [](uint32_t, uint32_t) { return true; }, outcome);
  if (!outcome.ok) return;
  for (uint32_t rank = 0; rank < routing_.Ranks(); ++rank) {
    for (const std::vector<QpView>& of_peer : mesh[rank]) {
      std::vector<QpView>& views = ranks_[rank].views;
      views.insert(views.end(), of_peer.begin(), of_peer.end());
      // Of RC none leads to the rank itself; its place is kept.
      views.resize((&of_peer - mesh[rank].data() + 1) * queues);
    }
  }
}

std::vector<uint8_t> MoeMemory::PayloadOf(uint32_t rank, uint32_t token) const {
  std::vector<uint8_t> payload(payload_bytes_ + sizeof(uint64_t));
  const uint64_t seed = Mixed(NameOf(rank, token) + 1);
  for (uint64_t at = 0; at < payload_bytes_; at += sizeof(uint64_t)) {
    const uint64_t word = seed + at * 0x9e3779b97f4a7c15ull;
    std::memcpy(payload.data() + at, &word, sizeof(word));
  }
  payload.resize(payload_bytes_);
  return payload;
}

void MoeMemory::FillInputs() {
  for (uint32_t rank = 0; rank < routing_.Ranks(); ++rank) {
    for (uint32_t token = 0; token < routing_.Tokens(); ++token) {
      const std::vector<uint8_t> payload = PayloadOf(rank, token);
      fabric_.Poke(ranks_[rank].input.address + token * stride_, payload.data(), payload.size());
    }
  }
}

// Of the normal pattern: a channel has every so manieth token.
void MoeMemory::MakeLists() {
  if (!normal_) return;
  for (uint32_t rank = 0; rank < routing_.Ranks(); ++rank) {
    Rank& own = ranks_[rank];
    for (uint32_t peer = 0; peer < routing_.Ranks(); ++peer) {
      for (uint32_t channel = 0; channel < blocks_; ++channel) {
        own.first.push_back(static_cast<uint32_t>(own.order.size()));
        for (uint32_t token = channel; token < routing_.Tokens(); token += blocks_) {
          if (routing_.Goes(rank, token, peer)) own.order.push_back(token);
        }
      }
    }
    own.first.push_back(static_cast<uint32_t>(own.order.size()));
  }
  for (uint32_t rank = 0; rank < routing_.Ranks(); ++rank) {
    uint32_t end = 0;
    for (const Rank& source : ranks_) {
      for (uint32_t channel = 0; channel < blocks_; ++channel) {
        const uint32_t* first = &source.first[uint64_t{rank} * blocks_ + channel];
        ranks_[rank].arrive.push_back(end);
        end += first[1] - first[0];
      }
    }
    ranks_[rank].arrive.push_back(end);
  }
}

MoeArguments MoeMemory::Common() const {
  const config::MoeConfig& moe = config_.workload.moe;
  MoeArguments a;
  a.ranks = routing_.Ranks();
  a.tokens = routing_.Tokens();
  a.blocks = blocks_;
  a.qps = static_cast<uint32_t>(config_.transport.qps_per_peer);
  a.top_k = routing_.TopK();
  a.experts = routing_.Experts();
  a.experts_of_rank = routing_.ExpertsOfRank();
  a.chunk = static_cast<uint32_t>(moe.chunk_tokens);
  a.ring = static_cast<uint32_t>(moe.ring_tokens);
  a.payload_bytes = payload_bytes_;
  a.stride = stride_;
  return a;
}

const std::vector<MoeArguments>& MoeMemory::ArgumentsOf(uint64_t round) {
  const Sizes sizes = SizesOf();
  const auto words = [round](uint64_t count) { return round * count * kMoeWordStride; };
  targets_.clear();
  arguments_.clear();
  for (const Rank& own : ranks_) {
    targets_.push_back({own.slots.Remote(0), own.flags.Remote(words(sizes.flags)),
                        own.heads.Remote(words(sizes.heads))});
  }
  for (uint32_t rank = 0; rank < routing_.Ranks(); ++rank) {
    const Rank& own = ranks_[rank];
    MoeArguments a = Common();
    a.rank = rank;
    a.round = round;
    a.views = own.views.data();
    a.targets = targets_.data();
    a.routes = routing_.Of(rank);
    a.counts = routing_.CountsOf(rank);
    a.order = own.order.data();
    a.first = own.first.data();
    a.arrive = own.arrive.data();
    a.input = own.input.address;
    a.staging = own.staging.Local(0, own.staging.bytes);
    a.slots = own.slots.address;
    a.flags = targets_[rank].flags.address;
    a.heads = targets_[rank].heads.address;
    a.output = own.output.address;
    a.next_slot = own.counters.address + words(sizes.counters);
    a.posted = a.next_slot + a.experts * kMoeWordStride;
    a.arrived = a.posted + a.experts * kMoeWordStride;
    arguments_.push_back(a);
  }
  return arguments_;
}

// How many of `count` slots from `slot` on do not hold one of `expected`, each of them once.
uint64_t MoeMemory::WrongIn(uint32_t rank, uint64_t slot, uint64_t count, uint64_t round,
                            const std::vector<uint64_t>& expected) {
  std::vector<uint64_t> missing = expected;
  std::sort(missing.begin(), missing.end());
  uint64_t wrong = 0;
  std::vector<uint8_t> found(sizeof(MoeHeader) + payload_bytes_);
  for (uint64_t i = 0; i < count; ++i) {
    fabric_.Peek(ranks_[rank].output.address + (slot + i) * stride_, found.data(), found.size());
    MoeHeader header;
    std::memcpy(&header, found.data(), sizeof(header));
    const uint64_t name = NameOf(header.rank, header.token);
    const auto at = std::lower_bound(missing.begin(), missing.end(), name);
    if (at == missing.end() || *at != name || header.round != round) {
      ++wrong;
      continue;
    }
    missing.erase(at);
    const std::vector<uint8_t> payload = PayloadOf(header.rank, header.token);
    if (!std::equal(payload.begin(), payload.end(), found.begin() + sizeof(header))) ++wrong;
  }
  return wrong + missing.size();
}

uint64_t MoeMemory::WrongOfExperts(uint32_t rank, uint64_t round) {
  const uint32_t own = routing_.ExpertsOfRank();
  uint64_t wrong = 0;
  for (uint32_t expert = 0; expert < own; ++expert) {
    std::vector<uint64_t> expected;
    for (uint32_t source = 0; source < routing_.Ranks(); ++source) {
      const uint32_t* routes = routing_.Of(source);
      for (uint64_t i = 0; i < uint64_t{routing_.Tokens()} * routing_.TopK(); ++i) {
        if (routes[i] == rank * own + expert)
          expected.push_back(NameOf(source, i / routing_.TopK()));
      }
    }
    const uint64_t arrived =
        fabric_.Read<uint64_t>(arguments_[rank].arrived + expert * kMoeWordStride);
    if (arrived != expected.size()) ++wrong;
    const uint64_t slot = uint64_t{expert} * routing_.Ranks() * routing_.Tokens();
    wrong += WrongIn(rank, slot, expected.size(), round, expected);
  }
  return wrong;
}

uint64_t MoeMemory::WrongOfRank(uint32_t rank, uint64_t round) {
  std::vector<uint64_t> expected;
  for (uint32_t source = 0; source < routing_.Ranks(); ++source) {
    for (uint32_t token = 0; token < routing_.Tokens(); ++token) {
      if (routing_.Goes(source, token, rank)) expected.push_back(NameOf(source, token));
    }
  }
  return WrongIn(rank, 0, expected.size(), round, expected);
}

std::string MoeMemory::WrongAfter(uint64_t round) {
  uint64_t wrong = 0;
  for (uint32_t rank = 0; rank < routing_.Ranks(); ++rank) {
    wrong += normal_ ? WrongOfRank(rank, round) : WrongOfExperts(rank, round);
  }
  return wrong == 0 ? "" : fmt::format("{} tokens or counts at the targets are wrong", wrong);
}

}  // namespace ringpost::workloads

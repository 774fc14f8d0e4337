#include "sim/memory/checker.h"

#include <fmt/format.h>

namespace ringpost::sim {
namespace {

std::string PointOf(const Site& site) {
  if (site.file == nullptr) return "the NIC";
  const std::string_view file = site.file;
  // Paths depend on where the tree was built; from the layer's folder on they do not.
  size_t from = std::string_view::npos;
  for (const char* root : {"transport/", "workloads/", "backends/", "sim/", "tests/", "bench/"}) {
    from = std::min(from, file.find(root));
  }
  return fmt::format("{}:{}", from == std::string_view::npos ? file : file.substr(from), site.line);
}

const char* NameOf(Scope scope) { return scope == Scope::kSystem ? "sys" : "gpu"; }

std::string WhatOf(const Violation& violation) {
  const ReadContext& context = violation.context;
  switch (context.consumer) {
    case Consumer::kNicWqe:
      return fmt::format("the NIC fetched the WQE in slot {} of QP {:#x}", context.slot,
                         context.qpn);
    case Consumer::kNicPayload:
      return fmt::format("the NIC read the payload of the WQE in slot {} of QP {:#x}", context.slot,
                         context.qpn);
    case Consumer::kNicRecord:
      return fmt::format("the NIC took an index from the doorbell record of QP {:#x}", context.qpn);
    case Consumer::kThread:
      return fmt::format("thread {} read at {}", violation.reader, PointOf(violation.read));
  }
  return {};
}

std::string Describe(const Violation& violation, uint64_t count) {
  const Site told = violation.context.told_by;
  const std::string doorbell =
      told.file == nullptr ? "" : fmt::format(" announced by the doorbell at {}", PointOf(told));
  const std::string remedy =
      violation.writer_released
          ? fmt::format("an acquire at {} scope by the reading side before it goes on",
                        NameOf(violation.needed))
          : fmt::format("fence.acq_rel.{} (or a release store) after the store",
                        NameOf(violation.needed));
  return fmt::format(
      "unordered: the store to {:#x} by agent {} at {} is not ordered before {}{}; "
      "missing: {} ({} time{})",
      violation.address, violation.writer, PointOf(violation.store), WhatOf(violation), doorbell,
      remedy, count, count == 1 ? "" : "s");
}

}  // namespace

void Checker::Report(const Violation& violation) {
  if (!on_) return;
  ++count_;
  const auto text = [](const char* file) { return std::string(file == nullptr ? "" : file); };
  const PointPair points{text(violation.store.file), violation.store.line,
                         text(violation.read.file), violation.read.line,
                         violation.context.consumer};
  const auto [found, added] = known_.try_emplace(points, first_.size());
  if (added) {
    first_.push_back(violation);
    counts_.push_back(0);
  }
  ++counts_[found->second];
}

std::vector<std::string> Checker::Lines() const {
  std::vector<std::string> lines;
  for (size_t i = 0; i < first_.size(); ++i) lines.push_back(Describe(first_[i], counts_[i]));
  return lines;
}

}  // namespace ringpost::sim

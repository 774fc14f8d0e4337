#include "sim/uverbs/overlay_settings.h"

#include <fmt/format.h>

#include <optional>

namespace ringpost::sim::uverbs {
namespace {

constexpr char kNone[] = "-";
constexpr int kPlaces = 6, kKinds = 8;  // of FaultWhere and FaultKind

template <class T>
std::string TextOf(const std::optional<T>& value) {
  return value ? std::to_string(*value) : kNone;
}

template <class T>
bool Read(std::istringstream& words, std::optional<T>& value) {
  std::string word;
  if (!(words >> word)) return false;
  if (word == kNone) return true;
  T number{};
  if (!(std::istringstream(word) >> number)) return false;
  value = number;
  return true;
}

bool ReadFault(std::istringstream& words, Settings& settings) {
  FaultRule rule;
  int where = 0, kind = 0, syndrome = 0;
  const bool read = (words >> where >> kind) && Read(words, rule.node) && Read(words, rule.qp) &&
                    Read(words, rule.wqe) && (words >> rule.amount.ps >> rule.probability) &&
                    Read(words, rule.count) && (words >> syndrome);
  if (!read || where < 0 || where >= kPlaces || kind < 0 || kind >= kKinds) return false;
  rule.where = static_cast<FaultWhere>(where);
  rule.kind = static_cast<FaultKind>(kind);
  rule.syndrome = static_cast<abi::Syndrome>(syndrome);
  settings.faults.push_back(rule);
  return true;
}

// "places" and whether queues, payload and who rings are the GPU's; or a cost and its number.
bool ReadPace(std::istringstream& words, Settings& settings) {
  std::string name;
  if (!(words >> name)) return false;
  if (!settings.pace) settings.pace.emplace();
  service::PaceSpec& pace = *settings.pace;
  if (name == "places") {
    return static_cast<bool>(words >> pace.queues_on_gpu >> pace.payload_on_gpu >>
                             pace.doorbell_delivered);
  }
  bool known = false;
  service::ForEachPaceCost(pace.costs, [&](const char* cost, auto& number) {
    if (name == cost) known = static_cast<bool>(words >> number);
  });
  return known;
}

}  // namespace

std::string OverlayText(const Settings& settings) {
  std::string text = fmt::format("seed {}\n", settings.seed);
  if (settings.pace) {
    const service::PaceSpec& pace = *settings.pace;
    text += fmt::format("pace places {:d} {:d} {:d}\n", pace.queues_on_gpu, pace.payload_on_gpu,
                        pace.doorbell_delivered);
    service::ForEachPaceCost(pace.costs, [&](const char* cost, const auto& number) {
      text += fmt::format("pace {} {}\n", cost, number);
    });
  }
  for (const FaultRule& rule : settings.faults) {
    text += fmt::format("fault {:d} {:d} {} {} {} {} {} {} {:d}\n", static_cast<int>(rule.where),
                        static_cast<int>(rule.kind), TextOf(rule.node), TextOf(rule.qp),
                        TextOf(rule.wqe), rule.amount.ps, rule.probability, TextOf(rule.count),
                        static_cast<int>(rule.syndrome));
  }
  return text;
}

bool IsOverlay(const std::string& key) { return key == "seed" || key == "pace" || key == "fault"; }

bool ReadOverlay(const std::string& key, std::istringstream& words, Settings& settings) {
  if (key == "seed") return static_cast<bool>(words >> settings.seed);
  return key == "pace" ? ReadPace(words, settings) : ReadFault(words, settings);
}

}  // namespace ringpost::sim::uverbs

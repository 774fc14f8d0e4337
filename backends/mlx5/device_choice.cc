#include "backends/mlx5/device_choice.h"

#include <fmt/format.h>

#include <algorithm>

namespace ringpost::mlx5 {
namespace {

struct Wanted {
  std::string name;
  std::string port;  // empty: any
  bool excluded = false;
};

std::vector<Wanted> WantedOf(const std::vector<std::string>& items) {
  std::vector<Wanted> wanted;
  for (const std::string& item : items) {
    const bool excluded = item.starts_with('^');
    const std::string text = item.substr(excluded ? 1 : 0);
    const size_t colon = text.find(':');
    wanted.push_back({text.substr(0, colon),
                      colon == std::string::npos ? "" : text.substr(colon + 1), excluded});
  }
  return wanted;
}

bool Names(const Wanted& wanted, const FoundDevice& device, uint32_t port) {
  return wanted.name == device.name && (wanted.port.empty() || wanted.port == std::to_string(port));
}

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

// Why the port is not used; empty if it is. `place` is where it stands in the list.
std::string WhyNot(const FoundDevice& device, const FoundPort& port,
                   const std::vector<Wanted>& wanted, size_t* place) {
  bool has_list = false;
  *place = wanted.size();
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i].excluded) {
      if (Names(wanted[i], device, port.number)) return "is excluded by mlx5.devices";
      continue;
    }
    has_list = true;
    if (Names(wanted[i], device, port.number)) *place = std::min(*place, i);
  }
  if (has_list && *place == wanted.size()) return "is not in mlx5.devices";
  return port.active ? "" : "is " + port.state;
}

}  // namespace

Result<std::vector<Choice>> ChoosePorts(const std::vector<FoundDevice>& found,
                                        const std::vector<std::string>& items) {
  if (found.empty()) {
    return Error{
        "no RDMA device is here (`ibv_devices` lists none), and backend mlx5 needs a ConnectX with "
        "its driver mlx5_ib; use backend live or sim"};
  }
  const std::vector<Wanted> wanted = WantedOf(items);
  std::vector<std::pair<size_t, Choice>> fitting;
  std::vector<std::string> skipped;
  for (size_t i = 0; i < found.size(); ++i) {
    const FoundDevice& device = found[i];
    if (!device.supported || !device.problem.empty()) {
      skipped.push_back(device.name +
                        (device.supported ? ": " + device.problem : " is not of the mlx5 driver"));
      continue;
    }
    for (const FoundPort& port : device.ports) {
      size_t place = 0;
      const std::string why = WhyNot(device, port, wanted, &place);
      if (why.empty()) {
        fitting.emplace_back(place, Choice{i, port.number});
      } else {
        skipped.push_back(fmt::format("{} port {} {}", device.name, port.number, why));
      }
    }
  }
  if (fitting.empty()) {
    const std::string list = items.empty() ? "" : " with mlx5.devices [" + Joined(items) + "]";
    return Error{fmt::format("no port fits{}: {}; name an active mlx5 port, or bring one up", list,
                             Joined(skipped))};
  }
  std::stable_sort(fitting.begin(), fitting.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Choice> choices;
  for (const auto& [place, choice] : fitting) choices.push_back(choice);
  return choices;
}

}  // namespace ringpost::mlx5

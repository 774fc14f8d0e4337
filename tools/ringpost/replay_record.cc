// replay_record: what the firmware of the virtual ConnectX answers to the commands that a record of
// `ringpost exec --set exec.record=FILE` has, where it is something else.
//
//   replay_record FILE [infiniband|ethernet]
//
// Exit status: 0 no difference, 1 some, 2 bad input.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <utility>

#include "sim/uverbs/nic_host.h"
#include "sim/uverbs/record/replay.h"
#include "sim/uverbs/settings.h"
#include "sim/uverbs/uar_pages.h"

namespace {

using namespace ringpost;               // NOLINT
using namespace ringpost::sim::uverbs;  // NOLINT

constexpr int kDiffers = 1, kBadInput = 2;

int Refuse(const std::string& text) {
  std::fputs(("replay_record: " + text + "\n").c_str(), stderr);
  return kBadInput;
}

int Replay(const std::string& path, bool ethernet) {
  std::ifstream file(path);
  if (!file) return Refuse(path + ": cannot be read");
  const auto calls = record::ReadRecord(file);
  if (!calls.Ok()) return Refuse(path + ": " + calls.Message());
  Settings settings = DefaultSettings(1);
  settings.fabric = fmt::format("replay_{}", getpid());  // nobody else is on it
  if (ethernet) settings.devices[0].link = sim::wire::Link::kEthernet;
  std::shared_ptr<UarPages> pages = UarPages::Make();
  if (pages == nullptr) return Refuse("no memory for UAR pages");
  const auto host = NicHost::Start(settings, settings.devices[0], std::move(pages));
  if (!host.Ok()) return Refuse(host.Message());
  record::Replayed replayed;
  host.Value()->Call([&](sim::service::NicLoop&) {
    replayed = record::Replay(calls.Value(), host.Value()->Firmware());
  });
  for (const record::Difference& difference : replayed.differences) {
    fmt::print("{}:{}: {}\n", path, difference.line, difference.text);
  }
  fmt::print("{} calls of DevX, {} differences\n", replayed.calls, replayed.differences.size());
  return replayed.differences.empty() ? 0 : kDiffers;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string link = argc == 3 ? argv[2] : "infiniband";
  if (argc < 2 || argc > 3 || (link != "infiniband" && link != "ethernet")) {
    return Refuse("give it a record, and infiniband or ethernet where that is the recorded link");
  }
  return Replay(argv[1], link == "ethernet");
}

#include "tools/ringpost/sweep/rank_workers.h"

#include <unistd.h>

#include <algorithm>
#include <exception>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

namespace ringpost::tools {
namespace {

using Json = nlohmann::json;

// Between two looks at what has come.
constexpr int kPauseMs = 2;

std::string Text(const Json& message) {
  return message.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void Pause(Workers& workers, std::vector<Ended>& ended) {
  if (workers.Running() == 0) {
    usleep(1000 * kPauseMs);
  } else {
    ended = workers.Wait(kPauseMs);
  }
}

}  // namespace

RankWorkers::RankWorkers(Ranks& ranks, size_t jobs)
    : ranks_(ranks), local_(jobs), room_(static_cast<size_t>(ranks.Count())) {}

size_t RankWorkers::Room() const {
  return std::accumulate(room_.begin(), room_.end(), local_.Room());
}

size_t RankWorkers::Running() const { return local_.Running() + remote_; }

void RankWorkers::Start(uint64_t point, const std::vector<std::string>& arguments) {
  const auto most = std::max_element(room_.begin(), room_.end());
  if (*most <= local_.Room()) return local_.Start(point, arguments);
  --*most;
  ++remote_;
  ranks_.Send(static_cast<int>(most - room_.begin()),
              Text({{"point", point}, {"arguments", arguments}}));
}

std::vector<Ended> RankWorkers::Wait(int timeout_ms) {
  for (int waited = 0; waited < timeout_ms; waited += kPauseMs) {
    std::vector<Ended> ended;
    Pause(local_, ended);
    bool news = !ended.empty();
    while (const std::optional<Ranks::Message> message = ranks_.Poll()) {
      const Json json = Json::parse(message->text);
      size_t& room = room_[static_cast<size_t>(message->from)];
      news = true;
      if (json.contains("jobs")) {
        room = json["jobs"];
        continue;
      }
      ++room;
      --remote_;
      ended.push_back({json["point"], json["output"], json["error"]});
    }
    if (news) return ended;
  }
  return {};
}

Dismissal::~Dismissal() {
  for (int rank = 1; ranks_ != nullptr && rank < ranks_->Count(); ++rank) {
    ranks_->Send(rank, Text({{"home", true}}));
  }
}

void ServePoints(Ranks& ranks, size_t jobs) {
  LocalWorkers local(jobs);
  ranks.Send(0, Text({{"jobs", jobs}}));
  const auto answer = [&ranks](const Ended& ended) {
    ranks.Send(0, Text({{"point", ended.point}, {"output", ended.output}, {"error", ended.error}}));
  };
  for (;;) {
    while (const std::optional<Ranks::Message> message = ranks.Poll()) {
      const Json json = Json::parse(message->text);
      if (json.contains("home")) return;
      try {
        local.Start(json["point"], json["arguments"]);
      } catch (const std::exception& error) {
        answer({json["point"], "", error.what()});
      }
    }
    std::vector<Ended> all;
    Pause(local, all);
    for (const Ended& ended : all) answer(ended);
  }
}

}  // namespace ringpost::tools

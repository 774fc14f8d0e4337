#include "tests/properties/random_program.h"

#include <algorithm>
#include <cstring>

namespace ringpost::sim {
namespace {

constexpr uint32_t kCellBytes = 4;
constexpr uint64_t kFirstCell = 56;  // of four: two in line 0, two in line 1
constexpr uint32_t kCellsPerRegion = 4;
// Longer than any program runs: in adversarial mode nothing becomes visible by age.
constexpr Duration kHorizon{1'000'000'000'000};

MemoryOptions OptionsOf(VisibilityMode mode, bool nic_reads_l2, uint64_t seed) {
  MemoryOptions options;
  options.mode = mode;
  options.nic_reads_l2 = nic_reads_l2;
  options.seed = seed;
  options.horizon = kHorizon;
  return options;
}

}  // namespace

RandomProgram::RandomProgram(VisibilityMode mode, bool nic_reads_l2, uint64_t seed)
    : mode_(mode),
      memory_(engine_, OptionsOf(mode, nic_reads_l2, seed)),
      // Only adversarial mode lets a message become visible to one reader and not to another.
      naive_(nic_reads_l2, mode == VisibilityMode::kAdversarial),
      random_(seed, "program") {
  memory_.Reports().Enable(false);
  AddAgents();
  AddRegions();
  ChooseActive();
}

void RandomProgram::AddAgents() {
  places_ = {{AgentKind::kGpuThread, 0, 0, 0},   {AgentKind::kGpuThread, 0, 0, 0},
             {AgentKind::kGpuThread, 0, 0, 1},   {AgentKind::kGpuThread, 0, 1, 2},
             {AgentKind::kNic, 0, 0, 0},         {AgentKind::kNic, 0, 0, 0},
             {AgentKind::kGpuThread, 1, 10, 10}, {AgentKind::kNic, 1, 0, 0},
             {AgentKind::kHostThread, 0, 0, 0}};
  for (const AgentPlace& place : places_) {
    memory_.AddAgent(place);
    naive_.AddAgent(place);
  }
  local_.resize(places_.size());
}

void RandomProgram::AddRegions() {
  homes_ = {{HomeKind::kGpu, 0}, {HomeKind::kHost, 0}, {HomeKind::kGpu, 1}};
  for (const Home& home : homes_) {
    regions_.push_back(memory_.Space().Allocate(home, 4096));
    for (uint32_t i = 0; i < kCellsPerRegion; ++i) {
      cells_.push_back(regions_.back() + kFirstCell + i * kCellBytes);
      naive_.SetHome(cells_.back(), home);
    }
  }
}

bool RandomProgram::IsDevice(AgentId agent) const { return places_[agent].kind == AgentKind::kNic; }

// Few threads and few words in each program, so that they meet often.
void RandomProgram::ChooseActive() {
  const size_t count = 2 + Below(3);
  while (threads_.size() < count) {
    const AgentId agent = static_cast<AgentId>(Below(places_.size()));
    if (!IsDevice(agent)) threads_.push_back(agent);
  }
  for (size_t i = 0; i < 3; ++i) words_.push_back(cells_[Below(cells_.size())]);
}

RandomProgram::Range RandomProgram::AnyRange(AgentId agent) {
  size_t region = Below(regions_.size());
  while (IsDevice(agent) && homes_[region].node != places_[agent].node) {
    region = Below(regions_.size());
  }
  const uint32_t first = static_cast<uint32_t>(Below(kCellsPerRegion));
  const uint32_t count = 1 + static_cast<uint32_t>(Below(kCellsPerRegion - first));
  return {regions_[region] + kFirstCell + first * kCellBytes, count};
}

RandomProgram::Range RandomProgram::AnyWord() {
  const uint64_t word = words_[Below(words_.size())];
  if (Below(4) == 0) return {word / 8 * 8, 2};
  return {word, 1};
}

void RandomProgram::Sync(AgentId agent) {
  local_[agent] = Later(local_[agent], engine_.Now());
  engine_.TryAdvance(local_[agent]);
}

NaiveMessage RandomProgram::NewMessage(AgentId writer, Range range, Duration drain) {
  NaiveMessage message;
  message.writer = writer;
  message.place = {local_[writer].ps, stored_.size()};
  message.arrival_ps = (local_[writer] + drain).ps;
  for (uint32_t i = 0; i < range.cells; ++i) {
    message.cells.push_back(range.address + i * kCellBytes);
  }
  stored_.push_back(message.place);
  return message;
}

std::vector<NaiveMessage> RandomProgram::Messages(AgentId writer, Range range, Duration drain) {
  std::vector<NaiveMessage> messages;
  while (range.cells > 0) {
    const uint64_t room = (kLineBytes - range.address % kLineBytes) / kCellBytes;
    const uint32_t part = static_cast<uint32_t>(std::min<uint64_t>(range.cells, room));
    messages.push_back(NewMessage(writer, {range.address, part}, drain));
    range = {range.address + part * kCellBytes, range.cells - part};
  }
  return messages;
}

std::vector<uint32_t> RandomProgram::TokensOf(const std::vector<NaiveMessage>& messages,
                                              Range range) const {
  std::vector<uint32_t> tokens;
  for (const NaiveMessage& message : messages) {
    for (const uint64_t cell : message.cells) {
      tokens.push_back(Token(message.place.number, cell));
    }
  }
  tokens.resize(range.cells);
  return tokens;
}

Cells RandomProgram::Origins(AgentId reader, Range range, const void* bytes, bool newest) {
  Cells cells;
  for (uint32_t i = 0; i < range.cells; ++i) {
    const uint64_t cell = range.address + i * kCellBytes;
    uint32_t token = 0;
    std::memcpy(&token, static_cast<const char*>(bytes) + i * kCellBytes, sizeof(token));
    const uint64_t number = token / 16;
    const bool made_up = number >= stored_.size() || (token != 0 && Token(number, cell) != token);
    if (made_up) {
      Differ("agent " + std::to_string(reader) + " read a value that nobody stored there");
      return {};
    }
    const Place place = stored_[number];
    const int64_t now = local_[reader].ps;
    Place wanted = place;
    if (newest || mode_ == VisibilityMode::kStrict) {
      wanted = naive_.Newest(cell, now);
    } else if (mode_ == VisibilityMode::kTimed) {
      wanted = naive_.NewestArrived(reader, cell, now);
    } else if (place < naive_.Oldest(reader, cell) || now < place.created_ps) {
      Differ("agent " + std::to_string(reader) + " read store " + std::to_string(number) +
             ", which it may not");
    }
    if (wanted != place) {
      Differ("agent " + std::to_string(reader) + " read store " + std::to_string(number) +
             " instead of " + std::to_string(wanted.number));
    }
    cells.emplace_back(cell, place);
  }
  return cells;
}

void RandomProgram::Say(const char* what, AgentId agent, Range range, int order, int scope) {
  log_ += std::to_string(engine_.Now().ps) + ": " + what + " by " + std::to_string(agent) +
          " at its " + std::to_string(local_[agent].ps);
  if (range.cells > 0) {
    log_ += ", cell " + std::to_string((range.address >> 32) - 1) + "." +
            std::to_string((range.address % 4096 - kFirstCell) / kCellBytes) + " +" +
            std::to_string(range.cells) + ", next store " + std::to_string(stored_.size());
  }
  if (order >= 0) log_ += ", order " + std::to_string(order) + " scope " + std::to_string(scope);
  log_ += '\n';
}

void RandomProgram::Differ(const std::string& what) {
  if (difference_.empty()) difference_ = what;
}

void RandomProgram::CompareDepths() {
  for (AgentId agent = 0; agent < places_.size(); ++agent) {
    const Time now = Later(local_[agent], engine_.Now());
    for (const uint64_t cell : cells_) {
      const uint32_t naive = naive_.LegalDepth(agent, cell, now.ps);
      const uint32_t actual = memory_.LegalDepth(agent, cell, now);
      if (naive == actual) continue;
      Differ("agent " + std::to_string(agent) + " may read " + std::to_string(actual) +
             " older messages of cell " + std::to_string((cell >> 32) - 1) + "." +
             std::to_string((cell % 4096 - kFirstCell) / kCellBytes) + ", but the meaning allows " +
             std::to_string(naive));
      return;
    }
  }
}

std::string RandomProgram::Run(uint32_t steps) {
  for (uint32_t i = 0; i < steps && difference_.empty(); ++i) {
    Step();
    if (mode_ == VisibilityMode::kAdversarial && difference_.empty()) CompareDepths();
  }
  return difference_;
}

}  // namespace ringpost::sim

#include "transport/memory/agent_client.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

#include "transport/abi/byte_order.h"

namespace ringpost {
namespace {

constexpr uint32_t kBlock = 64;
// After so long without a command an agent may be about to end.
constexpr std::chrono::milliseconds kFresh{2};
// An agent that has not answered for so long never will.
constexpr std::chrono::seconds kPatience{10};
constexpr std::chrono::seconds kLate{4};
// Turns of a spin between two looks at whether the agent runs.
constexpr uint32_t kTurns = 1 << 14;

static_assert(std::chrono::nanoseconds(AgentRuntime::kLeasePs / 1000) >= 5 * kFresh);

std::atomic_ref<uint64_t> Word(uint64_t& word) { return std::atomic_ref<uint64_t>(word); }

uint32_t Low(uint64_t value) { return static_cast<uint32_t>(value); }
uint32_t High(uint64_t value) { return static_cast<uint32_t>(value >> 32); }

}  // namespace

Result<std::unique_ptr<DeviceAccess>> AgentClient::Open(std::unique_ptr<AgentRuntime> runtime) {
  const Result<uint64_t> mailbox = runtime->Take(sizeof(AgentMailbox));
  if (!mailbox.Ok()) return Error{mailbox.Message()};
  auto* const at = reinterpret_cast<AgentMailbox*>(mailbox.Value());
  const std::string refusal = runtime->Start(at, 0);
  if (!refusal.empty()) return Error{refusal};
  return std::unique_ptr<DeviceAccess>(new AgentClient(std::move(runtime), at));
}

AgentClient::~AgentClient() {
  if (!runtime_->Runs() || !MakeRoom()) return;
  StoreCommand(AgentOp::kStop, 0, 0, nullptr, 0);
  const Clock::time_point end = Clock::now() + kPatience;
  while (runtime_->Runs() && Clock::now() < end) SpinPause();
}

uint64_t AgentClient::Consumed() {
  // Acquire: the agent has taken what was in these slots before it says so.
  return Word(mailbox_.consumed).load(std::memory_order_acquire);
}

// An agent that has ended is started again where it stopped.
bool AgentClient::Revive() {
  if (runtime_->Runs()) return true;
  return runtime_->Start(&mailbox_, Consumed()).empty();
}

template <class Ready>
bool AgentClient::SpinUntil(Ready&& ready) {
  Clock::time_point end{};
  for (uint32_t turn = 1; !ready(); ++turn) {
    SpinPause();
    if (turn % kTurns != 0) continue;
    const Clock::time_point now = Clock::now();
    if (end == Clock::time_point()) end = now + kPatience;
    if (!late_ && now > end - (kPatience - kLate)) {
      late_ = true;
      runtime_->Late();
    }
    if (now < end && Revive()) continue;
    failed_ = true;
    return false;
  }
  return true;
}

bool AgentClient::MakeRoom() {
  if (failed_) return false;
  if (posted_ - Consumed() < AgentMailbox::kSlots) return true;
  return SpinUntil([&] { return posted_ - Consumed() < AgentMailbox::kSlots; });
}

// Whether the agent will see a command that nobody awaits: it has seen one a short time ago, or
// answers now.
bool AgentClient::Awake() {
  const Clock::time_point now = Clock::now();
  const bool fresh = now - std::exchange(last_post_, now) < kFresh;
  if (fresh) return true;
  if (!Revive() || !MakeRoom()) return false;
  StoreCommand(AgentOp::kSettle, 0, 0, nullptr, 0);
  uint32_t value = 0;
  return Await(posted_, 0, &value);
}

void AgentClient::StoreCommand(AgentOp op, uint64_t address, uint32_t size,
                               const uint32_t* arguments, uint32_t count) {
  const uint64_t number = ++posted_;
  uint64_t* const words = mailbox_.command[number % AgentMailbox::kSlots];
  // Release: orders what this thread has written, bulk and host memory, before the command. The
  // agent acquires where it relies on that.
  const auto store = [&](uint32_t i, uint32_t value) {
    Word(words[i]).store(AgentWord(number, value), std::memory_order_release);
  };
  for (uint32_t i = 0; i < count; ++i) store(AgentMailbox::kArguments + i, arguments[i]);
  store(2, High(address));
  store(1, Low(address));
  store(0, AgentHeader(op, size));
}

// The number of the command; 0 if it could not be posted.
uint64_t AgentClient::Post(AgentOp op, uint64_t address, uint32_t size,
                           std::initializer_list<uint32_t> arguments) {
  if (failed_ || !Awake() || !MakeRoom()) return 0;
  StoreCommand(op, address, size, arguments.begin(), static_cast<uint32_t>(arguments.size()));
  return posted_;
}

bool AgentClient::Await(uint64_t number, uint32_t lane, uint32_t* value) {
  if (number == 0) return false;
  uint64_t& word = mailbox_.answer[number % AgentMailbox::kSlots][lane];
  uint64_t seen = 0;
  const bool answered = SpinUntil([&] {
    // Acquire: orders the answer before what was copied for it.
    seen = Word(word).load(std::memory_order_acquire);
    return IsOfCommand(seen, number);
  });
  *value = Low(seen);
  return answered;
}

bool AgentClient::Settle() {
  uint32_t value = 0;
  return Await(Post(AgentOp::kSettle, 0, 0), 0, &value);
}

bool AgentClient::Write(uint64_t address, const void* bytes, uint64_t size) {
  const auto* from = static_cast<const uint8_t*>(bytes);
  for (uint64_t done = 0; done < size;) {
    const uint64_t left = size - done;
    const uint64_t most = left <= AgentMailbox::kInlineBytes ? left : AgentMailbox::kBulkBytes;
    const auto piece = static_cast<uint32_t>(std::min(left, most));
    if (!WritePiece(address + done, from + done, piece)) return false;
    done += piece;
  }
  return true;
}

bool AgentClient::WritePiece(uint64_t address, const uint8_t* bytes, uint32_t size) {
  if (failed_ || !Awake() || !MakeRoom()) return false;
  if (size <= AgentMailbox::kInlineBytes) {
    uint32_t words[AgentMailbox::kInlineBytes / 4] = {};
    std::memcpy(words, bytes, size);
    StoreCommand(AgentOp::kWrite, address, size, words, (size + 3) / 4);
  } else {
    std::memcpy(mailbox_.bulk[(posted_ + 1) % AgentMailbox::kSlots], bytes, size);
    StoreCommand(AgentOp::kWriteBulk, address, size, nullptr, 0);
  }
  return true;
}

bool AgentClient::Read(uint64_t address, void* bytes, uint64_t size) {
  if (const Watched* watched = RingAt(address, size)) {
    std::memcpy(bytes, reinterpret_cast<void*>(watched->copy + address - watched->ring.ring), size);
    return true;
  }
  auto* to = static_cast<uint8_t*>(bytes);
  for (uint64_t done = 0; done < size;) {
    const auto piece =
        static_cast<uint32_t>(std::min<uint64_t>(size - done, AgentMailbox::kBulkBytes));
    if (!ReadPiece(address + done, to + done, piece)) return false;
    done += piece;
  }
  return true;
}

bool AgentClient::ReadPiece(uint64_t address, uint8_t* bytes, uint32_t size) {
  uint32_t word = 0;
  if (size > AgentMailbox::kAnswerBytes) {
    const uint64_t number = Post(AgentOp::kReadBulk, address, size);
    if (!Await(number, 0, &word)) return false;
    std::memcpy(bytes, mailbox_.bulk[number % AgentMailbox::kSlots], size);
    return true;
  }
  const uint64_t number = Post(AgentOp::kRead, address, size);
  for (uint32_t at = 0; at < size; at += sizeof(word)) {
    if (!Await(number, at / sizeof(word), &word)) return false;
    std::memcpy(bytes + at, &word, std::min<uint32_t>(size - at, sizeof(word)));
  }
  return true;
}

bool AgentClient::CompareSwap(uint64_t address, uint32_t bytes, uint64_t* expected,
                              uint64_t desired) {
  const uint64_t number = Post(AgentOp::kCompareSwap, address, bytes,
                               {Low(*expected), High(*expected), Low(desired), High(desired)});
  uint32_t low = 0, high = 0;
  if (!Await(number, 0, &low) || !Await(number, 1, &high)) return false;
  *expected = uint64_t{high} << 32 | low;
  return true;
}

void AgentClient::Watch(const AnnouncedRing& ring) {
  const uint64_t bytes = uint64_t{ring.depth} * kBlock;
  Watched watched{ring};
  const auto spare = spare_.find(bytes);
  if (spare != spare_.end()) {
    watched.copy = spare->second;
    spare_.erase(spare);
  } else {
    const Result<uint64_t> copy = runtime_->Take(bytes);
    // Without it everything is read where it is.
    if (!copy.Ok()) return;
    watched.copy = copy.Value();
  }
  rings_[ring.ring] = watched;
  ring_of_[ring.record] = ring.ring;
}

void AgentClient::Unwatch(uint64_t record) {
  const auto known = ring_of_.find(record);
  if (known == ring_of_.end()) return;
  const auto found = rings_.find(known->second);
  spare_.emplace(uint64_t{found->second.ring.depth} * kBlock, found->second.copy);
  rings_.erase(found);
  ring_of_.erase(known);
}

const AgentClient::Watched* AgentClient::RingAt(uint64_t address, uint64_t size) const {
  auto found = rings_.upper_bound(address);
  if (found == rings_.begin()) return nullptr;
  const Watched& watched = (--found)->second;
  const uint64_t bytes = uint64_t{watched.ring.depth} * kBlock;
  const uint64_t offset = address - watched.ring.ring;
  return watched.follows && offset < bytes && size <= bytes - offset ? &watched : nullptr;
}

bool AgentClient::ReadRecord(uint64_t address, uint32_t* word) {
  const auto known = ring_of_.find(address);
  if (known == ring_of_.end()) return Read(address, word, sizeof(*word));
  Watched& watched = rings_.at(known->second);
  const uint64_t number = Post(AgentOp::kReadRecord, address, sizeof(*word),
                               {Low(watched.ring.ring), High(watched.ring.ring), Low(watched.copy),
                                High(watched.copy), watched.ring.depth, watched.last});
  if (!Await(number, 0, word)) return false;
  const uint32_t count = abi::Swap32(*word) & 0xffff;
  const uint32_t blocks = NewBlocks(count, watched.last, watched.ring.depth);
  if (blocks == 1) {
    const uint64_t to = watched.copy + (watched.last & (watched.ring.depth - 1)) * kBlock;
    for (uint32_t i = 0; i < kBlock / sizeof(uint32_t); ++i) {
      uint32_t piece = 0;
      if (!Await(number, 1 + i, &piece)) return false;
      std::memcpy(reinterpret_cast<void*>(to + i * sizeof(piece)), &piece, sizeof(piece));
    }
  }
  if (blocks == 0 && count != (watched.last & 0xffff)) watched.follows = false;
  watched.last = count;
  return true;
}

}  // namespace ringpost

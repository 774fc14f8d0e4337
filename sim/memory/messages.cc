// The life of a message: made, put into its line in coherence order, folded into it in the end.
#include <cstring>

#include "sim/memory/memory.h"

namespace ringpost::sim {
namespace {

constexpr size_t kBlock = 1024;
constexpr size_t kAhead = 3;

// By words, as what a thread stores was made by words just before: a wider load of them would have
// to wait until they are out of the host's store buffer.
void CopyWords(uint8_t* to, const void* bytes, uint32_t size) {
  const auto* from = static_cast<const uint8_t*>(bytes);
  const auto copy = [&](uint32_t at) { std::memcpy(to + at, from + at, 4); };
  uint32_t done = 0;
  for (; done + 16 <= size; done += 16) copy(done), copy(done + 4), copy(done + 8), copy(done + 12);
  for (; done + 4 <= size; done += 4) copy(done);
  for (; done < size; ++done) to[done] = from[done];
}

// The one that will be taken next: it has gone cold since it was freed.
void PrefetchMessage(const Message* message) {
  for (size_t i = 0; i < sizeof(*message); i += kLineBytes) {
    __builtin_prefetch(reinterpret_cast<const char*>(message) + i, 1);
  }
}

void PrefetchLine(const Line& line) {
  __builtin_prefetch(line.data, 1);
  __builtin_prefetch(&line.newest, 1);
}

}  // namespace

void Memory::AddMessages() {
  message_blocks_.push_back(std::make_unique<Message[]>(kBlock));
  for (size_t i = 0; i < kBlock; ++i) {
    message_blocks_.back()[i].next = free_messages_;
    free_messages_ = &message_blocks_.back()[i];
  }
}

Message* Memory::NewMessage(const Access& access, uint32_t offset, uint32_t size,
                            const void* bytes) {
  if (free_messages_ == nullptr) [[unlikely]]
    AddMessages();
  Message* message = free_messages_;
  free_messages_ = message->next;
  PrefetchMessage(free_messages_);
  const Agent& agent = agents_[access.agent];
  message->next = nullptr;
  message->origin.mask = MaskOf(offset, size);
  message->origin.stamp = agent.stamp;
  message->origin.site = PackedSite(access.site);
  message->origin.agent = access.agent;
  message->origin.self_scope = -1;
  message->origin.strong = false;
  message->created = access.now;
  message->id = ++message_id_;
  message->first = static_cast<uint8_t>(offset);
  message->size = static_cast<uint8_t>(size);
  CopyWords(message->data + offset, bytes, size);
  return message;
}

Time Memory::SettleTime(const Message& message, Duration drain) const {
  switch (options_.mode) {
    case VisibilityMode::kStrict:
      return message.created;
    case VisibilityMode::kTimed:
      return message.created + drain;
    case VisibilityMode::kAdversarial:
      return message.created + options_.horizon;
  }
  return message.created;
}

// Coherence order is the order of creation; of equal times, the order of the calls.
void Memory::Append(Line& line, Message* message, Home home, Duration drain) {
  if (!(engine_.Now() < next_settles_)) SettleRecent();
  Settle(line);
  ++line.version;
  message->home = home;
  message->settles = SettleTime(*message, drain);
  if (line.extra != 0) {
    for (Watch* watch = extras_[line.extra].watchers; watch != nullptr; watch = watch->next) {
      wake_(*watch, *message, VisibleFrom(*message, watch->agent, home));
    }
  }
  if (line.pending == nullptr && !(engine_.Now() < message->settles)) {
    Apply(line, *message);
    Free(message);
    return;
  }
  Message** link = &line.pending;
  while (*link != nullptr && !(message->created < (*link)->created)) link = &(*link)->next;
  message->next = *link;
  *link = message;
  if (recent_.empty()) next_settles_ = message->settles;
  if (recent_.full()) recent_.set_capacity(2 * recent_.capacity());
  recent_.push_back({&line, message->settles});
}

// Messages are folded in soon after they could be, while they and their lines are still in the
// host's caches, and not when somebody next comes by. It makes no difference to any reader.
void Memory::SettleRecent() {
  const Time now = engine_.Now();
  do {
    if (recent_.size() > kAhead) PrefetchLine(*recent_[kAhead].line);
    Settle(*recent_.front().line);
    recent_.pop_front();
    next_settles_ = recent_.empty() ? Time::Never() : recent_.front().settles;
  } while (!(now < next_settles_));
}

void Memory::Free(Message* message) {
  message->origin.released.reset();
  message->next = free_messages_;
  free_messages_ = message;
}

// Folds the oldest messages into the line: those that everybody sees, of which there is one.
void Memory::SettleFirst(Line& line) {
  const Time now = engine_.Now();
  do {
    Message* message = line.pending;
    line.pending = message->next;
    Apply(line, *message);
    Free(message);
  } while (line.pending != nullptr && !(now < line.pending->settles));
}

void Memory::Apply(Line& line, Message& message) {
  CopyPart(line.data + message.first, message.data + message.first, message.size);
  const uint64_t mask = message.origin.mask;
  OriginNode& newest = line.newest;
  if ((newest.origin.mask & ~mask) != 0 || newest.next != nullptr) MakeRoom(newest, mask);
  newest.origin = std::move(message.origin);
}

// The bytes of `mask` get a new origin: nobody else keeps them, and `newest` becomes free.
void Memory::MakeRoom(OriginNode& newest, uint64_t mask) {
  newest.origin.mask &= ~mask;
  OriginNode** link = &newest.next;
  while (*link != nullptr) {
    OriginNode* node = *link;
    node->origin.mask &= ~mask;
    if (node->origin.mask != 0) {
      link = &node->next;
      continue;
    }
    *link = node->next;
    node->origin.released.reset();
    node->next = free_origins_;
    free_origins_ = node;
  }
  if (newest.origin.mask == 0) return;
  OriginNode* node = NewOrigin();
  node->origin = std::move(newest.origin);
  node->next = newest.next;
  newest.next = node;
}

OriginNode* Memory::NewOrigin() {
  if (free_origins_ == nullptr) {
    origin_blocks_.push_back(std::make_unique<OriginNode[]>(kBlock));
    for (size_t i = 0; i < kBlock; ++i) {
      origin_blocks_.back()[i].next = free_origins_;
      free_origins_ = &origin_blocks_.back()[i];
    }
  }
  OriginNode* node = free_origins_;
  free_origins_ = node->next;
  return node;
}

}  // namespace ringpost::sim

// The accesses: splitting into lines, messages in and out, and the parking of readers.
#include "sim/memory/memory.h"

#include <algorithm>
#include <cstring>

#include "sim/engine/check.h"

namespace ringpost::sim {
namespace {

constexpr size_t kBlock = 1024;

// By words, as what a thread stores was made by words just before: a wider load of them would have
// to wait until they are out of the host's store buffer.
void CopyWords(uint8_t* to, const void* bytes, uint32_t size) {
  const auto* from = static_cast<const uint8_t*>(bytes);
  uint32_t done = 0;
  for (; done + 16 <= size; done += 16) {
    for (uint32_t word = 0; word < 16; word += 4) std::memcpy(to + done + word, from + done + word, 4);
  }
  for (; done + 4 <= size; done += 4) std::memcpy(to + done, from + done, 4);
  for (; done < size; ++done) to[done] = from[done];
}

// The one that will be taken next: it has gone cold since it was freed.
void PrefetchMessage(const Message* message) {
  for (size_t i = 0; i < sizeof(*message); i += kLineBytes) {
    __builtin_prefetch(reinterpret_cast<const char*>(message) + i, 1);
  }
}

}  // namespace

Memory::Memory(const Engine& engine, const MemoryOptions& options)
    : engine_(engine), options_(options) {}

Memory::~Memory() = default;

AgentId Memory::AddAgent(const AgentPlace& place) {
  agents_.emplace_back();
  agents_.back().place = place;
  agents_.back().stamp = ++stamp_;
  return static_cast<AgentId>(agents_.size() - 1);
}

Line& Memory::LineAt(uint64_t address, uint32_t size, Home* home) {
  Region* region = space_.Find(address, size);
  RINGPOST_CHECK(region != nullptr, "a thread accessed memory that nobody allocated");
  *home = region->home;
  return region->At(address);
}

Message* Memory::NewMessage(const Access& access, uint32_t offset, uint32_t size,
                            const void* bytes) {
  if (free_messages_ == nullptr) {
    message_blocks_.push_back(std::make_unique<Message[]>(kBlock));
    for (size_t i = 0; i < kBlock; ++i) {
      message_blocks_.back()[i].next = free_messages_;
      free_messages_ = &message_blocks_.back()[i];
    }
  }
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
  SettleRecent();
  if (line.pending != nullptr) Settle(line);
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
  recent_.push_back({&line, message->settles});
}

// Messages are folded in soon after they could be, while they and their lines are still in the
// host's caches, and not when somebody next comes by. It makes no difference to any reader.
void Memory::SettleRecent() {
  while (!recent_.empty() && !(engine_.Now() < recent_.front().settles)) {
    Settle(*recent_.front().line);
    recent_.pop_front();
  }
}

void Memory::Free(Message* message) {
  message->origin.released.reset();
  message->next = free_messages_;
  free_messages_ = message;
}

// Folds the oldest messages that everybody sees into the line.
void Memory::Settle(Line& line) {
  while (line.pending != nullptr && !(engine_.Now() < line.pending->settles)) {
    Message* message = line.pending;
    line.pending = message->next;
    Apply(line, *message);
    Free(message);
  }
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

bool Memory::Write(const Access& access, const void* bytes, uint64_t size, Duration drain) {
  if (size == 0) return true;
  Region* region = space_.Find(access.address, size);
  if (region == nullptr) return false;
  const uint8_t* from = static_cast<const uint8_t*>(bytes);
  uint64_t address = access.address;
  while (size > 0) {
    const uint32_t offset = static_cast<uint32_t>(address % kLineBytes);
    const uint32_t part = static_cast<uint32_t>(std::min<uint64_t>(size, kLineBytes - offset));
    Message* message = NewMessage(access, offset, part, from);
    Append(region->At(address), message, region->home, drain);
    address += part;
    from += part;
    size -= part;
  }
  return true;
}

bool Memory::WriteFromDevice(const Access& access, const void* bytes, uint64_t size) {
  if (size == 0) return true;
  Region* region = space_.Find(access.address, size);
  if (region == nullptr) return false;
  const Origin strong = ReleaseFromDevice(access.agent);
  const uint8_t* from = static_cast<const uint8_t*>(bytes);
  uint64_t address = access.address;
  while (size > 0) {
    const uint32_t offset = static_cast<uint32_t>(address % kLineBytes);
    const uint32_t part = static_cast<uint32_t>(std::min<uint64_t>(size, kLineBytes - offset));
    Message* message = NewMessage(access, offset, part, from);
    message->origin.stamp = strong.stamp;
    message->origin.released = strong.released;
    message->origin.self_scope = strong.self_scope;
    message->origin.strong = true;
    Append(region->At(address), message, region->home, {});
    address += part;
    from += part;
    size -= part;
  }
  return true;
}

bool Memory::Read(const Access& access, void* bytes, uint64_t size) {
  if (checker_.On()) Check(access, size);
  return Copy(access, bytes, size);
}

bool Memory::Copy(const Access& access, void* bytes, uint64_t size) {
  if (size == 0) return true;
  Region* region = space_.Find(access.address, size);
  if (region == nullptr) return false;
  uint8_t* to = static_cast<uint8_t*>(bytes);
  uint64_t address = access.address;
  while (size > 0) {
    const uint32_t offset = static_cast<uint32_t>(address % kLineBytes);
    const uint32_t part = static_cast<uint32_t>(std::min<uint64_t>(size, kLineBytes - offset));
    CopyVisible(region->At(address), offset, part, access, region->home, to);
    address += part;
    to += part;
    size -= part;
  }
  return true;
}

void Memory::Check(const Access& access, uint64_t size, const View* basis,
                   const ReadContext& context) {
  Region* region = size == 0 ? nullptr : space_.Find(access.address, size);
  if (region == nullptr) return;
  const View& view = basis != nullptr ? *basis : agents_[access.agent].known;
  Access part = access;
  while (size > 0) {
    const uint32_t offset = static_cast<uint32_t>(part.address % kLineBytes);
    const uint32_t bytes = static_cast<uint32_t>(std::min<uint64_t>(size, kLineBytes - offset));
    CheckRead(region->At(part.address), MaskOf(offset, bytes), part, region->home, view, context);
    part.address += bytes;
    size -= bytes;
  }
}

Line* Memory::CopyLine(const Access& access, void* bytes) {
  Region* region = space_.Find(access.address, kLineBytes);
  if (region == nullptr) return nullptr;
  Line& line = region->At(access.address);
  CopyVisible(line, 0, kLineBytes, access, region->home, static_cast<uint8_t*>(bytes));
  return &line;
}

void Memory::CheckLine(const Line& line, const Access& access, uint32_t size, const View* basis,
                       const ReadContext& context) {
  const View& view = basis != nullptr ? *basis : agents_[access.agent].known;
  const Region* region = space_.Find(access.address, size);
  CheckRead(line, MaskOf(0, size), access, region->home, view, context);
}

void Memory::CopyVisible(Line& line, uint32_t offset, uint32_t size, const Access& access,
                         Home home, uint8_t* out) {
  Overlay(line, offset, size, access, home, false, out);
}

// Lays what the reader reads over the settled bytes; the newest message among it, or null.
const Message* Memory::Overlay(Line& line, uint32_t offset, uint32_t size, const Access& access,
                               Home home, bool newest, void* out) {
  Settle(line);
  CopyPart(out, line.data + offset, size);
  const uint64_t wanted = MaskOf(offset, size);
  const Message* read = nullptr;
  for (const Message* message = line.pending; message != nullptr; message = message->next) {
    const uint64_t mask = message->origin.mask & wanted;
    if (mask == 0) continue;
    if (newest ? access.now < message->created
               : !Visible(*message, access.agent, home, access.now)) {
      continue;
    }
    const uint32_t first = static_cast<uint32_t>(std::countr_zero(mask));
    CopyPart(static_cast<uint8_t*>(out) + first - offset, message->data + first,
             static_cast<uint32_t>(std::popcount(mask)));
    read = message;
  }
  if (read != nullptr && options_.mode == VisibilityMode::kAdversarial) {
    See(line, wanted, access, home, newest);
  }
  return read;
}

// The messages that a read has taken bytes from are from now on the oldest that it may read.
void Memory::See(const Line& line, uint64_t wanted, const Access& access, Home home, bool newest) {
  std::vector<const Message*> visible;
  for (const Message* message = line.pending; message != nullptr; message = message->next) {
    const bool read = newest ? !(access.now < message->created)
                             : Visible(*message, access.agent, home, access.now);
    if (read) visible.push_back(message);
  }
  Agent& agent = agents_[access.agent];
  for (; !visible.empty() && wanted != 0; visible.pop_back()) {
    const Message& message = *visible.back();
    if ((message.origin.mask & wanted) == 0) continue;
    wanted &= ~message.origin.mask;
    agent.known.See(message.id, message.created + options_.horizon, engine_.Now());
  }
  // A device passes on all it knows, which is now more.
  if (agent.place.kind == AgentKind::kNic) agent.released.reset();
}

void Memory::ReadStrong(Line& line, const Access& access, uint32_t size, Home home, bool newest,
                        uint64_t* value, Origin* source) {
  const uint32_t offset = static_cast<uint32_t>(access.address % kLineBytes);
  *value = 0;
  const Message* read = Overlay(line, offset, size, access, home, newest, value);
  if (read != nullptr) {
    *source = read->origin;
    return;
  }
  const uint64_t mask = MaskOf(offset, size);
  for (const OriginNode* node = &line.newest; node != nullptr; node = node->next) {
    if ((node->origin.mask & mask) != 0) {
      *source = node->origin;
      return;
    }
  }
}

void Memory::Store(const Access& access, uint64_t value, uint32_t size, Order order, Scope scope,
                   Duration drain) {
  Home home;
  Line& line = LineAt(access.address, size, &home);
  Message* message =
      NewMessage(access, static_cast<uint32_t>(access.address % kLineBytes), size, &value);
  if (scope != Scope::kThread) MakeStrong(message->origin, agents_[access.agent], order, scope);
  Append(line, message, home, drain);
}

uint64_t Memory::Load(const Access& access, uint32_t size, Order order, Scope scope) {
  Home home;
  Line& line = LineAt(access.address, size, &home);
  uint64_t value = 0;
  Origin source;
  ReadStrong(line, access, size, home, false, &value, &source);
  if (source.strong && scope != Scope::kThread) {
    Acquire(access.agent, source, home, order, scope);
  }
  return value;
}

uint64_t Memory::BeginModify(const Access& access, uint32_t size, Order order, Scope scope) {
  Home home;
  Line& line = LineAt(access.address, size, &home);
  uint64_t value = 0;
  modified_ = {};
  ReadStrong(line, access, size, home, true, &value, &modified_);
  if (modified_.strong && scope != Scope::kThread) {
    Acquire(access.agent, modified_, home, order, scope);
  }
  return value;
}

// Adds to `origin` what the store that was read carries.
void Memory::ContinueRelease(Origin& origin) {
  const Acquirable read{modified_.agent, modified_.stamp, modified_.released, modified_.self_scope,
                        0};
  if (read.released == nullptr && read.self_scope < 0) return;
  if (read.released == origin.released && read.self_scope < 0) return;
  std::array<View, kScopes> views;
  if (origin.released != nullptr) views = origin.released->by_scope;
  for (int scope = 0; scope < kScopes; ++scope) JoinCarried(views[scope], read, scope, false);
  // Who takes turns has acquired what it reads here before: then this store carries no more.
  const auto same = [](const View& a, const View& b) { return a.SameAs(b); };
  if (origin.released != nullptr &&
      std::ranges::equal(views, origin.released->by_scope, same)) {
    return;
  }
  origin.released = new Released;
  origin.released->by_scope = std::move(views);
  origin.released->continues = true;
}

// A read-modify-write carries on the release sequence of what it read.
void Memory::FinishModify(const Access& access, uint64_t value, uint32_t size, Order order,
                          Scope scope) {
  Home home;
  Line& line = LineAt(access.address, size, &home);
  Message* message =
      NewMessage(access, static_cast<uint32_t>(access.address % kLineBytes), size, &value);
  MakeStrong(message->origin, agents_[access.agent], order, scope);
  if (modified_.strong) ContinueRelease(message->origin);
  Append(line, message, home, {});
}

bool Memory::Poke(uint64_t address, const void* bytes, uint64_t size) {
  Region* region = space_.Find(address, size);
  if (region == nullptr) return false;
  for (uint64_t i = 0; i < size; ++i) {
    region->At(address + i).data[(address + i) % kLineBytes] =
        static_cast<const uint8_t*>(bytes)[i];
  }
  return true;
}

bool Memory::Peek(uint64_t address, void* bytes, uint64_t size) {
  Region* region = space_.Find(address, size);
  if (region == nullptr) return false;
  for (uint64_t i = 0; i < size; ++i) {
    const Line& line = region->At(address + i);
    const uint64_t bit = (address + i) % kLineBytes;
    uint8_t value = line.data[bit];
    for (const Message* message = line.pending; message != nullptr; message = message->next) {
      if ((message->origin.mask >> bit) & 1) value = message->data[bit];
    }
    static_cast<uint8_t*>(bytes)[i] = value;
  }
  return true;
}

}  // namespace ringpost::sim

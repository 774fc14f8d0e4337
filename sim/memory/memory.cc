// The accesses that read, and those from outside; stores.cc has those that write.
#include "sim/memory/memory.h"

#include <algorithm>
#include <cstring>

#include "sim/engine/check.h"

namespace ringpost::sim {

Memory::Memory(const Engine& engine, const MemoryOptions& options)
    : engine_(engine),
      options_(options),
      settle_delay_(options.mode == VisibilityMode::kAdversarial ? options.horizon : Duration()) {}

AgentId Memory::AddAgent(const AgentPlace& place) {
  states_.Add(++stamp_);
  agents_.emplace_back();
  agents_.back().place = place;
  groups_.push_back(place.kind == AgentKind::kGpuThread ? kGroupBit | place.warp : 0);
  return static_cast<AgentId>(agents_.size() - 1);
}

Line& Memory::LineAt(uint64_t address, uint32_t size, Home* home) {
  Region* region = space_.Find(address, size);
  RINGPOST_CHECK(region != nullptr, "a thread accessed memory that nobody allocated");
  *home = region->home;
  return region->At(address);
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
    Overlay(region->At(address), offset, part, access, region->home, false, to);
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
  const View& view = basis != nullptr ? *basis : states_[access.agent].known;
  Access part = access;
  while (size > 0) {
    const uint32_t offset = static_cast<uint32_t>(part.address % kLineBytes);
    const uint32_t bytes = static_cast<uint32_t>(std::min<uint64_t>(size, kLineBytes - offset));
    CheckRead(region->At(part.address), MaskOf(offset, bytes), part, region->home, view, context);
    part.address += bytes;
    size -= bytes;
  }
}

LinePlace Memory::CopyLine(AgentId reader, uint64_t address, void* bytes) {
  Region* region = space_.Find(address, kLineBytes);
  if (region == nullptr) return {};
  Line& line = region->At(address);
  Settle(line);
  std::memcpy(bytes, line.data, kLineBytes);
  if (line.pending != nullptr) [[unlikely]] {
    const Access access{reader, address, engine_.Now(), {}};
    OverlayPending(line, 0, kLineBytes, access, region->home, false, bytes);
  }
  return {&line, region->home};
}

// Lays what the reader reads over the settled bytes; the newest message among it, or null.
const Message* Memory::Overlay(Line& line, uint32_t offset, uint32_t size, const Access& access,
                               Home home, bool newest, void* out) {
  Settle(line);
  CopyPart(out, line.data + offset, size);
  if (line.pending == nullptr) return nullptr;
  return OverlayPending(line, offset, size, access, home, newest, out);
}

const Message* Memory::OverlayPending(Line& line, uint32_t offset, uint32_t size,
                                      const Access& access, Home home, bool newest, void* out) {
  const uint64_t wanted = MaskOf(offset, size);
  const Message* read = nullptr;
  for (const Message* message = line.pending; message != nullptr; message = message->next) {
    const uint64_t mask = message->origin.Mask() & wanted;
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
    const uint64_t mask = message.origin.Mask();
    if ((mask & wanted) == 0) continue;
    wanted &= ~mask;
    states_.Own(access.agent)
        .known.See(message.id, message.created + options_.horizon, engine_.Now());
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
    if ((node->mask & mask) != 0) {
      *source = node->origin;
      return;
    }
  }
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

uint64_t Memory::CompareExchange(const Access& access, uint64_t expected, uint64_t desired,
                                 uint32_t size, Order order, Scope scope) {
  const uint64_t old = BeginModify(access, size, order, scope);
  if (old == expected) FinishModify(access, desired, size, order, scope);
  return old;
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
  auto* out = static_cast<uint8_t*>(bytes);
  while (size > 0) {
    const uint32_t offset = static_cast<uint32_t>(address % kLineBytes);
    const uint32_t part = static_cast<uint32_t>(std::min<uint64_t>(size, kLineBytes - offset));
    const Line& line = region->At(address);
    CopyPart(out, line.data + offset, part);
    for (const Message* message = line.pending; message != nullptr; message = message->next) {
      const uint64_t mask = message->origin.Mask() & MaskOf(offset, part);
      if (mask == 0) continue;
      const uint32_t first = static_cast<uint32_t>(std::countr_zero(mask));
      CopyPart(out + first - offset, message->data + first,
               static_cast<uint32_t>(std::popcount(mask)));
    }
    address += part;
    out += part;
    size -= part;
  }
  return true;
}

}  // namespace ringpost::sim

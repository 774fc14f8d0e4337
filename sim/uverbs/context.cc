#include "sim/uverbs/context.h"

#include <sys/mman.h>

#include <utility>

#include "sim/uverbs/commands/destroy.h"

namespace ringpost::sim::uverbs {

Context::Context(std::shared_ptr<NicHost> nic) : nic_(std::move(nic)) {}

Context::~Context() {
  // What uses others goes before them; DevX objects use all kinds.
  if (devx != nullptr && !nic_->Call([this](service::NicLoop&) { devx.reset(); })) {
    // The NIC has ended, and its firmware with it: there is nothing left to destroy.
    static_cast<void>(devx.release());
  }
  for (const uint32_t handle : qps.Handles()) DestroyQp(*this, handle, nullptr);
  for (const uint32_t handle : srqs.Handles()) DestroySrq(*this, handle, nullptr);
  for (const uint32_t handle : cqs.Handles()) DestroyCq(*this, handle, nullptr, nullptr);
  for (const uint32_t handle : mrs.Handles()) DestroyMr(*this, handle);
  for (const uint32_t handle : ahs.Handles()) DestroyAh(*this, handle);
  for (const uint32_t handle : uars.Handles()) DestroyUar(*this, handle);
  for (const uint32_t handle : pds.Handles()) DestroyPd(*this, handle);
}

int Context::MakeEvents() {
  events_ = EventPipe::Make(sizeof(ib_uverbs_async_event_desc));
  return events_ == nullptr ? -1 : events_->ProgramEnd();
}

int Context::MakeChannel() {
  std::shared_ptr<EventPipe> channel = EventPipe::Make(sizeof(ib_uverbs_comp_event_desc));
  if (channel == nullptr) return -1;
  channels_[channel->ProgramEnd()] = channel;
  return channel->ProgramEnd();
}

std::shared_ptr<EventPipe> Context::ChannelOf(int file) const {
  const auto found = channels_.find(file);
  return found == channels_.end() ? nullptr : found->second;
}

void Context::Closed(int file) { channels_.erase(file); }

void Context::PostEvent(EventPipe* events, uint64_t object, uint32_t type) {
  if (events == nullptr) return;
  const ib_uverbs_async_event_desc record{object, type, 0};
  events->Post(&record);
}

void Context::Allow(service::NicLoop& loop, const Range& range) {
  if (range.bytes != 0) loop.Memory().Allow(range.address, range.bytes);
}

void Context::Forbid(service::NicLoop& loop, const Range& range) {
  if (range.bytes != 0) loop.Memory().Forbid(range.address, range.bytes);
}

}  // namespace ringpost::sim::uverbs

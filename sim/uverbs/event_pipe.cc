#include "sim/uverbs/event_pipe.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "sim/uverbs/real_calls.h"

namespace ringpost::sim::uverbs {
namespace {

uint64_t ObjectOf(const std::vector<uint8_t>& record) {
  uint64_t object = 0;
  std::memcpy(&object, record.data(), sizeof(object));
  return object;
}

}  // namespace

std::shared_ptr<EventPipe> EventPipe::Make(size_t record_bytes) {
  std::shared_ptr<EventPipe> pipe(new EventPipe(record_bytes));
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return nullptr;
  pipe->program_end_ = ends[0];
  pipe->write_end_ = ends[1];
  // Another description of the same pipe: O_NONBLOCK here is not the program's. Also keeps the
  // pipe whole when the program has closed its end, so that a late event raises no SIGPIPE.
  const std::string path = "/proc/self/fd/" + std::to_string(ends[0]);
  pipe->drain_end_ = real::Open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (pipe->drain_end_ < 0 || fcntl(ends[1], F_SETFL, O_NONBLOCK) != 0) {
    real::Close(ends[0]);
    return nullptr;
  }
  return pipe;
}

EventPipe::~EventPipe() {
  if (write_end_ >= 0) real::Close(write_end_);
  if (drain_end_ >= 0) real::Close(drain_end_);
}

bool EventPipe::Write(const Record& record) {
  return real::Write(write_end_, record.data(), record.size()) ==
         static_cast<ssize_t>(record.size());
}

void EventPipe::Flush() {
  while (!waiting_.empty() && Write(waiting_.front())) waiting_.pop_front();
}

void EventPipe::Post(const void* record) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto* bytes = static_cast<const uint8_t*>(record);
  waiting_.emplace_back(bytes, bytes + record_bytes_);
  ++written_[ObjectOf(waiting_.back())];
  Flush();
}

uint32_t EventPipe::Forget(uint64_t object) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto known = written_.find(object);
  if (known == written_.end()) return 0;
  uint32_t unread = 0;
  std::deque<Record> others;
  Record record(record_bytes_);
  while (read(drain_end_, record.data(), record.size()) == static_cast<ssize_t>(record.size())) {
    others.push_back(record);
  }
  others.insert(others.end(), waiting_.begin(), waiting_.end());
  waiting_.clear();
  for (Record& other : others) {
    if (ObjectOf(other) == object) {
      ++unread;
    } else {
      waiting_.push_back(std::move(other));
    }
  }
  Flush();
  const uint32_t taken = known->second - unread;
  written_.erase(known);
  return taken;
}

}  // namespace ringpost::sim::uverbs

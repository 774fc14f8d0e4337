// event_pipe.h: a file descriptor from which a program reads events: a completion channel, or the
// asynchronous events of a context.
//
// It is a pipe, so that read, poll, fcntl and close are the system's own. Records have one size.
// Any thread may call anything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace ringpost::sim::uverbs {

class EventPipe {
 public:
  // `record_bytes`: of each record; its first 8 bytes name the object, as the program knows it.
  // Null, with errno, where the system gives no descriptors.
  static std::shared_ptr<EventPipe> Make(size_t record_bytes);
  EventPipe(const EventPipe&) = delete;
  EventPipe& operator=(const EventPipe&) = delete;
  ~EventPipe();

  // The program's end, which the program closes.
  int ProgramEnd() const { return program_end_; }

  void Post(const void* record);
  // The object ends: takes back what was not read of it. Returns how many records were.
  uint32_t Forget(uint64_t object);

 private:
  using Record = std::vector<uint8_t>;
  explicit EventPipe(size_t record_bytes) : record_bytes_(record_bytes) {}
  bool Write(const Record& record);
  void Flush();

  const size_t record_bytes_;
  int program_end_ = -1;
  int write_end_ = -1;
  int drain_end_ = -1;  // reads without waiting, also where the program's end would
  std::mutex mutex_;
  std::map<uint64_t, uint32_t> written_;  // guarded, as is the next, by mutex_
  std::deque<Record> waiting_;            // where the pipe is full
};

}  // namespace ringpost::sim::uverbs

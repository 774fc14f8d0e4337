// event_watch.h: the thread that reads a device's asynchronous events: links that go down, firmware
// that fails, QPs and CQs in error.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "backends/mlx5/device.h"

namespace ringpost::mlx5 {

class EventWatch {
 public:
  // `device` outlives it. `note` is called with one line for each event, on the thread.
  static Result<std::unique_ptr<EventWatch>> Start(const Device& device,
                                                   std::function<void(const std::string&)> note);
  ~EventWatch();

  // The first event after which no transfer can be trusted to end. Empty: none. Any thread.
  std::string Failure() const;

 private:
  EventWatch(const Device& device, std::function<void(const std::string&)> note)
      : device_(device), note_(std::move(note)) {}
  void Serve();
  void Read();

  const Device& device_;
  const std::function<void(const std::string&)> note_;
  int stop_ = -1;  // an eventfd
  mutable std::mutex mutex_;
  std::string failure_;
  std::thread thread_;
};

// "mlx5_0: port 1: the link went down", and whether the NIC that uses `port` has failed with it. No
// line for what is as it should be: a first packet, a queue that drained.
struct EventText {
  std::string line;
  bool fatal = false;
};
EventText Describe(const std::string& device, uint32_t port, const ibv_async_event& event);

}  // namespace ringpost::mlx5

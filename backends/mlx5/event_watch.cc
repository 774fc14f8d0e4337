#include "backends/mlx5/event_watch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>

#include "backends/mlx5/failure.h"

namespace ringpost::mlx5 {
namespace {

enum class About : uint8_t { kDevice, kPort, kQp, kCq, kSrq };

struct Kind {
  ibv_event_type type;
  About about;
  bool fatal;
  std::string_view text;
};

// A QP in error is no failure of its NIC: whoever waits for it gets its error CQE.
constexpr Kind kKinds[] = {
    {IBV_EVENT_DEVICE_FATAL, About::kDevice, true, "the device has failed; it must be reset"},
    {IBV_EVENT_PORT_ERR, About::kPort, true, "the link went down"},
    {IBV_EVENT_PORT_ACTIVE, About::kPort, false, "the link came up"},
    {IBV_EVENT_LID_CHANGE, About::kPort, true, "the LID changed: connect again"},
    {IBV_EVENT_GID_CHANGE, About::kPort, false, "the GID table changed"},
    {IBV_EVENT_PKEY_CHANGE, About::kPort, false, "the table of partition keys changed"},
    {IBV_EVENT_CQ_ERR, About::kCq, true, "overran, and its QPs are in error"},
    {IBV_EVENT_QP_FATAL, About::kQp, false, "is in error"},
    {IBV_EVENT_QP_REQ_ERR, About::kQp, false, "got an invalid request"},
    {IBV_EVENT_QP_ACCESS_ERR, About::kQp, false, "got a request that its keys or rights forbid"},
    {IBV_EVENT_SRQ_ERR, About::kSrq, true, "is in error"},
};

}  // namespace

EventText Describe(const std::string& device, uint32_t port, const ibv_async_event& event) {
  switch (event.event_type) {
    case IBV_EVENT_COMM_EST:
    case IBV_EVENT_SQ_DRAINED:
    case IBV_EVENT_QP_LAST_WQE_REACHED:
    case IBV_EVENT_CLIENT_REREGISTER:
    case IBV_EVENT_SM_CHANGE:
      return {};
    default:
      break;
  }
  for (const Kind& kind : kKinds) {
    if (kind.type != event.event_type) continue;
    switch (kind.about) {
      case About::kDevice:
        return {fmt::format("{}: {}", device, kind.text), kind.fatal};
      case About::kPort:
        return {fmt::format("{}: port {}: {}", device, event.element.port_num, kind.text),
                kind.fatal && static_cast<uint32_t>(event.element.port_num) == port};
      case About::kQp:
        return {fmt::format("{}: QP {:#x} {}", device, event.element.qp->qp_num, kind.text),
                kind.fatal};
      case About::kCq:
        return {fmt::format("{}: a CQ (handle {}) {}", device, event.element.cq->handle, kind.text),
                kind.fatal};
      case About::kSrq:
        return {
            fmt::format("{}: an SRQ (handle {}) {}", device, event.element.srq->handle, kind.text),
            kind.fatal};
    }
  }
  return {fmt::format("{}: event {}", device, ibv_event_type_str(event.event_type)), false};
}

Result<std::unique_ptr<EventWatch>> EventWatch::Start(
    const Device& device, std::function<void(const std::string&)> note) {
  std::unique_ptr<EventWatch> watch(new EventWatch(device, std::move(note)));
  const int events = device.context()->async_fd;
  // An event that poll() saw may be gone by the time it is read.
  const int flags = fcntl(events, F_GETFL);
  if (flags < 0 || fcntl(events, F_SETFL, flags | O_NONBLOCK) != 0) {
    return CallFailed(device.Name(), "fcntl of its event file", errno);
  }
  watch->stop_ = eventfd(0, EFD_CLOEXEC);
  if (watch->stop_ < 0) return CallFailed(device.Name(), "eventfd", errno);
  watch->thread_ = std::thread([raw = watch.get()] { raw->Serve(); });
  return watch;
}

EventWatch::~EventWatch() {
  if (thread_.joinable()) {
    const uint64_t one = 1;
    static_cast<void>(write(stop_, &one, sizeof(one)) == sizeof(one));
    thread_.join();
  }
  if (stop_ >= 0) close(stop_);
}

std::string EventWatch::Failure() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return failure_;
}

void EventWatch::Serve() {
  pollfd files[2] = {{device_.context()->async_fd, POLLIN, 0}, {stop_, POLLIN, 0}};
  for (;;) {
    if (poll(files, 2, -1) < 0 && errno != EINTR) return;
    if (files[1].revents != 0) return;
    if ((files[0].revents & POLLIN) != 0) {
      Read();
    } else if (files[0].revents != 0) {
      return;  // the file is closed, or has failed: nothing more will come
    }
  }
}

void EventWatch::Read() {
  ibv_async_event event = {};
  if (ibv_get_async_event(device_.context(), &event) != 0) return;
  const EventText text = Describe(device_.Facts().name, device_.Facts().port, event);
  // Until then the object that it names cannot be destroyed.
  ibv_ack_async_event(&event);
  if (note_ && !text.line.empty()) note_(text.line);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (text.fatal && failure_.empty()) failure_ = text.line;
}

}  // namespace ringpost::mlx5

#include "sim/uverbs/nic_host.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <utility>

#include "sim/service/segment_port.h"
#include "sim/uverbs/own_calls.h"

namespace ringpost::sim::uverbs {
namespace {

// Two programs that spin, each with its NIC, are what most tests of RDMA are.
constexpr int kCoresToYield = 4;

constexpr uint32_t kTurnsBeforeSleep = 64;

int Cores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  return sched_getaffinity(0, sizeof(cores), &cores) == 0 ? CPU_COUNT(&cores) : 1;
}

service::Idle IdleOf(Idle idle) {
  switch (idle) {
    case Idle::kSpin:
      return service::Idle::kSpin;
    case Idle::kYield:
      return service::Idle::kYield;
    case Idle::kSleep:
      return service::Idle::kSleep;
    case Idle::kAuto:
      break;
  }
  return Cores() >= kCoresToYield ? service::Idle::kYield : service::Idle::kSleep;
}

// A program's signals are for its own threads: none is delivered on a thread made meanwhile.
class NoSignals {
 public:
  NoSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

// The calling thread asks for short slices: a scheduler that knows them (Linux 6.12) lets it run
// sooner when it wakes beside a program that spins.
void AskForShortSlices() {
  struct {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
  } request{};
  // All else stays: a thread less nice than its program would starve it, and a nicer one starve.
  if (syscall(SYS_sched_getattr, 0, &request, sizeof(request), 0) != 0) return;
  request.runtime = 100'000;  // ns
  syscall(SYS_sched_setattr, 0, &request, 0);
}

constexpr uint64_t KeyOf(Subject subject, uint32_t number) {
  return uint64_t{static_cast<uint8_t>(subject)} << 32 | number;
}

Subject SubjectOf(EventKind kind) {
  switch (kind) {
    case EventKind::kCompletion:
    case EventKind::kCqError:
      return Subject::kCq;
    case EventKind::kSrqLimit:
      return Subject::kSrq;
    default:
      return Subject::kQp;
  }
}

// What is put on top of one NIC of many, and what is written down of it: a process may open its
// device again.
service::LoopOverlay OverlayOf(const Settings& settings, const DeviceSettings& device) {
  static std::atomic<uint32_t> opened{0};
  const std::string file = settings.folder + "/" + std::to_string(getpid()) + "-" +
                           std::to_string(opened.fetch_add(1, std::memory_order_relaxed)) + "-" +
                           device.name;
  uint16_t number = 0;
  while (settings.devices[number].name != device.name) ++number;
  service::LoopOverlay overlay;
  overlay.pace = settings.pace;
  overlay.faults = {settings.faults, number, settings.seed};
  overlay.address = service::AddressOf(device.Info());
  overlay.on_failure = [name = device.name](const std::string& why) {
    std::fprintf(stderr, "ringpost: device %s: what it does is not written down: %s\n",
                 name.c_str(), why.c_str());
  };
  const Observing& wanted = settings.observing;
  if (wanted.packets) overlay.packet_log = file + kPacketsSuffix;
  if (wanted.counters || wanted.steps != 0) {
    service::ObserverSpec observer;
    observer.path = file + kObservationSuffix;
    observer.steps = wanted.steps;
    observer.device = device.name;
    observer.on_failure = overlay.on_failure;
    observer.device_number = number;
    overlay.observer = std::move(observer);
  }
  return overlay;
}

prm::FirmwareConfig FirmwareOf(NicHost& host) {
  const DeviceSettings& device = host.Device();
  prm::FirmwareConfig config;
  config.link = device.link;
  config.gids = {device.DefaultGid()};
  config.mac = MacOf(config.gids[0]);
  config.completion_vectors = NicHost::kCompletionVectors;
  config.uars.allocate = [&host] { return host.Uars().Allocate(); };
  config.uars.free = [&host](uint32_t page) { host.Uars().Free(page); };
  config.uars.address = [&host](uint32_t page) { return host.Uars().AddressOf(page); };
  return config;
}

}  // namespace

Result<std::shared_ptr<NicHost>> NicHost::Start(const Settings& settings,
                                                const DeviceSettings& device,
                                                std::shared_ptr<UarPages> uars,
                                                std::function<void()> on_gpu) {
  std::shared_ptr<NicHost> host(new NicHost());
  host->device_ = device;
  host->limits_ = settings.limits;
  host->uars_ = std::move(uars);
  auto fabric = service::FabricSegment::Open({.name = settings.fabric});
  if (!fabric.Ok()) return Error{fabric.Message()};
  host->fabric_ = std::move(fabric.Value());
  service::ServiceOptions options;
  options.idle = IdleOf(settings.idle);
  options.sleep = settings.sleep;
  // A yield would hand the core to a program that spins, for milliseconds.
  options.turns_before_sleep = kTurnsBeforeSleep;
  options.on_event = [raw = host.get()](const AsyncEvent& event) { raw->OnEvent(event); };
  options.overlay = OverlayOf(settings, device);
  const auto polling =
      options.idle == service::Idle::kSleep ? service::Polling::kSleep : service::Polling::kSpin;
  auto port = service::SegmentPort::Attach(*host->fabric_, device.Info(), polling);
  if (!port.Ok()) return Error{port.Message()};
  RnicConfig config;
  config.slot = port.Value()->Slot();
  config.limits = settings.limits;
  config.routed = device.link == wire::Link::kEthernet;
  host->mtu_ = config.mtu;
  const NoSignals no_signals;
  auto service = service::NicService::Start(std::move(port.Value()), config, options);
  if (!service.Ok()) return Error{service.Message()};
  host->service_ = std::move(service.Value());
  // Sleeps of microseconds are what they say: the usual slack is 50 us.
  host->Call([raw = host.get(), &on_gpu](service::NicLoop& loop) {
    t_own_calls = true;
    prctl(PR_SET_TIMERSLACK, 1);
    AskForShortSlices();
    loop.Memory().StampCqes();
    loop.Memory().GuardAccesses();
    raw->gpu_ = std::make_unique<gpu::GpuMemory>("device " + raw->device_.name, on_gpu);
    loop.Memory().SetReach([raw](uint64_t address, uint64_t bytes, DeviceAccess** device) {
      return raw->gpu_ == nullptr || raw->gpu_->Reach(address, bytes, device);
    });
    raw->firmware_ = std::make_unique<prm::Firmware>(loop, FirmwareOf(*raw));
  });
  return host;
}

bool NicHost::Call(const std::function<void(service::NicLoop&)>& body) {
  return service_ != nullptr && service_->Call(body).Ok();
}

void NicHost::Listen(Subject subject, uint32_t number, Listener listener) {
  listeners_[KeyOf(subject, number)] = std::move(listener);
}

void NicHost::Forget(Subject subject, uint32_t number) { listeners_.erase(KeyOf(subject, number)); }

void NicHost::OnEvent(const AsyncEvent& event) {
  const auto found = listeners_.find(KeyOf(SubjectOf(event.kind), event.number));
  if (found != listeners_.end()) found->second(event.kind);
}

void NicHost::LeaveGpus() {
  Call([this](service::NicLoop& loop) {
    loop.DropDevices();
    gpu_.reset();
  });
}

void NicHost::Stop() {
  // It uses the loop; a thread that has ended by itself does not.
  if (!Call([this](service::NicLoop&) { firmware_.reset(); })) firmware_.reset();
  service_.reset();
  gpu_.reset();
  fabric_.reset();
}

}  // namespace ringpost::sim::uverbs

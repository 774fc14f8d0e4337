#include "sim/uverbs/emulation.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "sim/uverbs/call_log.h"
#include "sim/uverbs/device_file.h"
#include "sim/uverbs/own_calls.h"
#include "sim/uverbs/uar_pages.h"

namespace ringpost::sim::uverbs::emulation {
namespace {

constexpr char kDevicePrefix[] = "/dev/infiniband/uverbs";
// What of these a machine really has is hidden; elsewhere the tree adds what is not there.
constexpr const char* kOwned[] = {"/dev/infiniband", "/sys/class/infiniband",
                                  "/sys/class/infiniband_verbs"};
constexpr const char* kShared[] = {"/sys/"};
constexpr int kFastFiles = 1 << 16;
constexpr char kWriteAbi[] = "write";

bool StartsWith(const char* text, const char* prefix) {
  return std::strncmp(text, prefix, std::strlen(prefix)) == 0;
}

// `path` is `folder` or below it.
bool IsUnder(const char* path, const char* folder) {
  const size_t length = std::strlen(folder);
  return std::strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

bool Exists(const char* path) {
  char target;
  return syscall(SYS_readlink, path, &target, 1) >= 0 || errno == EINVAL;
}

void LeaveGpusAtExit();

class State {
 public:
  State(std::string root, Settings settings, bool methods)
      : root_(std::move(root)), settings_(std::move(settings)), methods_(methods) {}
  // A child's: its descriptors are the parent's still.
  explicit State(const State& parent) : State(parent.root_, parent.settings_, parent.methods_) {
    for (const auto& [file, device] : parent.files_) {
      Mark(file, true);
      files_[file] = nullptr;
    }
  }

  const std::string& Root() const { return root_; }
  const Settings& Known() const { return settings_; }
  std::mutex& Mutex() { return mutex_; }

  void Add(int file, std::shared_ptr<DeviceFile> device) {
    const std::lock_guard<std::mutex> lock(mutex_);
    Mark(file, true);
    files_[file] = std::move(device);
  }
  // Null: a parent's.
  bool Find(int file, std::shared_ptr<DeviceFile>* device) {
    if (file < 0 || (file < kFastFiles && !fast_[file].load(std::memory_order_relaxed))) {
      return false;
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = files_.find(file);
    if (found == files_.end()) return false;
    *device = found->second;
    return true;
  }
  // The file's own end, if this was the last descriptor, is outside the lock.
  void Remove(int file) {
    std::vector<std::shared_ptr<DeviceFile>> others;
    std::shared_ptr<DeviceFile> ended;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      const auto found = files_.find(file);
      if (found != files_.end()) {
        ended = std::move(found->second);
        files_.erase(found);
        Mark(file, false);
      } else {
        for (const auto& [number, device] : files_) {
          if (device != nullptr) others.push_back(device);
        }
      }
    }
    for (const auto& device : others) device->Closed(file);
  }
  bool HasFiles() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return !files_.empty();
  }

  // The device's pages in this process, which live as long as a file or its NIC uses them.
  std::shared_ptr<UarPages> PagesOf(const DeviceSettings& device) {
    const std::lock_guard<std::mutex> lock(attach_mutex_);
    std::weak_ptr<UarPages>& known = pages_[device.name];
    std::shared_ptr<UarPages> pages = known.lock();
    if (pages == nullptr) known = pages = UarPages::Make();
    return pages;
  }
  // The device's NIC in this process, which lives as long as a context uses it.
  std::shared_ptr<NicHost> Attach(const DeviceSettings& device,
                                  const std::shared_ptr<UarPages>& pages) {
    const std::lock_guard<std::mutex> lock(attach_mutex_);
    std::weak_ptr<NicHost>& known = nics_[device.name];
    std::shared_ptr<NicHost> nic = known.lock();
    if (nic != nullptr) return nic;
    auto started = NicHost::Start(settings_, device, pages, LeaveGpusAtExit);
    if (!started.Ok()) {
      std::fprintf(stderr, "ringpost: device %s: %s\n", device.name.c_str(),
                   started.Message().c_str());
      return nullptr;
    }
    known = started.Value();
    return started.Value();
  }
  void LeaveGpus() {
    const std::lock_guard<std::mutex> lock(attach_mutex_);
    for (const auto& [name, known] : nics_) {
      if (const auto nic = known.lock()) nic->LeaveGpus();
    }
  }
  void Stop() {
    const std::lock_guard<std::mutex> lock(attach_mutex_);
    for (const auto& [name, known] : nics_) {
      if (const auto nic = known.lock()) nic->Stop();
    }
  }
  bool Methods() const { return methods_; }

 private:
  void Mark(int file, bool ours) {
    if (file < kFastFiles) fast_[file].store(ours, std::memory_order_relaxed);
  }

  const std::string root_;
  const Settings settings_;
  const bool methods_;
  std::mutex mutex_;
  std::array<std::atomic<bool>, kFastFiles> fast_{};
  std::map<int, std::shared_ptr<DeviceFile>> files_;  // guarded by mutex_
  std::mutex attach_mutex_;
  std::map<std::string, std::weak_ptr<NicHost>> nics_;  // guarded, as is the next, by attach_mutex_
  std::map<std::string, std::weak_ptr<UarPages>> pages_;
};

// Never destroyed: threads and other libraries' destructors may still call.
std::atomic<State*> g_state{nullptr};

// The driver ends with the program, by a handler of its own that was there before there was memory
// of a GPU: so this one runs before that, and a NIC that is still open asks a driver that is there.
void LeaveGpusAtExit() {
  static const int registered = std::atexit([] {
    const OwnCalls own;
    if (State* state = g_state.load()) state->LeaveGpus();
  });
  static_cast<void>(registered);
}

void BeforeFork() {
  if (State* state = g_state.load()) state->Mutex().lock();
}
void AfterForkInParent() {
  if (State* state = g_state.load()) state->Mutex().unlock();
}
// The parent's state is left as it was: its NIC threads are not here, their locks may be held.
void AfterForkInChild() {
  State* parent = g_state.load();
  if (parent == nullptr) return;
  g_state.store(new State(*parent));
}

State* Start(const char* root) {
  Result<Settings> settings = ReadSettings(root);
  if (!settings.Ok()) {
    std::fprintf(stderr, "ringpost: no virtual devices: %s\n", settings.Message().c_str());
    return nullptr;
  }
  const char* set = std::getenv(kAbiVariable);
  const std::string abi = set == nullptr ? "" : set;
  const std::string wrong =
      abi.empty() || abi == kWriteAbi
          ? call_log::WhyNot()
          : std::string(kAbiVariable) + ": '" + abi + "' is not known; use write, or unset it";
  if (!wrong.empty()) {
    std::fprintf(stderr, "ringpost: no virtual devices: %s\n", wrong.c_str());
    // Not null: the program must not get the machine's own devices instead.
    settings.Value().devices.clear();
  }
  return new State(root, std::move(settings.Value()), abi != kWriteAbi);
}

State* Get() {
  static const bool started = [] {
    const char* root = std::getenv(kRootVariable);
    if (root == nullptr || *root == '\0') return false;
    const OwnCalls own;
    State* state = Start(root);
    if (state == nullptr) return false;
    g_state.store(state);
    pthread_atfork(BeforeFork, AfterForkInParent, AfterForkInChild);
    return true;
  }();
  return started ? g_state.load() : nullptr;
}

State* Usable() { return t_own_calls ? nullptr : Get(); }

int Refuse(int error) {
  if (error == 0) return 0;
  errno = error;
  return -1;
}

bool DeviceOf(int file, std::shared_ptr<DeviceFile>* device) {
  State* state = Usable();
  return state != nullptr && state->Find(file, device);
}

}  // namespace

bool Active() { return Usable() != nullptr; }

const char* Redirect(const char* call, const char* path, char* buffer) {
  if (path == nullptr || path[0] != '/' || (path[1] != 's' && path[1] != 'd')) return path;
  State* state = Usable();
  if (state == nullptr) return path;
  bool owned = false, shared = false;
  for (const char* folder : kOwned) owned |= IsUnder(path, folder);
  for (const char* folder : kShared) shared |= StartsWith(path, folder);
  if (!owned && !shared) return path;
  const int length = std::snprintf(buffer, PATH_MAX, "%s%s", state->Root().c_str(), path);
  if (length < 0 || length >= PATH_MAX) return path;
  const int before = errno;
  const bool ours = owned || (!Exists(path) && Exists(buffer));
  errno = before;
  if (!ours) return path;
  call_log::Redirect(call, path, buffer);
  return buffer;
}

void Restore(char* path) {
  State* state = Usable();
  if (state == nullptr || path == nullptr) return;
  const size_t length = state->Root().size();
  if (std::strncmp(path, state->Root().c_str(), length) != 0 || path[length] != '/') return;
  std::memmove(path, path + length, std::strlen(path + length) + 1);
}

void NoteRelative(const char* call, int folder, const char* path) {
  if (path == nullptr || path[0] == '/' || path[0] == '\0' || folder < 0) return;
  State* state = Usable();
  if (state == nullptr || !call_log::On()) return;
  const int before = errno;
  char begin[PATH_MAX] = {};
  const std::string link = "/proc/self/fd/" + std::to_string(folder);
  const ssize_t length = syscall(SYS_readlink, link.c_str(), begin, sizeof(begin) - 1);
  errno = before;
  if (length < 0 || !IsUnder(begin, state->Root().c_str())) return;
  const std::string there = std::string(begin) + "/" + path;
  call_log::Redirect(call, there.c_str() + state->Root().size(), there.c_str());
}

int Open(const char* path, int flags) {
  if (path == nullptr || !StartsWith(path, kDevicePrefix)) return kNotADevice;
  State* state = Usable();
  if (state == nullptr) return kNotADevice;
  const OwnCalls own;
  char* end = nullptr;
  const unsigned long number = std::strtoul(path + std::strlen(kDevicePrefix), &end, 10);
  if (*end != '\0' || number >= state->Known().devices.size()) return Refuse(ENOENT);
  const DeviceSettings& device = state->Known().devices[number];
  const std::shared_ptr<UarPages> pages = state->PagesOf(device);
  const int file = pages == nullptr ? -1 : pages->Open(flags);
  if (file < 0) return -1;
  const auto attach = [state, &device, pages] { return state->Attach(device, pages); };
  state->Add(file, std::make_shared<DeviceFile>(attach, state->Methods()));
  call_log::Open(path, file);
  return file;
}

bool IsDevice(int file) {
  std::shared_ptr<DeviceFile> device;
  return DeviceOf(file, &device);
}

ssize_t Write(int file, const void* bytes, size_t size) {
  std::shared_ptr<DeviceFile> device;
  DeviceOf(file, &device);
  const OwnCalls own;
  const int error = device == nullptr ? EIO : device->Write(bytes, size);
  return error == 0 ? static_cast<ssize_t>(size) : Refuse(error);
}

int Ioctl(int file, unsigned long request, void* argument) {
  std::shared_ptr<DeviceFile> device;
  DeviceOf(file, &device);
  if (device == nullptr) return Refuse(EIO);
  if (request != RDMA_VERBS_IOCTL) return Refuse(ENOTTY);
  const OwnCalls own;
  return Refuse(device->Ioctl(static_cast<ib_uverbs_ioctl_hdr*>(argument)));
}

void* Map(void* address, size_t size, int protection, int flags, int file, off_t offset) {
  std::shared_ptr<DeviceFile> device;
  DeviceOf(file, &device);
  if (device == nullptr) {
    errno = EIO;
    return MAP_FAILED;
  }
  const OwnCalls own;
  void* mapped = device->Map(address, size, protection, flags, offset);
  call_log::Map(file, static_cast<uint64_t>(offset), mapped);
  return mapped;
}

void Close(int file) {
  State* state = Usable();
  if (state == nullptr || !state->HasFiles()) return;
  if (IsDevice(file)) call_log::Close(file);
  const OwnCalls own;
  state->Remove(file);
}

void Duplicated(int file, int copy) {
  std::shared_ptr<DeviceFile> device;
  if (copy >= 0 && DeviceOf(file, &device)) Usable()->Add(copy, device);
}

void Shutdown() {
  State* state = Usable();
  if (state == nullptr) return;
  const OwnCalls own;
  state->Stop();
}

}  // namespace ringpost::sim::uverbs::emulation

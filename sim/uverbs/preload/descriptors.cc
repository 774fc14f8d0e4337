// The system's calls on descriptors, in whose place these stand: those of a virtual device are
// answered, all others go on to the system.
#include <fcntl.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <type_traits>

#include "sim/uverbs/emulation.h"
#include "sim/uverbs/preload/next.h"

namespace {

namespace emulation = ringpost::sim::uverbs::emulation;

constexpr int kNetlink = 16;
constexpr int kNetlinkRdma = 20;

// The kernel's own list of RDMA devices has none of these, and would be asked first.
bool IsRdmaNetlink(int domain, int protocol) {
  return domain == kNetlink && protocol == kNetlinkRdma && emulation::Active();
}

}  // namespace

extern "C" {

int close(int file) {
  emulation::Close(file);
  return RINGPOST_NEXT(int(int), close)(file);
}

ssize_t write(int file, const void* bytes, size_t size) {
  if (emulation::IsDevice(file)) return emulation::Write(file, bytes, size);
  return RINGPOST_NEXT(ssize_t(int, const void*, size_t), write)(file, bytes, size);
}

int ioctl(int file, unsigned long request, ...) noexcept {
  va_list arguments;
  va_start(arguments, request);
  void* argument = va_arg(arguments, void*);
  va_end(arguments);
  if (emulation::IsDevice(file)) return emulation::Ioctl(file, request, argument);
  return RINGPOST_NEXT(int(int, unsigned long, ...), ioctl)(file, request, argument);
}

void* mmap(void* address, size_t size, int protection, int flags, int file, off_t offset) noexcept {
  if (file >= 0 && emulation::IsDevice(file)) {
    return emulation::Map(address, size, protection, flags, file, offset);
  }
  return RINGPOST_NEXT(void*(void*, size_t, int, int, int, off_t), mmap)(address, size, protection,
                                                                         flags, file, offset);
}

void* mmap64(void* address, size_t size, int protection, int flags, int file,
             off64_t offset) noexcept {
  return mmap(address, size, protection, flags, file, offset);
}

int socket(int domain, int type, int protocol) noexcept {
  if (IsRdmaNetlink(domain, protocol)) {
    errno = EPROTONOSUPPORT;
    return -1;
  }
  return RINGPOST_NEXT(int(int, int, int), socket)(domain, type, protocol);
}

int dup(int file) noexcept {
  const int copy = RINGPOST_NEXT(int(int), dup)(file);
  emulation::Duplicated(file, copy);
  return copy;
}

int dup2(int file, int number) noexcept {
  if (file != number) emulation::Close(number);
  const int copy = RINGPOST_NEXT(int(int, int), dup2)(file, number);
  if (file != number) emulation::Duplicated(file, copy);
  return copy;
}

int dup3(int file, int number, int flags) noexcept {
  if (file != number) emulation::Close(number);
  const int copy = RINGPOST_NEXT(int(int, int, int), dup3)(file, number, flags);
  emulation::Duplicated(file, copy);
  return copy;
}

int fcntl(int file, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void* argument = va_arg(arguments, void*);
  va_end(arguments);
  const int answer = RINGPOST_NEXT(int(int, int, ...), fcntl)(file, command, argument);
  if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) emulation::Duplicated(file, answer);
  return answer;
}

int fcntl64(int file, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void* argument = va_arg(arguments, void*);
  va_end(arguments);
  return fcntl(file, command, argument);
}

}  // extern "C"

namespace {

__attribute__((destructor)) void AtExit() { emulation::Shutdown(); }

}  // namespace

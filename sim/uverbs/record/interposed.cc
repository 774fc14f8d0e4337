// The system's calls on RDMA devices, in whose place these stand: each goes on to what is behind,
// and is written down.
#include <fcntl.h>
#include <rdma/rdma_user_ioctl.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <type_traits>

#include "sim/uverbs/preload/next.h"
#include "sim/uverbs/record/recorder.h"

namespace record = ringpost::sim::uverbs::record;

namespace {

int OpenAny(int folder, const char* path, int flags, mode_t mode) {
  const int file =
      RINGPOST_NEXT(int(int, const char*, int, ...), openat)(folder, path, flags, mode);
  record::Opened(path, file);
  return file;
}

// Runs `call`; then `note` with 0 or the errno, which it leaves as it was.
template <class Call, class Note>
auto Noted(const Call& call, const Note& note, decltype(call()) failed) {
  const auto answer = call();
  const int error = errno;
  note(answer == failed ? error : 0);
  errno = error;
  return answer;
}

}  // namespace

#define RINGPOST_OPEN(NAME, FOLDER_PARAMETER, FOLDER)           \
  int NAME(FOLDER_PARAMETER const char* path, int flags, ...) { \
    va_list arguments;                                          \
    va_start(arguments, flags);                                 \
    const bool makes = (flags & (O_CREAT | O_TMPFILE)) != 0;    \
    const mode_t mode = makes ? va_arg(arguments, mode_t) : 0;  \
    va_end(arguments);                                          \
    return OpenAny(FOLDER, path, flags, mode);                  \
  }
#define RINGPOST_IN_FOLDER int folder,

extern "C" {

RINGPOST_OPEN(open, , AT_FDCWD)
RINGPOST_OPEN(open64, , AT_FDCWD)
RINGPOST_OPEN(openat, RINGPOST_IN_FOLDER, folder)
RINGPOST_OPEN(openat64, RINGPOST_IN_FOLDER, folder)
int __open_2(const char* path, int flags) { return OpenAny(AT_FDCWD, path, flags, 0); }
int __open64_2(const char* path, int flags) { return OpenAny(AT_FDCWD, path, flags, 0); }

int close(int file) {
  record::Closed(file);
  return RINGPOST_NEXT(int(int), close)(file);
}

ssize_t write(int file, const void* bytes, size_t size) {
  const auto next = RINGPOST_NEXT(ssize_t(int, const void*, size_t), write);
  if (!record::IsFollowed(file)) return next(file, bytes, size);
  return Noted([&] { return next(file, bytes, size); },
               [&](int error) { record::Written(file, bytes, size, error); }, -1);
}

int ioctl(int file, unsigned long request, ...) noexcept {
  va_list arguments;
  va_start(arguments, request);
  void* argument = va_arg(arguments, void*);
  va_end(arguments);
  const auto next = RINGPOST_NEXT(int(int, unsigned long, ...), ioctl);
  if (!record::IsFollowed(file) || request != RDMA_VERBS_IOCTL) {
    return next(file, request, argument);
  }
  const auto& header = *static_cast<const ib_uverbs_ioctl_hdr*>(argument);
  const record::Ioctl seen(header);
  return Noted([&] { return next(file, request, argument); },
               [&](int error) { seen.Done(file, header, error); }, -1);
}

void* mmap(void* address, size_t size, int protection, int flags, int file, off_t offset) noexcept {
  const auto next = RINGPOST_NEXT(void*(void*, size_t, int, int, int, off_t), mmap);
  const auto call = [&] { return next(address, size, protection, flags, file, offset); };
  if (!record::IsFollowed(file)) return call();
  const auto note = [&](int error) {
    record::Mapped(file, static_cast<uint64_t>(offset), size, error);
  };
  return Noted(call, note, MAP_FAILED);
}
void* mmap64(void* address, size_t size, int protection, int flags, int file,
             off64_t offset) noexcept {
  return mmap(address, size, protection, flags, file, offset);
}

int dup(int file) noexcept {
  const int copy = RINGPOST_NEXT(int(int), dup)(file);
  record::Duplicated(file, copy);
  return copy;
}
int dup2(int file, int number) noexcept {
  if (file != number) record::Closed(number);
  const int copy = RINGPOST_NEXT(int(int, int), dup2)(file, number);
  if (file != number) record::Duplicated(file, copy);
  return copy;
}

}  // extern "C"

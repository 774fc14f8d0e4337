#include "sim/uverbs/real_calls.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

// By number, as the names are this library's when it is preloaded.
namespace ringpost::sim::uverbs::real {

int Open(const char* path, int flags, mode_t mode) {
  return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

int Close(int file) { return static_cast<int>(syscall(SYS_close, file)); }

ssize_t Write(int file, const void* bytes, size_t size) {
  return syscall(SYS_write, file, bytes, size);
}

void* Map(void* address, size_t size, int protection, int flags, int file, off_t offset) {
  return reinterpret_cast<void*>(syscall(SYS_mmap, address, size, protection, flags, file, offset));
}

}  // namespace ringpost::sim::uverbs::real

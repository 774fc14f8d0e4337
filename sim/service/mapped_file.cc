#include "sim/service/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace ringpost::sim::service {

Result<std::unique_ptr<MappedFile>> MappedFile::Write(const std::string& path, uint64_t offset,
                                                      uint64_t bytes) {
  const auto fails = [&](int error) { return Error{path + ": " + std::strerror(error)}; };
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return fails(errno);
  const int full = posix_fallocate(file, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  void* memory = full != 0 ? MAP_FAILED
                           : mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file,
                                  static_cast<off_t>(offset));
  const int error = full != 0 ? full : errno;
  close(file);
  if (memory == MAP_FAILED) return fails(error);
  return std::unique_ptr<MappedFile>(new MappedFile(memory, bytes));
}

MappedFile::~MappedFile() { munmap(memory_, bytes_); }

}  // namespace ringpost::sim::service

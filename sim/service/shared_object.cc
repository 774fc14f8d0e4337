#include "sim/service/shared_object.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace ringpost::sim::service {
namespace {

using Opened = Result<std::unique_ptr<SharedObject>>;

constexpr int kAttempts = 1000;

Error SystemError(const std::string& path, const char* what, int error) {
  return Error{path + ": " + what + ": " + std::strerror(error)};
}

Error OfAnotherUser(const std::string& path, const std::string& owner) {
  return Error{path + " belongs to " + owner + ", not to user " + std::to_string(geteuid()) +
               "; choose another name"};
}

}  // namespace

SharedObject::~SharedObject() {
  if (memory_ != nullptr) munmap(memory_, bytes_);
  if (file_ >= 0) close(file_);
}

Opened SharedObject::Map(std::string path, int file, size_t bytes) {
  std::unique_ptr<SharedObject> object(new SharedObject());
  object->path_ = std::move(path);
  object->file_ = file;
  const int flags = file < 0 ? MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, file, 0);
  if (memory == MAP_FAILED) {
    return SystemError(object->path_, "its memory cannot be mapped", errno);
  }
  object->memory_ = memory;
  object->bytes_ = bytes;
  return object;
}

Opened SharedObject::MakeNameless(size_t bytes, const Initialise& initialise) {
  Opened object = Map("", -1, bytes);
  if (object.Ok()) initialise(object.Value()->Memory());
  return object;
}

Opened SharedObject::OpenOrMake(const std::string& path, size_t bytes,
                                const Initialise& initialise) {
  // Others may make and remove it meanwhile.
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const int file = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (file >= 0) return Open(path, file);
    if (errno == EACCES) return OfAnotherUser(path, "another user");
    if (errno != ENOENT) return SystemError(path, "it cannot be opened", errno);
    Opened made = Make(path, bytes, initialise);
    if (!made.Ok() || made.Value() != nullptr) return made;
  }
  return Error{path + ": others make and remove it all the time"};
}

Opened SharedObject::Open(const std::string& path, int file) {
  struct stat status {};
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0) {
    close(file);
    return Error{path + " is no shared memory of this program"};
  }
  if (status.st_uid != geteuid()) {
    close(file);
    return OfAnotherUser(path, "user " + std::to_string(status.st_uid));
  }
  return Map(path, file, static_cast<size_t>(status.st_size));
}

// Null: somebody else was first.
Opened SharedObject::Make(const std::string& path, size_t bytes, const Initialise& initialise) {
  const std::string folder = path.substr(0, path.rfind('/'));
  const int file = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (file < 0) return SystemError(path, "it cannot be made", errno);
  const auto initialised = static_cast<off_t>(std::min(bytes, kInitialisedBytes));
  int error = ftruncate(file, static_cast<off_t>(bytes)) != 0 ? errno : 0;
  if (error == 0) error = posix_fallocate(file, 0, initialised);
  if (error != 0) {
    close(file);
    return SystemError(path, "it cannot be made", error);
  }
  Opened object = Map(path, file, bytes);
  if (!object.Ok()) return object;
  initialise(object.Value()->Memory());
  const std::string nameless = "/proc/self/fd/" + std::to_string(file);
  if (linkat(AT_FDCWD, nameless.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) == 0) {
    return object;
  }
  if (errno == EEXIST) return std::unique_ptr<SharedObject>();
  return SystemError(path, "it cannot be made", errno);
}

bool SharedObject::HasName() const {
  struct stat status {};
  return path_.empty() || (fstat(file_, &status) == 0 && status.st_nlink > 0);
}

void SharedObject::RemoveName() {
  if (!path_.empty()) unlink(path_.c_str());
}

Result<bool> SharedObject::Allocate(size_t offset, size_t bytes) {
  if (path_.empty()) return true;
  const int error = posix_fallocate(file_, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  if (error == 0) return true;
  return SystemError(path_, ("no room for " + std::to_string(bytes) + " bytes").c_str(), error);
}

}  // namespace ringpost::sim::service

// The system's calls with paths, in whose place these stand: paths of the synthetic tree are
// exchanged for where it is.
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstring>
#include <type_traits>

#include "sim/uverbs/emulation.h"
#include "sim/uverbs/identity.h"
#include "sim/uverbs/preload/next.h"

namespace {

namespace emulation = ringpost::sim::uverbs::emulation;

// The path to use, for the length of a call.
class Path {
 public:
  Path(const char* call, const char* path) : used_(emulation::Redirect(call, path, buffer_)) {}
  Path(const char* call, int folder, const char* path) : Path(call, path) {
    emulation::NoteRelative(call, folder, path);
  }
  operator const char*() const { return used_; }  // NOLINT: implicit on purpose

 private:
  char buffer_[PATH_MAX];
  const char* used_;
};

// A descriptor of a device is a memory file's: it is said to be the device's node.
constexpr const char* kNode = ringpost::sim::uverbs::identity::kNode;

bool MeansDevice(int file, const char* path, int flags) {
  return (flags & AT_EMPTY_PATH) != 0 && (path == nullptr || *path == '\0') &&
         emulation::IsDevice(file);
}

mode_t ModeOf(int flags, va_list arguments) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
}

int OpenAny(const char* call, int folder, const char* path, int flags, mode_t mode) {
  const int device = emulation::Open(path, flags);
  if (device != emulation::kNotADevice) return device;
  return RINGPOST_NEXT(int(int, const char*, int, ...), openat)(folder, Path(call, folder, path),
                                                                flags, mode);
}

// A resolved path is the machine's again.
char* Resolved(char* path) {
  emulation::Restore(path);
  return path;
}

}  // namespace

#define RINGPOST_MODE(FLAGS)                    \
  va_list arguments;                            \
  va_start(arguments, FLAGS);                   \
  const mode_t mode = ModeOf(FLAGS, arguments); \
  va_end(arguments)

extern "C" {

int open(const char* path, int flags, ...) {
  RINGPOST_MODE(flags);
  return OpenAny("open", AT_FDCWD, path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  RINGPOST_MODE(flags);
  return OpenAny("open64", AT_FDCWD, path, flags, mode);
}

int openat(int folder, const char* path, int flags, ...) {
  RINGPOST_MODE(flags);
  return OpenAny("openat", folder, path, flags, mode);
}

int openat64(int folder, const char* path, int flags, ...) {
  RINGPOST_MODE(flags);
  return OpenAny("openat64", folder, path, flags, mode);
}

// What _FORTIFY_SOURCE makes of open without a mode.
int __open_2(const char* path, int flags) { return OpenAny("__open_2", AT_FDCWD, path, flags, 0); }
int __open64_2(const char* path, int flags) {
  return OpenAny("__open64_2", AT_FDCWD, path, flags, 0);
}
int __openat_2(int folder, const char* path, int flags) {
  return OpenAny("__openat_2", folder, path, flags, 0);
}
int __openat64_2(int folder, const char* path, int flags) {
  return OpenAny("__openat64_2", folder, path, flags, 0);
}

FILE* fopen(const char* path, const char* mode) {
  return RINGPOST_NEXT(FILE * (const char*, const char*), fopen)(Path("fopen", path), mode);
}
FILE* fopen64(const char* path, const char* mode) {
  return RINGPOST_NEXT(FILE * (const char*, const char*), fopen64)(Path("fopen64", path), mode);
}

int stat(const char* path, struct stat* answer) noexcept {
  return RINGPOST_NEXT(int(const char*, struct stat*), stat)(Path("stat", path), answer);
}
int stat64(const char* path, struct stat64* answer) noexcept {
  return RINGPOST_NEXT(int(const char*, struct stat64*), stat64)(Path("stat64", path), answer);
}
int lstat(const char* path, struct stat* answer) noexcept {
  return RINGPOST_NEXT(int(const char*, struct stat*), lstat)(Path("lstat", path), answer);
}
int lstat64(const char* path, struct stat64* answer) noexcept {
  return RINGPOST_NEXT(int(const char*, struct stat64*), lstat64)(Path("lstat64", path), answer);
}
int fstat(int file, struct stat* answer) noexcept {
  if (emulation::IsDevice(file)) return stat(kNode, answer);
  return RINGPOST_NEXT(int(int, struct stat*), fstat)(file, answer);
}
int fstatat(int folder, const char* path, struct stat* answer, int flags) noexcept {
  if (MeansDevice(folder, path, flags)) return stat(kNode, answer);
  return RINGPOST_NEXT(int(int, const char*, struct stat*, int), fstatat)(
      folder, Path("fstatat", folder, path), answer, flags);
}
int fstat64(int file, struct stat64* answer) noexcept {
  if (emulation::IsDevice(file)) return stat64(kNode, answer);
  return RINGPOST_NEXT(int(int, struct stat64*), fstat64)(file, answer);
}
int fstatat64(int folder, const char* path, struct stat64* answer, int flags) noexcept {
  if (MeansDevice(folder, path, flags)) return stat64(kNode, answer);
  return RINGPOST_NEXT(int(int, const char*, struct stat64*, int), fstatat64)(
      folder, Path("fstatat64", folder, path), answer, flags);
}
int statx(int folder, const char* path, int flags, unsigned int mask,
          struct statx* answer) noexcept {
  if (MeansDevice(folder, path, flags)) return statx(AT_FDCWD, kNode, 0, mask, answer);
  return RINGPOST_NEXT(int(int, const char*, int, unsigned int, struct statx*), statx)(
      folder, Path("statx", folder, path), flags, mask, answer);
}
// Of programs that were linked against a glibc before 2.33.
int __xstat(int version, const char* path, struct stat* answer) {
  return RINGPOST_NEXT(int(int, const char*, struct stat*), __xstat)(version, Path("stat", path),
                                                                     answer);
}
int __xstat64(int version, const char* path, struct stat64* answer) {
  return RINGPOST_NEXT(int(int, const char*, struct stat64*), __xstat64)(
      version, Path("stat", path), answer);
}
int __fxstat(int version, int file, struct stat* answer) {
  if (emulation::IsDevice(file)) return __xstat(version, kNode, answer);
  return RINGPOST_NEXT(int(int, int, struct stat*), __fxstat)(version, file, answer);
}
int __lxstat(int version, const char* path, struct stat* answer) {
  return RINGPOST_NEXT(int(int, const char*, struct stat*), __lxstat)(version, Path("lstat", path),
                                                                      answer);
}
int __fxstat64(int version, int file, struct stat64* answer) {
  if (emulation::IsDevice(file)) return __xstat64(version, kNode, answer);
  return RINGPOST_NEXT(int(int, int, struct stat64*), __fxstat64)(version, file, answer);
}
int __lxstat64(int version, const char* path, struct stat64* answer) {
  return RINGPOST_NEXT(int(int, const char*, struct stat64*), __lxstat64)(
      version, Path("lstat", path), answer);
}

int access(const char* path, int mode) noexcept {
  return RINGPOST_NEXT(int(const char*, int), access)(Path("access", path), mode);
}
int faccessat(int folder, const char* path, int mode, int flags) noexcept {
  return RINGPOST_NEXT(int(int, const char*, int, int), faccessat)(
      folder, Path("faccessat", folder, path), mode, flags);
}

DIR* opendir(const char* path) {
  return RINGPOST_NEXT(DIR * (const char*), opendir)(Path("opendir", path));
}
int scandir(const char* path, struct dirent*** names, int (*select)(const struct dirent*),
            int (*compare)(const struct dirent**, const struct dirent**)) {
  return RINGPOST_NEXT(int(const char*, struct dirent***, int (*)(const struct dirent*),
                           int (*)(const struct dirent**, const struct dirent**)),
                       scandir)(Path("scandir", path), names, select, compare);
}

ssize_t readlink(const char* path, char* answer, size_t size) noexcept {
  return RINGPOST_NEXT(ssize_t(const char*, char*, size_t), readlink)(Path("readlink", path),
                                                                      answer, size);
}
ssize_t readlinkat(int folder, const char* path, char* answer, size_t size) noexcept {
  return RINGPOST_NEXT(ssize_t(int, const char*, char*, size_t), readlinkat)(
      folder, Path("readlinkat", folder, path), answer, size);
}

char* realpath(const char* path, char* answer) noexcept {
  return Resolved(
      RINGPOST_NEXT(char*(const char*, char*), realpath)(Path("realpath", path), answer));
}
char* canonicalize_file_name(const char* path) noexcept { return realpath(path, nullptr); }
char* __realpath_chk(const char* path, char* answer, size_t size) {
  return Resolved(RINGPOST_NEXT(char*(const char*, char*, size_t), __realpath_chk)(
      Path("realpath", path), answer, size));
}

}  // extern "C"

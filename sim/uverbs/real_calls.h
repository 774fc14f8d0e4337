// real_calls.h: the system's own calls, beneath those that the preloaded library replaces.
#pragma once

#include <sys/types.h>

#include <cstddef>

namespace ringpost::sim::uverbs::real {

// As the functions of those names; errno is set by them.
int Open(const char* path, int flags, mode_t mode = 0);
int Close(int file);
ssize_t Write(int file, const void* bytes, size_t size);
void* Map(void* address, size_t size, int protection, int flags, int file, off_t offset);

}  // namespace ringpost::sim::uverbs::real

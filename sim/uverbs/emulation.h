// emulation.h: the virtual devices as this process sees them: which paths and which descriptors are
// theirs. Beneath the interposed functions of preload/, which are also linked into tests.
//
// It starts with the first call, from the folder that RINGPOST_UVERBS_ROOT names (sysfs.h); without
// that, nothing is ever ours. Any thread may call anything.
//
// A child of fork() has no NIC: its copies of descriptors answer EIO, and what it opens anew gets a
// NIC of its own.
#pragma once

#include <sys/types.h>

#include <cstddef>

namespace ringpost::sim::uverbs::emulation {

inline constexpr const char kRootVariable[] = "RINGPOST_UVERBS_ROOT";
// "write": the methods of the core answer ENOTTY, as before kernel 4.17. With any other word, and
// with a log that cannot be written, one line says so and no device can be opened.
inline constexpr const char kAbiVariable[] = "RINGPOST_UVERBS_ABI";

// Whether there are virtual devices at all.
bool Active();

// The path of the synthetic tree, written to `buffer` (of PATH_MAX), where `path` is one of the
// tree's, else `path` itself.
const char* Redirect(const char* call, const char* path, char* buffer);
// The inverse: cuts the tree's root off, in place, so that a resolved path is the machine's again.
void Restore(char* path);

// For the log: a path that begins at an open folder, which is perhaps of the tree.
void NoteRelative(const char* call, int folder, const char* path);

// A descriptor of the device with that path: kNotADevice, or -1 and errno, or the descriptor.
inline constexpr int kNotADevice = -2;
int Open(const char* path, int flags);
// Of a device's descriptor; the calls below are for those alone.
bool IsDevice(int file);
ssize_t Write(int file, const void* bytes, size_t size);
int Ioctl(int file, unsigned long request, void* argument);
void* Map(void* address, size_t size, int protection, int flags, int file, off_t offset);
// A program closes any descriptor (before the system does), or has another number for one.
void Close(int file);
void Duplicated(int file, int copy);

// Ends the NICs of this process, which is about to exit.
void Shutdown();

}  // namespace ringpost::sim::uverbs::emulation

// device_file.h: an open file of a virtual device: what write(), ioctl() and mmap() of it do.
//
// Two forms of each call, as the kernel has them: commands by write(), also carried by an ioctl;
// and methods of objects, with attributes. Both end in the tables of commands/.
//
// Any thread may call anything. Answers are 0 or an errno.
#pragma once

#include <rdma/rdma_user_ioctl_cmds.h>
#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>

#include "sim/uverbs/call.h"
#include "sim/uverbs/context.h"
#include "transport/result.h"

namespace ringpost::sim::uverbs {

class DeviceFile {
 public:
  // Attaches to the device, which happens with the file's context.
  using Attach = std::function<std::shared_ptr<NicHost>()>;
  // `methods`: false answers ENOTTY to the methods of the core, as kernels before 4.17 did.
  DeviceFile(Attach attach, bool methods) : attach_(std::move(attach)), methods_(methods) {}
  DeviceFile(const DeviceFile&) = delete;
  DeviceFile& operator=(const DeviceFile&) = delete;

  int Write(const void* bytes, size_t size);
  int Ioctl(ib_uverbs_ioctl_hdr* header);
  // MAP_FAILED, and errno.
  void* Map(void* address, size_t size, int protection, int flags, off_t offset);
  // The program has closed a descriptor, which may be one of this file's channels.
  void Closed(int file);

 private:
  int Run(const Command& command);
  int InvokeWrite(const Attributes& attributes);
  Context* Current(bool make, int* error);

  const Attach attach_;
  const bool methods_;
  std::mutex mutex_;  // of the next; not held while a command runs
  std::unique_ptr<Context> context_;
};

}  // namespace ringpost::sim::uverbs

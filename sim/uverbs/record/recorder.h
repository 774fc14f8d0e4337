// recorder.h: writes down what a program asks of the RDMA devices that it opened, and what it was
// answered, in the file that RINGPOST_UVERBS_RECORD names. docs/firmware.md has the form.
//
// The calls themselves go on to whoever is behind: the kernel, or a virtual device. Any thread may
// call anything; each call is one line, whole among those of other threads and processes.
#pragma once

#include <rdma/rdma_user_ioctl_cmds.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ringpost::sim::uverbs::record {

inline constexpr const char kFileVariable[] = "RINGPOST_UVERBS_RECORD";

// `file` is what opening `path` gave; followed from now on if that is a device.
void Opened(const char* path, int file);
void Closed(int file);
void Duplicated(int file, int copy);
bool IsFollowed(int file);

// `error`: 0, or the errno of the call.
void Mapped(int file, uint64_t offset, size_t bytes, int error);
// After the call, when the answer is where the command says.
void Written(int file, const void* bytes, size_t size, int error);

// Around an ioctl: what its attributes, and the memory that they may point to, were before.
class Ioctl {
 public:
  explicit Ioctl(const ib_uverbs_ioctl_hdr& header);
  void Done(int file, const ib_uverbs_ioctl_hdr& header, int error) const;

 private:
  // An attribute of up to 8 bytes is a value, or points to an answer: which, only the kernel knows.
  struct Seen {
    uint64_t data = 0;
    std::optional<std::vector<uint8_t>> memory;  // none: nothing that can be read is there
  };
  static std::vector<Seen> Look(const ib_uverbs_ioctl_hdr& header);

  const std::vector<Seen> before_;
};

}  // namespace ringpost::sim::uverbs::record

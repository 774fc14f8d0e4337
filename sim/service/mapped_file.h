// mapped_file.h: a part of a file in memory, there for as long as this object: what is stored there
// is in the file, however the process ends. No descriptor stays open.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "transport/result.h"

namespace ringpost::sim::service {

// Whom to tell, once, in one line, that what is asked for is not written down: on the NIC's thread.
using OnFileFailure = std::function<void(const std::string&)>;

class MappedFile {
 public:
  // The file grows to hold [offset, offset + bytes), of which the system sets pages aside now, as
  // running out of them later ends the process. `offset` is a multiple of the page size.
  static Result<std::unique_ptr<MappedFile>> Write(const std::string& path, uint64_t offset,
                                                   uint64_t bytes);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  uint8_t* Bytes() const { return static_cast<uint8_t*>(memory_); }

 private:
  MappedFile(void* memory, uint64_t bytes) : memory_(memory), bytes_(bytes) {}

  void* memory_;
  uint64_t bytes_;
};

}  // namespace ringpost::sim::service

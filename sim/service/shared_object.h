// shared_object.h: memory that processes share under a name in /dev/shm.
//
// An object appears under its name complete or not at all: it is made without a name and linked
// when it is ready, so that a maker who is killed leaves nothing behind.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "transport/result.h"

namespace ringpost::sim::service {

class SharedObject {
 public:
  // Writes no more than the first kInitialisedBytes.
  using Initialise = std::function<void(void* memory)>;
  static constexpr size_t kInitialisedBytes = 64 * 1024;

  // Maps the object; if there is none, makes one of `bytes` zeros and initialises it. An object
  // that is there is mapped with the size it has. Refuses an object of another user.
  static Result<std::unique_ptr<SharedObject>> OpenOrMake(const std::string& path, size_t bytes,
                                                          const Initialise& initialise);
  // Memory of this process and its children alone.
  static Result<std::unique_ptr<SharedObject>> MakeNameless(size_t bytes,
                                                            const Initialise& initialise);

  SharedObject(const SharedObject&) = delete;
  SharedObject& operator=(const SharedObject&) = delete;
  ~SharedObject();

  void* Memory() const { return memory_; }
  size_t Bytes() const { return bytes_; }

  // False: the memory is there for those who have it, but nobody finds it by its name any more.
  bool HasName() const;
  void RemoveName();

  // Makes the system set pages aside now, as running out of them later ends the process.
  Result<bool> Allocate(size_t offset, size_t bytes);

 private:
  SharedObject() = default;
  static Result<std::unique_ptr<SharedObject>> Map(std::string path, int file, size_t bytes);
  static Result<std::unique_ptr<SharedObject>> Open(const std::string& path, int file);
  static Result<std::unique_ptr<SharedObject>> Make(const std::string& path, size_t bytes,
                                                    const Initialise& initialise);

  std::string path_;  // empty: nameless
  int file_ = -1;
  void* memory_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace ringpost::sim::service

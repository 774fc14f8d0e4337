// handle_table.h: objects of one kind by the small numbers under which a program names them.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace ringpost::sim::uverbs {

template <class T>
class HandleTable {
 public:
  uint32_t Add(std::unique_ptr<T> object) {
    for (uint32_t handle = 0; handle < objects_.size(); ++handle) {
      if (objects_[handle] != nullptr) continue;
      objects_[handle] = std::move(object);
      return handle;
    }
    objects_.push_back(std::move(object));
    return static_cast<uint32_t>(objects_.size() - 1);
  }
  T* Find(uint32_t handle) const {
    return handle < objects_.size() ? objects_[handle].get() : nullptr;
  }
  std::unique_ptr<T> Remove(uint32_t handle) {
    return handle < objects_.size() ? std::move(objects_[handle]) : nullptr;
  }
  // The handles in use, in order.
  std::vector<uint32_t> Handles() const {
    std::vector<uint32_t> handles;
    for (uint32_t handle = 0; handle < objects_.size(); ++handle) {
      if (objects_[handle] != nullptr) handles.push_back(handle);
    }
    return handles;
  }

 private:
  std::vector<std::unique_ptr<T>> objects_;
};

}  // namespace ringpost::sim::uverbs

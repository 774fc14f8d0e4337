// call.h: one call of a program as the kernel's uverbs get it: a command (by write(), or inside an
// ioctl), or a method of an object with attributes.
//
// Handlers return 0 or an errno. Inputs that are shorter than a structure read as zeros, outputs
// are cut off where the program's buffer ends: so programs of any rdma-core version fit.
#pragma once

#include <rdma/rdma_user_ioctl_cmds.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>

namespace ringpost::sim::uverbs {

using Input = std::span<const uint8_t>;
using Output = std::span<uint8_t>;

template <class T>
T Read(Input bytes) {
  T value;
  std::memset(&value, 0, sizeof(value));
  if (!bytes.empty()) std::memcpy(&value, bytes.data(), std::min(bytes.size(), sizeof(value)));
  return value;
}

template <class T>
void Write(Output bytes, const T& value) {
  if (!bytes.empty()) std::memcpy(bytes.data(), &value, std::min(bytes.size(), sizeof(value)));
}

// A command: its own structures, and behind them the provider's ("driver").
struct Command {
  uint32_t number = 0;
  bool extended = false;
  Input in;
  Output out;
  Input driver_in;
  Output driver_out;
};

// A method's attributes. Small inputs are in the attribute itself, others are pointed to.
class Attributes {
 public:
  explicit Attributes(ib_uverbs_ioctl_hdr& header) : header_(header) {}

  uint16_t Object() const { return header_.object_id; }
  uint16_t Method() const { return header_.method_id; }
  std::span<ib_uverbs_attr> All() const { return {header_.attrs, header_.num_attrs}; }
  ib_uverbs_attr* Find(uint16_t id) const {
    for (ib_uverbs_attr& attribute : All()) {
      if (attribute.attr_id == id) return &attribute;
    }
    return nullptr;
  }
  bool Has(uint16_t id) const { return Find(id) != nullptr; }

  Input In(uint16_t id) const {
    const ib_uverbs_attr* attribute = Find(id);
    if (attribute == nullptr) return {};
    const auto* bytes = attribute->len <= sizeof(attribute->data)
                            ? reinterpret_cast<const uint8_t*>(&attribute->data)
                            : reinterpret_cast<const uint8_t*>(attribute->data);
    return {bytes, attribute->len};
  }
  Output Out(uint16_t id) const {
    const ib_uverbs_attr* attribute = Find(id);
    if (attribute == nullptr) return {};
    return {reinterpret_cast<uint8_t*>(attribute->data), attribute->len};
  }
  template <class T>
  T Value(uint16_t id) const {
    return Read<T>(In(id));
  }
  template <class T>
  void Answer(uint16_t id, const T& value) const {
    Write(Out(id), value);
  }
  // Handles and descriptors stand in the attribute.
  uint32_t Handle(uint16_t id, uint32_t absent = 0xffffffff) const {
    const ib_uverbs_attr* attribute = Find(id);
    return attribute == nullptr ? absent : static_cast<uint32_t>(attribute->data);
  }
  int Descriptor(uint16_t id) const {
    const ib_uverbs_attr* attribute = Find(id);
    return attribute == nullptr ? -1 : static_cast<int>(attribute->data_s64);
  }
  void SetHandle(uint16_t id, uint32_t handle) const {
    if (ib_uverbs_attr* attribute = Find(id)) attribute->data = handle;
  }
  void SetDescriptor(uint16_t id, int file) const {
    if (ib_uverbs_attr* attribute = Find(id)) attribute->data_s64 = file;
  }

 private:
  ib_uverbs_ioctl_hdr& header_;
};

}  // namespace ringpost::sim::uverbs

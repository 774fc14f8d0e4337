// mailbox.h: a command's two mailboxes as its handler sees them. What lies beyond the end of either
// reads as zero, or goes nowhere: a handler need not ask how long they are.
#pragma once

#include <algorithm>
#include <cstring>
#include <span>

#include "sim/uverbs/prm/field.h"

namespace ringpost::sim::uverbs::prm {

class Input {
 public:
  explicit Input(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  uint32_t operator[](Field field) const {
    return Holds(field.offset, 4) ? Get(bytes_.data(), field) : 0;
  }
  uint64_t operator[](Wide wide) const {
    return Holds(wide.offset, 8) ? Get(bytes_.data(), wide) : 0;
  }
  // The first bytes of `to` from `offset` on; the rest of `to` becomes zero.
  void Copy(uint32_t offset, std::span<uint8_t> to) const {
    std::fill(to.begin(), to.end(), uint8_t{0});
    if (offset >= bytes_.size()) return;
    const auto from = bytes_.subspan(offset, std::min(to.size(), bytes_.size() - offset));
    std::copy(from.begin(), from.end(), to.begin());
  }
  size_t Size() const { return bytes_.size(); }

 private:
  bool Holds(uint32_t offset, uint32_t bytes) const {
    return offset + size_t{bytes} <= bytes_.size();
  }
  std::span<const uint8_t> bytes_;
};

class Output {
 public:
  explicit Output(std::span<uint8_t> bytes) : bytes_(bytes) {}

  void Put(Field field, uint32_t value) {
    if (field.offset + size_t{4} <= bytes_.size()) Set(bytes_.data(), field, value);
  }
  void Put(Wide wide, uint64_t value) {
    if (wide.offset + size_t{8} <= bytes_.size()) Set(bytes_.data(), wide, value);
  }
  void Copy(uint32_t offset, std::span<const uint8_t> from) {
    if (offset >= bytes_.size()) return;
    const auto fits = from.first(std::min(from.size(), bytes_.size() - offset));
    std::copy(fits.begin(), fits.end(), bytes_.begin() + offset);
  }
  void Clear() { std::fill(bytes_.begin(), bytes_.end(), uint8_t{0}); }
  size_t Size() const { return bytes_.size(); }

 private:
  std::span<uint8_t> bytes_;
};

// One command under way. `uid` is the user for whom it runs: 0 is the kernel itself.
struct Call {
  Input in;
  Output out;
  uint16_t uid = 0;
};

}  // namespace ringpost::sim::uverbs::prm

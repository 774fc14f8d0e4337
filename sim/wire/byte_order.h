// byte_order.h: headers field by field, in network order, without ever leaving the bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sim/wire/decode_error.h"

namespace ringpost::sim::wire {

class ByteWriter {
 public:
  // The last `count` bytes of `value`, the highest first.
  void Put(int count, uint64_t value) {
    for (int shift = 8 * (count - 1); shift >= 0; shift -= 8) {
      bytes_.push_back(static_cast<uint8_t>(value >> shift));
    }
  }
  // The same, the lowest first: how CRCs travel.
  void PutLowFirst(int count, uint64_t value) {
    for (int i = 0; i < count; ++i) bytes_.push_back(static_cast<uint8_t>(value >> (8 * i)));
  }
  void PutBytes(std::span<const uint8_t> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  void PutZeros(size_t count) { bytes_.resize(bytes_.size() + count); }
  // Overwrites two bytes written before.
  void PutAt(size_t offset, uint16_t value) {
    bytes_[offset] = static_cast<uint8_t>(value >> 8);
    bytes_[offset + 1] = static_cast<uint8_t>(value);
  }

  std::span<const uint8_t> Written() const { return bytes_; }
  std::vector<uint8_t> Release() { return std::move(bytes_); }

 private:
  std::vector<uint8_t> bytes_;
};

// After the first error all fields read as 0 and no byte is consumed: callers check once, at the
// end, and may use no field as a length before that without a bound of its own.
class ByteReader {
 public:
  explicit ByteReader(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  // The next `count` bytes (8 at most), the highest first. `field` is a literal.
  uint64_t Take(int count, const char* field) {
    uint64_t value = 0;
    for (const uint8_t byte : TakeBytes(static_cast<size_t>(count), field)) {
      value = value << 8 | byte;
    }
    return value;
  }

  // Empty after an error.
  std::span<const uint8_t> TakeBytes(size_t count, const char* field) {
    if (Failed()) return {};
    field_ = field;
    field_offset_ = offset_;
    if (count > Left()) {
      error_ = DecodeError{field, offset_, "the packet ends before or within it"};
      return {};
    }
    offset_ += count;
    return bytes_.subspan(field_offset_, count);
  }

  // The last `count` bytes, the lowest first: a CRC. The packet then ends before them.
  uint64_t TakeLast(int count, const char* field) {
    const size_t bytes = static_cast<size_t>(count);
    if (Failed() || bytes > Left()) {
      TakeBytes(bytes, field);
      return 0;
    }
    field_ = field;
    field_offset_ = bytes_.size() - bytes;
    uint64_t value = 0;
    for (int i = count - 1; i >= 0; --i) value = value << 8 | bytes_[field_offset_ + i];
    bytes_ = bytes_.first(field_offset_);
    return value;
  }

  // What must hold for the field taken last.
  void Require(bool holds, const char* problem) {
    if (!holds && !Failed()) error_ = DecodeError{field_, field_offset_, problem};
  }

  // The bytes after the next `count` do not belong to the packet.
  void EndAfter(size_t count) {
    if (!Failed() && count < Left()) bytes_ = bytes_.first(offset_ + count);
  }

  // All bytes before the end, those taken included.
  std::span<const uint8_t> Bytes() const { return bytes_; }
  size_t Offset() const { return offset_; }
  size_t Left() const { return bytes_.size() - offset_; }
  bool Failed() const { return error_.has_value(); }
  const std::optional<DecodeError>& Error() const { return error_; }

 private:
  std::span<const uint8_t> bytes_;
  size_t offset_ = 0;
  const char* field_ = "";
  size_t field_offset_ = 0;
  std::optional<DecodeError> error_;
};

}  // namespace ringpost::sim::wire

// wqe_bytes.h: send WQEs for tests, segment by segment, as software stores them.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "transport/abi/byte_order.h"
#include "transport/abi/wqe.h"

namespace ringpost::sim {

class WqeBytes {
 public:
  WqeBytes(abi::Opcode opcode, uint8_t flags, uint8_t opmod = 0) : bytes_(16) {
    bytes_[0] = opmod;
    bytes_[3] = static_cast<uint8_t>(opcode);
    bytes_[11] = flags;
  }
  WqeBytes& Immediate(uint32_t value) {
    std::memcpy(bytes_.data() + 12, &value, 4);
    return *this;
  }
  WqeBytes& Remote(uint64_t address, uint32_t rkey) { return Big64(address).Big32(rkey).Big32(0); }
  WqeBytes& Data(uint32_t count, uint32_t lkey, uint64_t address) {
    return Big32(count).Big32(lkey).Big64(address);
  }
  WqeBytes& Inline(const std::string& payload) {
    Big32(static_cast<uint32_t>(payload.size()) | abi::kInlineFlag);
    bytes_.insert(bytes_.end(), payload.begin(), payload.end());
    bytes_.resize((bytes_.size() + 15) / 16 * 16);
    return *this;
  }
  // The full address vector where `extended`, else the compact one.
  WqeBytes& Target(uint64_t key, uint32_t qpn, uint16_t lid, bool extended) {
    Big64(key).Big32(qpn | (extended ? 0x80000000u : 0));
    bytes_.insert(bytes_.end(), {0, 0, static_cast<uint8_t>(lid >> 8), static_cast<uint8_t>(lid)});
    if (extended) bytes_.resize(bytes_.size() + 32);
    return *this;
  }
  WqeBytes& Wait(uint32_t cqn, uint32_t index) { return Big64(0).Big32(index).Big32(cqn); }
  WqeBytes& Big32(uint32_t value) { return Append(abi::Swap32(value)); }
  WqeBytes& Big64(uint64_t value) { return Append(abi::Swap64(value)); }

  uint32_t Segments() const { return static_cast<uint32_t>(bytes_.size() / 16); }
  uint32_t Blocks() const { return abi::WqebbsOf(Segments()); }
  // With the control segment of a WQE at `index` of QP `qpn`.
  std::vector<uint8_t> Finish(uint64_t index, uint32_t qpn) const {
    std::vector<uint8_t> wqe = bytes_;
    wqe[1] = static_cast<uint8_t>(index >> 8);
    wqe[2] = static_cast<uint8_t>(index);
    const uint32_t word = abi::Swap32(qpn << 8 | Segments());
    std::memcpy(wqe.data() + 4, &word, 4);
    return wqe;
  }

 private:
  template <class T>
  WqeBytes& Append(T value) {
    bytes_.resize(bytes_.size() + sizeof(value));
    std::memcpy(bytes_.data() + bytes_.size() - sizeof(value), &value, sizeof(value));
    return *this;
  }
  std::vector<uint8_t> bytes_;
};

}  // namespace ringpost::sim

#include "sim/service/process_dma.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstring>

#include "transport/abi/byte_order.h"
#include "transport/abi/cqe.h"

namespace ringpost::sim::service {
namespace {

template <class T>
std::atomic_ref<T> WordAt(uint64_t address) {
  return std::atomic_ref<T>(*reinterpret_cast<T*>(address));
}

// Calls move(type, offset) for pieces of 8, 4, 2 and 1 bytes, each naturally aligned.
template <class Move>
void InPieces(uint64_t address, uint64_t size, Move&& move) {
  uint64_t done = 0;
  while (done < size) {
    const uint64_t at = address + done;
    const uint64_t left = size - done;
    if (at % 8 == 0 && left >= 8) {
      move(uint64_t{}, done);
      done += 8;
    } else if (at % 4 == 0 && left >= 4) {
      move(uint32_t{}, done);
      done += 4;
    } else if (at % 2 == 0 && left >= 2) {
      move(uint16_t{}, done);
      done += 2;
    } else {
      move(uint8_t{}, done);
      done += 1;
    }
  }
}

constexpr uint32_t kTimestamp = offsetof(abi::Cqe, timestamp);

// Of an error the timestamp's place holds syndromes.
bool IsError(const uint8_t* cqe) {
  const int opcode = cqe[offsetof(abi::Cqe, op_own)] >> 4;
  return opcode >= static_cast<int>(abi::CqeOpcode::kRequesterError);
}

// As a CQE has it: big endian.
uint64_t Now() {
  const auto time = std::chrono::steady_clock::now().time_since_epoch();
  const auto count = std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
  return abi::Swap64(static_cast<uint64_t>(count));
}

void StoreWords(uint64_t address, const uint8_t* cqe, bool stamped) {
  uint64_t word = 0;
  for (uint32_t at = 0; at < abi::kCqeTailOffset; at += sizeof(word)) {
    std::memcpy(&word, cqe + at, sizeof(word));
    if (stamped && at == kTimestamp) word = Now();
    WordAt<uint64_t>(address + at).store(word, std::memory_order_relaxed);
  }
  std::memcpy(&word, cqe + abi::kCqeTailOffset, sizeof(word));
  // One store, so that a poller of a slot that is rewritten sees one CQE's tail or the other's.
  // Release: orders the entry and all payload before op_own, on which pollers rely.
  WordAt<uint64_t>(address + abi::kCqeTailOffset).store(word, std::memory_order_release);
}

template <class T>
bool ModifyWord(uint64_t address, Dma::NextFn next, const void* context, uint64_t* original) {
  if (address % sizeof(T) != 0) return false;
  std::atomic_ref<T> word = WordAt<T>(address);
  T old = word.load(std::memory_order_relaxed);
  // Acquire and release: a thread that uses the word as a flag or a lock relies on it.
  while (!word.compare_exchange_weak(old, static_cast<T>(next(context, old)),
                                     std::memory_order_acq_rel, std::memory_order_relaxed)) {
  }
  *original = old;
  return true;
}

}  // namespace

bool ProcessDma::Allow(uint64_t address, uint64_t bytes) {
  DeviceAccess* device = nullptr;
  if (reach_ && !reach_(address, bytes, &device)) return false;
  if (guarded_) AccessGuard::Install();
  if (device != nullptr) {
    devices_.Allow(address, bytes, *device);
  } else {
    ranges_.Add({address, address + bytes});
  }
  return true;
}

void ProcessDma::Forbid(uint64_t address, uint64_t bytes) {
  last_ = {};
  if (!devices_.Forbid(address, bytes)) ranges_.Remove(address, address + bytes);
}

void ProcessDma::AllowOnDemand(uint64_t address, uint64_t bytes) {
  on_demand_.push_back({address, address + bytes});
}

void ProcessDma::ForbidOnDemand(uint64_t address, uint64_t bytes) {
  const auto found =
      std::find(on_demand_.begin(), on_demand_.end(), AllowedRange{address, address + bytes});
  if (found != on_demand_.end()) on_demand_.erase(found);
}

bool ProcessDma::FaultIn(uint64_t address, uint64_t bytes, Use use) const {
  return std::any_of(on_demand_.begin(), on_demand_.end(),
                     [&](const AllowedRange& range) { return range.Holds(address, bytes); }) &&
         MakePresent(address, bytes, use);
}

bool ProcessDma::Allows(uint64_t address, uint64_t bytes) const {
  if (last_.Holds(address, bytes)) return true;
  const AllowedRange* found = ranges_.Find(address, bytes);
  if (found == nullptr) return false;
  last_ = *found;
  return true;
}

bool ProcessDma::ReadRecord(uint32_t, uint64_t address, uint32_t* word) {
  if (DeviceAccess* device = devices_.Find(address, sizeof(*word))) {
    return device->ReadRecord(address, word);
  }
  if (address % sizeof(*word) != 0 || !Check(address, sizeof(*word), Use::kRead)) return false;
  // Acquire: orders the record before the WQEs that it announces. Software releases them by its
  // store of the record, or by a fence before it.
  return Touch(address, sizeof(*word),
               [&] { *word = WordAt<uint32_t>(address).load(std::memory_order_acquire); });
}

bool ProcessDma::Read(uint32_t, uint64_t address, void* bytes, uint64_t size) {
  if (size == 0) return true;
  if (DeviceAccess* device = devices_.Find(address, size)) {
    return device->Read(address, bytes, size);
  }
  if (!Check(address, size, Use::kRead)) return false;
  return Touch(address, size, [&] {
    InPieces(address, size, [&](auto piece, uint64_t offset) {
      piece = WordAt<decltype(piece)>(address + offset).load(std::memory_order_relaxed);
      std::memcpy(static_cast<uint8_t*>(bytes) + offset, &piece, sizeof(piece));
    });
  });
}

bool ProcessDma::Write(uint32_t, uint64_t address, const void* bytes, uint64_t size) {
  if (size == 0) return true;
  if (DeviceAccess* device = devices_.Find(address, size)) {
    return devices_.Write(*device, address, bytes, size);
  }
  if (!Check(address, size, Use::kWrite)) return false;
  devices_.Settle();
  return Touch(address, size, [&] {
    InPieces(address, size, [&](auto piece, uint64_t offset) {
      std::memcpy(&piece, static_cast<const uint8_t*>(bytes) + offset, sizeof(piece));
      // Release on the last piece: orders all earlier writes before it. Whoever polls this word, a
      // signal say, relies on it for the payload that came before.
      const bool last = offset + sizeof(piece) == size;
      WordAt<decltype(piece)>(address + offset)
          .store(piece, last ? std::memory_order_release : std::memory_order_relaxed);
    });
  });
}

bool ProcessDma::WriteCqe(uint32_t qpn, uint64_t address, const void* cqe) {
  if (!gate_) [[likely]]
    return StoreCqe(address, cqe);
  if (address % abi::kCqeBytes != 0) return false;
  if (devices_.Find(address, abi::kCqeBytes) == nullptr &&
      !Check(address, abi::kCqeBytes, Use::kWrite)) {
    return false;
  }
  gate_(qpn, address, cqe);
  return true;
}

bool ProcessDma::StoreCqe(uint64_t address, const void* cqe) {
  if (!PutCqe(address, static_cast<const uint8_t*>(cqe))) return false;
  if (tap_) [[unlikely]]
    tap_(cqe);
  return true;
}

bool ProcessDma::PutCqe(uint64_t address, const uint8_t* cqe) {
  if (address % abi::kCqeBytes != 0) return false;
  if (DeviceAccess* device = devices_.Find(address, abi::kCqeBytes)) {
    return devices_.Write(*device, address, cqe, abi::kCqeBytes);
  }
  if (!Check(address, abi::kCqeBytes, Use::kWrite)) return false;
  devices_.Settle();
  const bool stamped = stamps_ && !IsError(cqe);
  return Touch(address, abi::kCqeBytes, [&] { StoreWords(address, cqe, stamped); });
}

bool ProcessDma::Modify(uint32_t, uint64_t address, uint32_t bytes, NextFn next,
                        const void* context, uint64_t* original) {
  if (DeviceAccess* device = devices_.Find(address, bytes)) {
    return DeviceRoute::Modify(*device, address, bytes, next, context, original);
  }
  if (!Check(address, bytes, Use::kWrite)) return false;
  devices_.Settle();
  bool modified = false;
  const bool there = Touch(address, bytes, [&] {
    modified = bytes == sizeof(uint32_t) ? ModifyWord<uint32_t>(address, next, context, original)
                                         : ModifyWord<uint64_t>(address, next, context, original);
  });
  return there && modified;
}

}  // namespace ringpost::sim::service

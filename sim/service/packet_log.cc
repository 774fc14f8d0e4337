#include "sim/service/packet_log.h"

#include <array>
#include <atomic>
#include <cstring>

#include "sim/service/packet_bytes.h"

namespace ringpost::sim::service {
namespace {

struct Record {
  uint32_t bytes = 0;  // with this; 0: the window ends
  uint32_t field_bytes = 0;
  uint64_t ns = 0;
  Address source;
  Address target;
};

constexpr uint64_t Aligned(uint64_t bytes) { return (bytes + 7) & ~uint64_t{7}; }

}  // namespace

bool PacketLog::NextWindow() {
  if (lost_ != 0) return false;
  window_.reset();
  auto made = MappedFile::Write(path_, windows_ * kWindowBytes, kWindowBytes);
  if (!made.Ok()) {
    if (on_failure_) on_failure_(made.Message());
    return false;
  }
  window_ = std::move(made.Value());
  ++windows_;
  used_ = 0;
  return true;
}

void PacketLog::Add(uint64_t ns, const Address& target, const wire::Packet& packet) {
  std::array<uint8_t, kMaxFieldBytes> fields;
  Record record{0, static_cast<uint32_t>(PackFields(packet, 0, fields)), ns, source_, target};
  const uint64_t payload = packet.payload.size();
  const uint64_t bytes = Aligned(sizeof(record) + record.field_bytes + payload);
  // Behind each record there is room for the word that ends the window.
  if ((window_ == nullptr || used_ + bytes + sizeof(record.bytes) > kWindowBytes) &&
      !NextWindow()) {
    ++lost_;
    return;
  }
  uint8_t* to = window_->Bytes() + used_;
  std::memcpy(to, &record, sizeof(record));
  std::memcpy(to + sizeof(record), fields.data(), record.field_bytes);
  if (payload != 0) {
    std::memcpy(to + sizeof(record) + record.field_bytes, packet.payload.data(), payload);
  }
  // Release: behind the record's bytes, on which a reader of a program that was killed relies.
  std::atomic_ref<uint32_t>(*reinterpret_cast<uint32_t*>(to))
      .store(static_cast<uint32_t>(bytes), std::memory_order_release);
  used_ += bytes;
}

PacketLogReader::PacketLogReader(const std::string& path)
    : file_(path, std::ios::binary), window_(PacketLog::kWindowBytes), at_(window_.size()) {}

bool PacketLogReader::Next(LoggedPacket& packet) {
  Record record;
  const auto there = [&] {
    if (at_ + sizeof(record) > window_.size()) return false;
    std::memcpy(&record, window_.data() + at_, sizeof(record));
    return record.bytes != 0;
  };
  if (!there()) {
    at_ = 0;
    const auto bytes = static_cast<std::streamsize>(window_.size());
    if (!file_.read(reinterpret_cast<char*>(window_.data()), bytes) || !there()) return false;
  }
  const uint64_t head = sizeof(record) + uint64_t{record.field_bytes};
  if (record.bytes > window_.size() - at_ || record.bytes % 8 != 0 || head > record.bytes) {
    return false;
  }
  const uint8_t* fields = window_.data() + at_ + sizeof(record);
  const UnpackedFields unpacked = UnpackFields({fields, record.field_bytes}, packet.packet);
  if (unpacked.field_bytes == 0 || head + unpacked.payload_bytes > record.bytes) return false;
  fields += record.field_bytes;
  packet.packet.payload.assign(fields, fields + unpacked.payload_bytes);
  packet.ns = record.ns;
  packet.source = record.source;
  packet.target = record.target;
  at_ += record.bytes;
  return true;
}

}  // namespace ringpost::sim::service

// packet_log.h: the packets that a live NIC sends, in a file that grows, for a capture.
//
// The file is a row of windows of kWindowBytes; a record lies within one. What stands there is
// whole however the process ends. One thread's.
#pragma once

#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "sim/service/device.h"
#include "sim/service/mapped_file.h"
#include "sim/wire/packet.h"
#include "transport/result.h"

namespace ringpost::sim::service {

struct LoggedPacket {
  uint64_t ns = 0;  // of the steady clock
  Address source;
  Address target;
  wire::Packet packet;
};

class PacketLog {
 public:
  static constexpr uint64_t kWindowBytes = 4 << 20;

  PacketLog(std::string path, const Address& source, OnFileFailure on_failure = {})
      : path_(std::move(path)), source_(source), on_failure_(std::move(on_failure)) {}

  // Where the disk has no more room, `on_failure` is told so, and this packet and all later ones
  // are counted as lost.
  void Add(uint64_t ns, const Address& target, const wire::Packet& packet);
  uint64_t Lost() const { return lost_; }

 private:
  bool NextWindow();

  const std::string path_;
  const Address source_;
  const OnFileFailure on_failure_;
  std::unique_ptr<MappedFile> window_;
  uint64_t windows_ = 0;
  uint64_t used_ = 0;  // of the window
  uint64_t lost_ = 0;
};

// Reads such a file when the process has ended. Any bytes may come: reading ends at what is no
// record.
class PacketLogReader {
 public:
  explicit PacketLogReader(const std::string& path);
  // The next packet, in the order of sending; false: there is no more.
  bool Next(LoggedPacket& packet);

 private:
  std::ifstream file_;
  std::vector<uint8_t> window_;
  uint64_t at_;
};

}  // namespace ringpost::sim::service

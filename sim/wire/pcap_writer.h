// pcap_writer.h: a capture of what passed a wire, for Wireshark and tshark.
//
// Its time stamps are virtual times in nanoseconds, so the same run gives the same file. Frames of
// InfiniBand stand in ERF records: tshark does not read the link type INFINIBAND.
#pragma once

#include <memory>
#include <string>

#include "sim/engine/time.h"
#include "sim/wire/codec.h"

struct pcap;
struct pcap_dumper;

namespace ringpost::sim::wire {

class PcapWriter final {
 public:
  // Creates the file, or truncates it. Ok() says whether that worked.
  PcapWriter(const std::string& path, Link link);
  PcapWriter(const PcapWriter&) = delete;
  PcapWriter& operator=(const PcapWriter&) = delete;
  ~PcapWriter();

  // Packets may come in any order of time. The addressing must be one of the writer's link. Does
  // nothing after an error.
  void Write(Time time, const Packet& packet, const Addressing& addressing);

  // Hands everything written so far to the operating system.
  void Flush();

  // What went wrong first; empty as long as nothing did.
  const std::string& Error() const { return error_; }
  bool Ok() const { return error_.empty(); }

 private:
  struct Close {
    void operator()(pcap* handle) const;
    void operator()(pcap_dumper* dumper) const;
  };

  Link link_;
  std::unique_ptr<pcap, Close> handle_;
  std::unique_ptr<pcap_dumper, Close> dumper_;
  std::string error_;
};

}  // namespace ringpost::sim::wire

// capture.h: what the NICs of a simulated machine put on the wire, as a pcap file.
//
//   WireCapture capture("run.pcap", platform);
//   Fabric fabric(platform, {.tap = capture.Tap()});
//   ...
//   const std::string error = capture.Finish();
//
// Frames are those of the platform's link layer, with virtual times. A packet is in the file as it
// was sent, whatever a fault makes of it later.
#pragma once

#include <string>

#include "sim/cost/platform.h"
#include "sim/node/nic_node.h"
#include "sim/wire/pcap_writer.h"

namespace ringpost {

class WireCapture {
 public:
  WireCapture(const std::string& path, const sim::Platform& platform);

  // Must not outlive this object.
  sim::PacketTap Tap();
  // Hands the rest to the operating system. What went wrong, in one line; empty if nothing did.
  std::string Finish();

 private:
  bool is_roce_;
  std::string path_;
  sim::wire::PcapWriter writer_;
};

}  // namespace ringpost

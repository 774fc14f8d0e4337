// exec_capture.h: the packets of programs' NICs in one pcap file, by time.
#pragma once

#include <string>
#include <vector>

#include "sim/wire/codec.h"

namespace ringpost::tools {

// `logs`: files of sim/service/packet_log.h, all of devices of this link. What went wrong, in one
// line; empty if nothing did. Times are the steady clock's, without whole millions of seconds.
std::string WriteExecCapture(const std::vector<std::string>& logs, sim::wire::Link link,
                             const std::string& path);

}  // namespace ringpost::tools

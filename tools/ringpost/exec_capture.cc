#include "tools/ringpost/exec_capture.h"

#include <algorithm>
#include <memory>

#include "sim/service/packet_log.h"
#include "sim/uverbs/settings.h"
#include "sim/wire/addressing.h"
#include "sim/wire/pcap_writer.h"
#include "tools/ringpost/exec_trace.h"

namespace ringpost::tools {
namespace {

using sim::service::Address;
using sim::service::LoggedPacket;

struct Log {
  explicit Log(const std::string& path) : reader(path) { there = reader.Next(packet); }
  sim::service::PacketLogReader reader;
  LoggedPacket packet;  // the next one
  bool there = false;
};

sim::wire::Addressing AddressingOf(const LoggedPacket& logged, sim::wire::Link link) {
  if (link == sim::wire::Link::kInfiniband) {
    sim::wire::InfinibandAddressing addressing;
    addressing.source_lid = logged.source.lid;
    addressing.target_lid = logged.target.lid;
    return addressing;
  }
  sim::wire::RoceAddressing addressing;
  addressing.source = logged.source.gid;
  addressing.target = logged.target.gid;
  addressing.source_mac = sim::uverbs::MacOf(logged.source.gid);
  addressing.target_mac = sim::uverbs::MacOf(logged.target.gid);
  return addressing;
}

}  // namespace

std::string WriteExecCapture(const std::vector<std::string>& logs, sim::wire::Link link,
                             const std::string& path) {
  std::vector<std::unique_ptr<Log>> open;
  for (const std::string& log : logs) open.push_back(std::make_unique<Log>(log));
  sim::wire::PcapWriter writer(path, link);
  while (true) {
    std::erase_if(open, [](const auto& log) { return !log->there; });
    if (open.empty()) break;
    const auto next = std::min_element(open.begin(), open.end(), [](const auto& a, const auto& b) {
      return a->packet.ns < b->packet.ns;
    });
    Log& log = **next;
    writer.Write(TraceTime(log.packet.ns), log.packet.packet, AddressingOf(log.packet, link));
    log.there = log.reader.Next(log.packet);
  }
  writer.Flush();
  return writer.Ok() ? "" : path + ": " + writer.Error();
}

}  // namespace ringpost::tools

// packet_port.h: where a NIC's thread sends packets and gets them from.
//
// As on a wire, packets may be lost: where nobody receives, where a receiver is too slow, or where
// bytes are no packet. Each loss is counted, and the transport recovers by sending again.
#pragma once

#include <chrono>
#include <cstdint>

#include "sim/service/device.h"
#include "sim/wire/packet.h"

namespace ringpost::sim::service {

struct PortCounters {
  uint64_t sent = 0;
  uint64_t received = 0;
  uint64_t no_route = 0;        // nobody receives at that address and QPN: the port is down
  uint64_t receiver_full = 0;   // the receiver's ring, or the socket's buffer
  uint64_t bad_frames = 0;      // received bytes that are no packet
  uint64_t foreign_frames = 0;  // good ones that are not for us, or not from a peer
  uint64_t arp_answers = 0;     // to peers that asked for our MAC address
};

// visit(name, value) for each, as the JSON of a run names them.
template <class F>
void ForEachCounter(const PortCounters& counters, F&& visit) {
  visit("port_sent", counters.sent);
  visit("port_received", counters.received);
  visit("port_no_route", counters.no_route);
  visit("port_receiver_full", counters.receiver_full);
  visit("port_bad_frames", counters.bad_frames);
  visit("port_foreign_frames", counters.foreign_frames);
  visit("port_arp_answers", counters.arp_answers);
}

struct Arrival {
  wire::Packet packet;
  Address source;
};

// One thread at a time.
class PacketPort {
 public:
  virtual ~PacketPort() = default;
  // False: the packet is lost, which is counted.
  virtual bool Send(const Address& target, const wire::Packet& packet) = 0;
  // False: nothing has come.
  virtual bool Poll(Arrival& arrival) = 0;
  // Until something may have come, or the time is over.
  virtual void Sleep(std::chrono::nanoseconds timeout) = 0;
  virtual PortCounters Counters() const = 0;
};

}  // namespace ringpost::sim::service

// udp_port.h: a NIC's port to NICs of other machines: whole Ethernet frames, one in a UDP datagram,
// as QEMU's `-netdev dgram` sends them. RoCEv2 alone.
//
// Any bytes may come: what is no frame from a known peer to this NIC is counted and dropped. A peer
// that asks by ARP for this NIC's MAC address is answered.
#pragma once

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/udp.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "sim/service/packet_port.h"
#include "sim/wire/addressing.h"
#include "transport/result.h"

namespace ringpost::sim::service {

struct UdpPeer {
  wire::Gid gid{};
  wire::MacAddress mac{};
  // Who owns the QPNs with these top 8 bits; nothing: one process owns all of this GID.
  std::optional<uint8_t> slot;
  std::string address;  // "10.0.0.2" or "fd00::2"
  uint16_t port = 0;
};

struct UdpPortSpec {
  DeviceInfo device;
  wire::MacAddress mac{};
  std::string address;  // where datagrams for this NIC arrive
  uint16_t port = 0;    // 0: the system chooses, see UdpPort::Port()
};

class UdpPort final : public PacketPort {
 public:
  // An InfiniBand device is refused, as Ethernet frames cannot carry its packets.
  static Result<std::unique_ptr<UdpPort>> Open(const UdpPortSpec& spec);

  // A GID of the other kind (IPv4, IPv6) than this NIC's is refused.
  Result<bool> AddPeer(const UdpPeer& peer);
  uint16_t Port() const;

  bool Send(const Address& target, const wire::Packet& packet) override;
  bool Poll(Arrival& arrival) override;
  void Sleep(std::chrono::nanoseconds timeout) override;
  PortCounters Counters() const override { return counters_; }

 private:
  using Udp = boost::asio::ip::udp;
  // A packet of the largest MTU has some 4,200 bytes; what is longer is cut off, and then no frame.
  static constexpr size_t kMaxFrameBytes = 9216;
  static constexpr int kAnySlot = -1;

  struct Route {
    wire::MacAddress mac{};
    Udp::endpoint endpoint;
  };

  explicit UdpPort(const UdpPortSpec& spec) : spec_(spec), socket_(context_) {}
  const Route* Find(const wire::Gid& gid, uint32_t qpn) const;
  bool IsFromPeer(const wire::Gid& gid, const Udp::endpoint& sender) const;
  bool Accept(size_t bytes, const Udp::endpoint& sender, Arrival& arrival);
  bool AnswerArp(std::span<const uint8_t> frame, const Udp::endpoint& sender);

  UdpPortSpec spec_;
  boost::asio::io_context context_;
  Udp::socket socket_;
  std::map<std::pair<wire::Gid, int>, Route> peers_;
  std::array<uint8_t, kMaxFrameBytes> frame_{};
  PortCounters counters_;
};

}  // namespace ringpost::sim::service

#include "sim/service/udp_port.h"

#include <poll.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/socket_base.hpp>
#include <boost/system/error_code.hpp>
#include <span>
#include <variant>
#include <vector>

#include "sim/wire/arp.h"
#include "sim/wire/codec.h"

namespace ringpost::sim::service {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

// A burst of the largest window. The system may grant less, which costs packets, not correctness.
constexpr int kBufferBytes = 4 << 20;
// A flood of junk must not keep the NIC's thread from its other work.
constexpr int kMaxJunkPerPoll = 64;

// Routers spread flows by it (RFC 7637); a QP's packets share one and so keep their order.
uint16_t SourcePort(uint32_t qpn) {
  return static_cast<uint16_t>(0xc000 | ((qpn ^ qpn >> 14) & 0x3fff));
}

}  // namespace

Result<std::unique_ptr<UdpPort>> UdpPort::Open(const UdpPortSpec& spec) {
  const std::string& name = spec.device.name;
  if (spec.device.link != wire::Link::kEthernet) {
    return Error{name + ": between machines the link is Ethernet (RoCEv2), not InfiniBand"};
  }
  error_code error;
  const asio::ip::address address = asio::ip::make_address(spec.address, error);
  if (error) return Error{name + ": '" + spec.address + "' is no IP address"};
  std::unique_ptr<UdpPort> port(new UdpPort(spec));
  const Udp::endpoint endpoint(address, spec.port);
  Udp::socket& socket = port->socket_;
  socket.open(endpoint.protocol(), error);
  if (!error) socket.bind(endpoint, error);
  if (!error) socket.non_blocking(true, error);
  if (error) {
    return Error{name + ": UDP port " + std::to_string(spec.port) + " of " + spec.address + ": " +
                 error.message()};
  }
  error_code ignored;
  socket.set_option(asio::socket_base::receive_buffer_size(kBufferBytes), ignored);
  socket.set_option(asio::socket_base::send_buffer_size(kBufferBytes), ignored);
  return port;
}

Result<bool> UdpPort::AddPeer(const UdpPeer& peer) {
  const std::string& name = spec_.device.name;
  error_code error;
  const asio::ip::address address = asio::ip::make_address(peer.address, error);
  if (error) return Error{name + ": '" + peer.address + "' is no IP address"};
  if (wire::IsMapped(peer.gid) != wire::IsMapped(spec_.device.gid)) {
    return Error{name + ": of the two GIDs, one is IPv4 and one is IPv6"};
  }
  const int slot = peer.slot ? *peer.slot : kAnySlot;
  peers_[{peer.gid, slot}] = {peer.mac, Udp::endpoint(address, peer.port)};
  return true;
}

uint16_t UdpPort::Port() const { return socket_.local_endpoint().port(); }

const UdpPort::Route* UdpPort::Find(const wire::Gid& gid, uint32_t qpn) const {
  auto found = peers_.find({gid, SlotOfQpn(qpn)});
  if (found == peers_.end()) found = peers_.find({gid, kAnySlot});
  return found == peers_.end() ? nullptr : &found->second;
}

bool UdpPort::Send(const Address& target, const wire::Packet& packet) {
  const Route* route = Find(target.gid, packet.dest_qpn);
  if (route == nullptr) {
    ++counters_.no_route;
    return false;
  }
  const wire::RoceAddressing addressing{.source_mac = spec_.mac,
                                        .target_mac = route->mac,
                                        .source = spec_.device.gid,
                                        .target = target.gid,
                                        .source_port = SourcePort(packet.dest_qpn)};
  error_code error;
  socket_.send_to(asio::buffer(wire::Encode(packet, addressing)), route->endpoint, 0, error);
  // Of a peer that is gone the system tells with a later call, if at all.
  ++(error ? counters_.receiver_full : counters_.sent);
  return !error;
}

bool UdpPort::Poll(Arrival& arrival) {
  for (int junk = 0; junk < kMaxJunkPerPoll; ++junk) {
    Udp::endpoint sender;
    error_code error;
    const size_t bytes = socket_.receive_from(asio::buffer(frame_), sender, 0, error);
    if (error) return false;
    if (Accept(bytes, sender, arrival)) return true;
  }
  return false;
}

bool UdpPort::Accept(size_t bytes, const Udp::endpoint& sender, Arrival& arrival) {
  const std::span<const uint8_t> received = std::span(frame_).first(bytes);
  wire::Decoded decoded = wire::Decode(wire::Link::kEthernet, received);
  auto* frame = std::get_if<wire::Frame>(&decoded);
  if (frame == nullptr) {
    ++(AnswerArp(received, sender) ? counters_.arp_answers : counters_.bad_frames);
    return false;
  }
  const auto& roce = std::get<wire::RoceAddressing>(frame->addressing);
  const bool is_ours = roce.target == spec_.device.gid && roce.target_mac == spec_.mac;
  if (!is_ours || !IsFromPeer(roce.source, sender)) {
    ++counters_.foreign_frames;
    return false;
  }
  arrival.packet = std::move(frame->packet);
  arrival.source = {.gid = roce.source};
  ++counters_.received;
  return true;
}

bool UdpPort::AnswerArp(std::span<const uint8_t> frame, const Udp::endpoint& sender) {
  const std::optional<wire::ArpRequest> asked = wire::DecodeArpRequest(frame);
  if (!asked || asked->target != spec_.device.gid || !IsFromPeer(asked->source, sender)) {
    return false;
  }
  error_code lost;  // then it asks again
  socket_.send_to(asio::buffer(wire::EncodeArpReply(*asked, spec_.mac)), sender, 0, lost);
  return true;
}

// Its GID alone would not do: anybody can write that into a frame.
bool UdpPort::IsFromPeer(const wire::Gid& gid, const Udp::endpoint& sender) const {
  for (auto peer = peers_.lower_bound({gid, kAnySlot});
       peer != peers_.end() && peer->first.first == gid; ++peer) {
    if (peer->second.endpoint == sender) return true;
  }
  return false;
}

void UdpPort::Sleep(std::chrono::nanoseconds timeout) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(timeout);
  const timespec relative{.tv_sec = seconds.count(), .tv_nsec = (timeout - seconds).count()};
  pollfd wanted{.fd = socket_.native_handle(), .events = POLLIN, .revents = 0};
  ppoll(&wanted, 1, &relative, nullptr);
}

}  // namespace ringpost::sim::service

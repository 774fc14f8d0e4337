#include "backends/sim/capture.h"

#include "sim/wire/addressing.h"

namespace ringpost {
namespace {

sim::wire::Addressing OnEthernet(uint32_t from, uint32_t to) {
  // Locally administered addresses, and a private network.
  const auto low = [](uint32_t node) { return static_cast<uint8_t>(node + 1); };
  const auto high = [](uint32_t node) { return static_cast<uint8_t>((node + 1) >> 8); };
  sim::wire::RoceAddressing addressing;
  addressing.source_mac = {2, 0, 0, 0, high(from), low(from)};
  addressing.target_mac = {2, 0, 0, 0, high(to), low(to)};
  addressing.source = sim::wire::MappedGid(10, 0, high(from), low(from));
  addressing.target = sim::wire::MappedGid(10, 0, high(to), low(to));
  return addressing;
}

sim::wire::Addressing OnInfiniband(uint32_t from, uint32_t to) {
  sim::wire::InfinibandAddressing addressing;
  addressing.source_lid = sim::NicNode::AddressOf(from).lid;
  addressing.target_lid = sim::NicNode::AddressOf(to).lid;
  return addressing;
}

}  // namespace

WireCapture::WireCapture(const std::string& path, const sim::Platform& platform)
    : is_roce_(platform.link_layer == "roce"),
      path_(path),
      writer_(path, is_roce_ ? sim::wire::Link::kEthernet : sim::wire::Link::kInfiniband) {}

sim::PacketTap WireCapture::Tap() {
  return [this](sim::Time time, uint32_t from, uint32_t to, const sim::wire::Packet& packet) {
    writer_.Write(time, packet, is_roce_ ? OnEthernet(from, to) : OnInfiniband(from, to));
  };
}

std::string WireCapture::Finish() {
  writer_.Flush();
  return writer_.Ok() ? "" : path_ + ": " + writer_.Error();
}

}  // namespace ringpost

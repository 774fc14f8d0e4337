#include "sim/service/segment_port.h"

namespace ringpost::sim::service {

Result<std::unique_ptr<SegmentPort>> SegmentPort::Attach(FabricSegment& fabric,
                                                         const DeviceInfo& device,
                                                         Polling polling) {
  const auto attachment = fabric.Attach(device, polling);
  if (!attachment.Ok()) return Error{attachment.Message()};
  return std::unique_ptr<SegmentPort>(new SegmentPort(fabric, device.link, attachment.Value()));
}

SegmentPort::SegmentPort(FabricSegment& fabric, wire::Link link,
                         FabricSegment::Attachment attachment)
    : fabric_(fabric),
      link_(link),
      attachment_(attachment),
      consumer_(fabric.RingOf(attachment.producer.slot),
                [&fabric](Producer producer) { return fabric.IsRunning(producer); }) {
  consumer_.Discard();
}

SegmentPort::~SegmentPort() { fabric_.Detach(attachment_); }

bool SegmentPort::Send(const Address& target, const wire::Packet& packet) {
  constexpr uint64_t kDropsPerCheck = 256;
  const std::optional<uint8_t> slot = fabric_.Route(link_, target, packet.dest_qpn);
  if (!slot) {
    ++counters_.no_route;
    return false;
  }
  if (fabric_.RingOf(*slot).Push(packet, attachment_.producer, attachment_.device)) {
    ++counters_.sent;
    return true;
  }
  // Nobody empties the ring of a process that was killed.
  if (counters_.receiver_full++ % kDropsPerCheck == 0) fabric_.ReapSlot(*slot);
  return false;
}

bool SegmentPort::Poll(Arrival& arrival) {
  uint16_t source = 0;
  if (!consumer_.Pop(arrival.packet, source)) return false;
  while (source >= sources_.size()) {
    sources_.push_back(AddressOf(fabric_.DeviceAt(static_cast<uint16_t>(sources_.size()))));
  }
  arrival.source = sources_[source];
  ++counters_.received;
  return true;
}

PortCounters SegmentPort::Counters() const {
  PortCounters counters = counters_;
  counters.bad_frames = consumer_.Corrupt();
  return counters;
}

}  // namespace ringpost::sim::service

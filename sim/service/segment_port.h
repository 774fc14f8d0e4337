// segment_port.h: a NIC's port to the NICs of one machine: of other processes, and of this one.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "sim/service/fabric_segment.h"
#include "sim/service/packet_port.h"
#include "sim/service/packet_ring.h"
#include "transport/result.h"

namespace ringpost::sim::service {

class SegmentPort final : public PacketPort {
 public:
  // The fabric must outlive the port. A Polling::kSpin port cannot Sleep().
  static Result<std::unique_ptr<SegmentPort>> Attach(FabricSegment& fabric,
                                                     const DeviceInfo& device, Polling polling);
  ~SegmentPort() override;

  // Owns FirstQpn(Slot()) and FirstKey(Slot()) onwards.
  uint8_t Slot() const { return attachment_.producer.slot; }

  bool Send(const Address& target, const wire::Packet& packet) override;
  bool Poll(Arrival& arrival) override;
  void Sleep(std::chrono::nanoseconds timeout) override { consumer_.Sleep(timeout); }
  PortCounters Counters() const override;

 private:
  SegmentPort(FabricSegment& fabric, wire::Link link, FabricSegment::Attachment attachment);

  FabricSegment& fabric_;
  wire::Link link_;
  FabricSegment::Attachment attachment_;
  RingConsumer consumer_;
  std::vector<Address> sources_;  // by the devices' numbers
  PortCounters counters_;
};

}  // namespace ringpost::sim::service

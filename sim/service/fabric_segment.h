// fabric_segment.h: one machine: its devices, who is attached to them, and a receive ring for each.
//
// Shared by all processes that name the same fabric. The first one makes it, the last one removes
// it; those that were killed count as gone. Where the last one was killed, the next Open() of the
// same name finds nobody, and the end of that object removes the segment.
//
//   auto fabric = FabricSegment::Open({.name = "mine"});
//   auto attachment = fabric.Value()->Attach(device, Polling::kSpin);
//   if (auto slot = fabric.Value()->Route(link, address, qpn))
//   fabric.Value()->RingOf(*slot).Push(...)
//
// Threads: any may call anything, but for the destructor.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/service/device.h"
#include "sim/service/packet_ring.h"
#include "sim/service/robust_mutex.h"
#include "sim/service/segment_layout.h"
#include "sim/service/shared_object.h"
#include "transport/result.h"

namespace ringpost::sim::service {

// Whether the owner of a ring may sleep on it; its senders then look whether it does.
enum class Polling : uint8_t { kSpin, kSleep };

struct FabricSpec {
  std::string name;               // empty: the user's. Letters, digits, '.', '_' and '-'
  uint32_t ring_cells = 1 << 14;  // of 64 bytes, in each receive ring; a power of two
  std::chrono::milliseconds lock_deadline{10'000};
};

class FabricSegment {
 public:
  static Result<std::unique_ptr<FabricSegment>> Open(const FabricSpec& spec);
  // The same for NICs of one process, without a name.
  static Result<std::unique_ptr<FabricSegment>> InProcess(uint32_t ring_cells);
  static std::string PathOf(const std::string& name);
  // The user's id; within a container also its number, as pids mean nothing outside it, so that the
  // programs of two containers with one /dev/shm never meet by default.
  static std::string NameOfUser(uint64_t pid_namespace);
  static std::string NameOfUser();
  const std::string& FabricName() const { return spec_.name; }

  FabricSegment(const FabricSegment&) = delete;
  FabricSegment& operator=(const FabricSegment&) = delete;
  // Detaches what this object attached.
  ~FabricSegment();

  struct Attachment {
    Producer producer;    // the slot's number, and how often it was given away
    uint16_t device = 0;  // its place in Devices()
  };
  // Takes a slot of the device, which is added to the machine's if it is new. The ring may hold
  // packets for the owner before: RingConsumer::Discard().
  Result<Attachment> Attach(const DeviceInfo& device, Polling polling);
  void Detach(const Attachment& attachment);

  std::vector<DeviceInfo> Devices() const;
  // A copy, as it never changes; an empty one where there is no such device.
  DeviceInfo DeviceAt(uint16_t index) const;

  // The slot that receives for a QPN, if somebody is attached and its device has that address and
  // link.
  std::optional<uint8_t> Route(wire::Link link, const Address& target, uint32_t qpn) const;
  PacketRing RingOf(uint8_t slot) const;

  // Asks the system, which takes microseconds.
  bool IsRunning(Producer producer) const;
  // Slots of processes that were killed are free from here on. Returns how many there were.
  int Reap();
  void ReapSlot(uint8_t slot);

 private:
  explicit FabricSegment(FabricSpec spec) : spec_(std::move(spec)) {}

  Result<bool> Map();
  std::string Refusal() const;
  std::optional<RobustMutex::Guard> LockMutex();
  Error StillLocked() const;
  Result<Attachment> AttachLocked(const DeviceInfo& device, Polling polling);
  Result<uint16_t> DeviceLocked(const DeviceInfo& device);
  void RemoveIfLast();
  bool InUse() const;
  SegmentHeader& Header() const { return *static_cast<SegmentHeader*>(object_->Memory()); }
  std::string Name() const { return "fabric '" + spec_.name + "': "; }

  FabricSpec spec_;
  std::string path_;  // empty: in this process
  std::unique_ptr<SharedObject> object_;
  int32_t pid_ = 0;
  std::vector<Attachment> attachments_;  // guarded by the segment's mutex
};

}  // namespace ringpost::sim::service

#include "sim/service/fabric_segment.h"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include "sim/engine/check.h"
#include "sim/service/process_id.h"

namespace ringpost::sim::service {
namespace {

constexpr uint32_t kMaxRingCells = 1 << 20;
constexpr size_t kMaxNameBytes = 100;
constexpr uint16_t kFirstMulticastLid = 0xc000;
constexpr int kAttempts = 1000;

bool IsName(const std::string& name) {
  return !name.empty() && name.size() <= kMaxNameBytes &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '.' || c == '_' || c == '-';
         });
}

DeviceInfo InfoOf(const DeviceRecord& record) {
  return {record.name, record.lid, record.gid, record.link};
}

std::string WhyNoDevice(const DeviceInfo& device) {
  if (device.name.empty() || device.name.size() >= sizeof(DeviceRecord::name)) {
    return "a device's name has 1 to " + std::to_string(sizeof(DeviceRecord::name) - 1) +
           " characters";
  }
  if (device.gid == wire::Gid{}) return "device " + device.name + " has no GID";
  const bool is_infiniband = device.link == wire::Link::kInfiniband;
  if (is_infiniband && (device.lid == 0 || device.lid >= kFirstMulticastLid)) {
    return "device " + device.name + " needs a LID from 1 to 49151";
  }
  if (!is_infiniband && device.lid != 0) return "device " + device.name + " on Ethernet has a LID";
  return "";
}

}  // namespace

std::string FabricSegment::PathOf(const std::string& name) {
  return "/dev/shm/ringpost-" + (name.empty() ? NameOfUser() : name);
}

std::string FabricSegment::NameOfUser(uint64_t pid_namespace) {
  constexpr uint64_t kOfTheMachine = 0xeffffffc;  // PROC_PID_INIT_INO of the kernel
  const std::string user = std::to_string(geteuid());
  const bool container = pid_namespace != 0 && pid_namespace != kOfTheMachine;
  return container ? user + "-" + std::to_string(pid_namespace) : user;
}

std::string FabricSegment::NameOfUser() { return NameOfUser(PidNamespace()); }

Result<std::unique_ptr<FabricSegment>> FabricSegment::Open(const FabricSpec& spec) {
  std::unique_ptr<FabricSegment> fabric(new FabricSegment(spec));
  if (fabric->spec_.name.empty()) fabric->spec_.name = NameOfUser();
  if (!IsName(fabric->spec_.name)) {
    return Error{"fabric.name has 1 to 100 letters, digits, '.', '_' and '-'"};
  }
  fabric->path_ = PathOf(fabric->spec_.name);
  const Result<bool> mapped = fabric->Map();
  if (!mapped.Ok()) return Error{mapped.Message()};
  fabric->Reap();
  return fabric;
}

Result<std::unique_ptr<FabricSegment>> FabricSegment::InProcess(uint32_t ring_cells) {
  std::unique_ptr<FabricSegment> fabric(
      new FabricSegment({.name = "of this process", .ring_cells = ring_cells}));
  const Result<bool> mapped = fabric->Map();
  if (!mapped.Ok()) return Error{mapped.Message()};
  return fabric;
}

Result<bool> FabricSegment::Map() {
  const uint32_t cells = spec_.ring_cells;
  if (!std::has_single_bit(cells) || cells < PacketRing::kMinCells || cells > kMaxRingCells) {
    return Error{Name() + "a ring has a power of two of cells, 256 to 1048576"};
  }
  const size_t bytes = SegmentBytes(cells);
  const auto initialise = [&](void* memory) {
    auto* header = new (memory) SegmentHeader();
    header->magic = kSegmentMagic;
    header->version = kLayoutVersion;
    header->ring_cells = cells;
    header->bytes = bytes;
    header->pid_namespace = PidNamespace();
    header->mutex.Initialise();
  };
  auto object = path_.empty() ? SharedObject::MakeNameless(bytes, initialise)
                              : SharedObject::OpenOrMake(path_, bytes, initialise);
  if (!object.Ok()) return Error{Name() + object.Message()};
  object_ = std::move(object.Value());
  pid_ = getpid();
  if (const std::string refusal = Refusal(); !refusal.empty()) {
    object_.reset();
    return Error{Name() + path_ + refusal};
  }
  return true;
}

// Why the segment that is there is not ours; empty if it is.
std::string FabricSegment::Refusal() const {
  const std::string remedy = "; stop the programs that use it or choose another name";
  if (object_->Bytes() < sizeof(SegmentHeader) || Header().magic != kSegmentMagic) {
    return " is no fabric of this program; choose another name";
  }
  const SegmentHeader& header = Header();
  if (header.version != kLayoutVersion) {
    return " has layout " + std::to_string(header.version) + ", this program has layout " +
           std::to_string(kLayoutVersion) + remedy;
  }
  if (header.ring_cells != spec_.ring_cells || header.bytes != object_->Bytes()) {
    return " has rings of " + std::to_string(header.ring_cells) + " cells and " +
           std::to_string(object_->Bytes()) + " bytes, this program wants " +
           std::to_string(spec_.ring_cells) + " cells" + remedy;
  }
  if (header.pid_namespace != PidNamespace()) {
    return " belongs to another container, whose processes this one cannot see" + remedy;
  }
  return "";
}

FabricSegment::~FabricSegment() {
  // A child of fork has inherited this object, but attached nothing.
  if (object_ == nullptr || pid_ != getpid()) return;
  for (const Attachment& attachment : std::vector<Attachment>(attachments_)) Detach(attachment);
  RemoveIfLast();
}

void FabricSegment::RemoveIfLast() {
  const auto lock = LockMutex();
  if (!lock) return;
  Reap();
  // Whoever has opened it and waits for the mutex sees that the name is gone, and makes another.
  // The name is ours as long as the object has one.
  if (!InUse() && object_->HasName()) object_->RemoveName();
}

// Whether a NIC is there, after Reap().
bool FabricSegment::InUse() const {
  const SegmentHeader& header = Header();
  return std::any_of(std::begin(header.slot), std::end(header.slot), [](const SlotRecord& slot) {
    return (slot.word.load() & SlotRecord::kLive) != 0;
  });
}

std::optional<RobustMutex::Guard> FabricSegment::LockMutex() {
  auto guard = Header().mutex.Lock(spec_.lock_deadline);
  if (guard) Header().mutex_holder.store(getpid(), std::memory_order_relaxed);
  return guard;
}

Error FabricSegment::StillLocked() const {
  return Error{Name() + "process " + std::to_string(Header().mutex_holder.load()) +
               " has held its lock for " + std::to_string(spec_.lock_deadline.count()) + " ms"};
}

Result<FabricSegment::Attachment> FabricSegment::Attach(const DeviceInfo& device, Polling polling) {
  if (const std::string why = WhyNoDevice(device); !why.empty()) return Error{Name() + why};
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    {
      const auto lock = LockMutex();
      if (!lock) return StillLocked();
      if (object_->HasName() || !attachments_.empty()) return AttachLocked(device, polling);
    }
    // The last process left and removed the segment after this one had opened it.
    const Result<bool> mapped = Map();
    if (!mapped.Ok()) return Error{mapped.Message()};
  }
  return Error{Name() + "others make and remove it all the time"};
}

Result<FabricSegment::Attachment> FabricSegment::AttachLocked(const DeviceInfo& device,
                                                              Polling polling) {
  SegmentHeader& header = Header();
  Reap();
  // What programs called their devices that have all died binds nobody.
  if (!InUse()) header.devices.store(0, std::memory_order_release);
  const Result<uint16_t> index = DeviceLocked(device);
  if (!index.Ok()) return Error{index.Message()};
  for (uint32_t number = 1; number < kMaxSlots; ++number) {
    SlotRecord& slot = header.slot[number];
    const uint32_t old = slot.word.load(std::memory_order_acquire);
    if ((old & SlotRecord::kLive) != 0) continue;
    const auto ring = static_cast<uint8_t>(number);
    const Result<bool> allocated =
        object_->Allocate(RingOffset(ring, spec_.ring_cells), RingStride(spec_.ring_cells));
    if (!allocated.Ok()) return Error{Name() + allocated.Message()};
    RingOf(ring).Doorbell().AllowSleep(polling == Polling::kSleep);
    const ProcessId self = ProcessId::OfThisProcess();
    slot.device.store(index.Value(), std::memory_order_relaxed);
    slot.pid.store(self.pid, std::memory_order_relaxed);
    slot.start_time.store(self.start_time, std::memory_order_relaxed);
    const uint32_t word = (old + 2) | SlotRecord::kLive;
    // Release: whoever sees the slot live sees whose it is, and how to wake it.
    slot.word.store(word, std::memory_order_release);
    attachments_.push_back({{ring, SlotRecord::GenerationOf(word)}, index.Value()});
    return attachments_.back();
  }
  return Error{Name() + "all 255 slots are taken"};
}

Result<uint16_t> FabricSegment::DeviceLocked(const DeviceInfo& device) {
  SegmentHeader& header = Header();
  const uint32_t count = header.devices.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < count; ++i) {
    const DeviceInfo known = InfoOf(header.device[i]);
    if (known == device) return static_cast<uint16_t>(i);
    if (known.name == device.name) {
      return Error{Name() + "device " + device.name +
                   " is there with another LID, GID or link; all processes must use the same "
                   "configuration, or another name"};
    }
    if (known.gid == device.gid || (known.lid == device.lid && known.lid != 0)) {
      return Error{Name() + "devices " + known.name + " and " + device.name +
                   " have the same LID or GID"};
    }
  }
  if (count == kMaxDevices) return Error{Name() + "there are 64 devices already"};
  DeviceRecord& record = header.device[count];
  record = {};
  std::memcpy(record.name, device.name.data(), device.name.size());
  record.lid = device.lid;
  record.gid = device.gid;
  record.link = device.link;
  header.devices.store(count + 1, std::memory_order_release);
  return static_cast<uint16_t>(count);
}

void FabricSegment::Detach(const Attachment& attachment) {
  const auto lock = LockMutex();
  std::erase_if(attachments_,
                [&](const Attachment& own) { return own.producer == attachment.producer; });
  SlotRecord& slot = Header().slot[attachment.producer.slot];
  uint32_t word = slot.word.load(std::memory_order_acquire);
  if (SlotRecord::GenerationOf(word) != attachment.producer.generation) return;
  slot.word.compare_exchange_strong(word, word & ~SlotRecord::kLive, std::memory_order_acq_rel);
}

std::vector<DeviceInfo> FabricSegment::Devices() const {
  std::vector<DeviceInfo> devices;
  const uint32_t count = Header().devices.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < count; ++i) devices.push_back(InfoOf(Header().device[i]));
  return devices;
}

DeviceInfo FabricSegment::DeviceAt(uint16_t index) const {
  if (index >= Header().devices.load(std::memory_order_acquire)) return {};
  return InfoOf(Header().device[index]);
}

std::optional<uint8_t> FabricSegment::Route(wire::Link link, const Address& target,
                                            uint32_t qpn) const {
  const uint8_t number = SlotOfQpn(qpn);
  const SlotRecord& slot = Header().slot[number];
  if ((slot.word.load(std::memory_order_acquire) & SlotRecord::kLive) == 0) return std::nullopt;
  const DeviceRecord& device =
      Header().device[slot.device.load(std::memory_order_relaxed) % kMaxDevices];
  const bool is_there = target.lid != 0 ? device.lid == target.lid : device.gid == target.gid;
  if (!is_there || device.link != link) return std::nullopt;
  return number;
}

PacketRing FabricSegment::RingOf(uint8_t slot) const {
  auto* memory = static_cast<uint8_t*>(object_->Memory());
  return PacketRing(memory + RingOffset(slot, spec_.ring_cells), spec_.ring_cells);
}

bool FabricSegment::IsRunning(Producer producer) const {
  const SlotRecord& slot = Header().slot[producer.slot];
  const uint32_t word = slot.word.load(std::memory_order_acquire);
  if (SlotRecord::GenerationOf(word) != producer.generation) return false;
  const ProcessId process{slot.pid.load(std::memory_order_relaxed),
                          slot.start_time.load(std::memory_order_relaxed)};
  // One that has detached may be at its last packet still.
  return process.IsRunning();
}

void FabricSegment::ReapSlot(uint8_t number) {
  SlotRecord& slot = Header().slot[number];
  uint32_t word = slot.word.load(std::memory_order_acquire);
  if ((word & SlotRecord::kLive) == 0) return;
  if (IsRunning({number, SlotRecord::GenerationOf(word)})) return;
  // Fails if the slot has a new owner.
  slot.word.compare_exchange_strong(word, word & ~SlotRecord::kLive, std::memory_order_acq_rel);
}

int FabricSegment::Reap() {
  int reaped = 0;
  for (uint32_t number = 1; number < kMaxSlots; ++number) {
    const SlotRecord& slot = Header().slot[number];
    const uint32_t before = slot.word.load(std::memory_order_relaxed);
    if ((before & SlotRecord::kLive) == 0) continue;
    ReapSlot(static_cast<uint8_t>(number));
    reaped += slot.word.load(std::memory_order_relaxed) != before;
  }
  return reaped;
}

}  // namespace ringpost::sim::service

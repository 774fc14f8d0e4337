#include "sim/uverbs/prm/devx.h"

#include <rdma/ib_user_ioctl_verbs.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <vector>

namespace ringpost::sim::uverbs::prm {
namespace {

constexpr uint64_t kPageBytes = 4096;

// Commands that the driver passes on and this firmware does not have, so that a program hears from
// the firmware that there is no such operation.
struct Passed {
  uint16_t opcode;
  Verb verb;
};
constexpr Passed kPassed[] = {
    {0x740, Verb::kGeneral},  // QUERY_ESW_FUNCTIONS
    {0x750, Verb::kGeneral},  // QUERY_VPORT_STATE
    {0x752, Verb::kGeneral},  // QUERY_ESW_VPORT_CONTEXT
    {0x754, Verb::kGeneral},  // QUERY_NIC_VPORT_CONTEXT
    {0x762, Verb::kGeneral},  // QUERY_HCA_VPORT_CONTEXT
    {0x76f, Verb::kGeneral},  // QUERY_VNIC_ENV
    {0x770, Verb::kGeneral},  // QUERY_VPORT_COUNTER
    {0x822, Verb::kGeneral},  // QUERY_CONG_STATUS
    {0x824, Verb::kGeneral},  // QUERY_CONG_PARAMS
    {0x826, Verb::kGeneral},  // QUERY_CONG_STATISTICS
    {0x842, Verb::kGeneral},  // QUERY_LAG
    {0x700, Verb::kCreate},   // CREATE_SRQ
    {0x705, Verb::kCreate},   // CREATE_XRC_SRQ
    {0x717, Verb::kCreate},   // CREATE_XRQ
    {0x771, Verb::kCreate},   // ALLOC_Q_COUNTER
    {0x80e, Verb::kCreate},   // ALLOC_XRCD
    {0x816, Verb::kCreate},   // ALLOC_TRANSPORT_DOMAIN
    {0x900, Verb::kCreate},   // CREATE_TIR
    {0x904, Verb::kCreate},   // CREATE_SQ
    {0x908, Verb::kCreate},   // CREATE_RQ
    {0x912, Verb::kCreate},   // CREATE_TIS
    {0x916, Verb::kCreate},   // CREATE_RQT
    {0x930, Verb::kCreate},   // CREATE_FLOW_TABLE
    {0xa00, Verb::kCreate},   // CREATE_GENERAL_OBJECT
};

uint16_t OpcodeOf(std::span<const uint8_t> in) { return static_cast<uint16_t>(Input(in)[kOpcode]); }

bool ComesBy(uint16_t opcode, Verb verb) {
  if (const CommandFacts* command = FindCommand(opcode)) return command->verb == verb;
  return std::any_of(std::begin(kPassed), std::end(kPassed),
                     [&](const Passed& row) { return row.opcode == opcode && row.verb == verb; });
}

// Queues of a program are in umems: the driver says so in the mailbox.
constexpr struct {
  Opcode opcode;
  Field valid;
} kUmemBits[] = {
    {Opcode::kCreateMkey, mkc::kUmemValid},
    {Opcode::kCreateCq, cqc::kUmemValid},
    {Opcode::kCreateCq, In(cqc::kAt, cqc::kDbrUmemValid)},
    {Opcode::kModifyCq, cqc::kUmemValid},
    {Opcode::kCreateQp, qpc::kUmemValid},
    {Opcode::kCreateQp, In(qpc::kAt, qpc::kDbrUmemValid)},
    {Opcode::kCreateRmp, In(rmpc::kAt, rmpc::kUmemValid)},
    {Opcode::kCreateRmp, In(rmpc::kAt, rmpc::kDbrUmemValid)},
};

}  // namespace

uint64_t UmemPageSize(const MemoryRange& range, uint64_t page_sizes) {
  const uint64_t most = std::bit_ceil(std::max(range.bytes, kPageBytes));
  // Sizes from 4 KiB to the range's, rounded up.
  page_sizes &= (most | (most - 1)) & ~(kPageBytes - 1);
  if (page_sizes == 0) return 0;
  uint64_t size = std::bit_floor(page_sizes);
  while (size > kPageBytes && ((range.address | range.bytes) & (size - 1)) != 0) size /= 2;
  return size;
}

// The mailbox with this user's name in it, to the firmware.
int Devx::Forward(std::span<const uint8_t> in, std::span<uint8_t> out) {
  std::vector<uint8_t> copy(in.begin(), in.end());
  Output mailbox(copy);
  mailbox.Put(kUid, uid_);
  for (const auto& [opcode, valid] : kUmemBits) {
    if (static_cast<uint16_t>(opcode) == OpcodeOf(in)) mailbox.Put(valid, 1);
  }
  const Refusal refusal = firmware_.Execute(copy, out, uid_);
  if (refusal == Refusal::kNone) return 0;
  // Programs that ask for keys to be changed by WQEs go without where this is what they hear.
  return refusal == Refusal::kMkeyUmr ? EOPNOTSUPP : EREMOTEIO;
}

int Devx::General(std::span<const uint8_t> in, std::span<uint8_t> out) {
  if (uid_ == 0 || !ComesBy(OpcodeOf(in), Verb::kGeneral)) return EINVAL;
  return Forward(in, out);
}

int Devx::Create(std::span<const uint8_t> in, std::span<uint8_t> out, uint32_t* handle) {
  const uint16_t opcode = OpcodeOf(in);
  if (uid_ == 0 || !ComesBy(opcode, Verb::kCreate)) return EINVAL;
  const int error = Forward(in, out);
  if (error != 0) return error;
  *handle = next_handle_++;
  objects_[*handle] = {static_cast<Opcode>(opcode), Input(out)[kNumber]};
  return 0;
}

int Devx::OnObject(Verb verb, uint32_t handle, std::span<const uint8_t> in,
                   std::span<uint8_t> out) {
  const CommandFacts* command = FindCommand(OpcodeOf(in));
  const auto found = objects_.find(handle);
  if (command == nullptr || command->verb != verb || found == objects_.end()) return EINVAL;
  const Made& made = found->second;
  if (command->creator != made.creator || Input(in)[kNumber] != made.number) return EINVAL;
  return Forward(in, out);
}

int Devx::Modify(uint32_t handle, std::span<const uint8_t> in, std::span<uint8_t> out) {
  return OnObject(Verb::kModify, handle, in, out);
}

int Devx::Query(uint32_t handle, std::span<const uint8_t> in, std::span<uint8_t> out) {
  return OnObject(Verb::kQuery, handle, in, out);
}

Refusal Devx::Run(Opcode opcode, uint32_t number) {
  std::array<uint8_t, kHeaderBytes> in{}, out{};
  Set(in.data(), kOpcode, static_cast<uint32_t>(opcode));
  Set(in.data(), kNumber, number);
  return firmware_.Execute(in, out, uid_);
}

// The object stays where the firmware refuses.
int Devx::Destroy(uint32_t handle) {
  const auto found = objects_.find(handle);
  if (found == objects_.end()) return EINVAL;
  const Made made = found->second;
  if (made.creator == Opcode::kCreateDct) {
    const Refusal drained = Run(Opcode::kDrainDct, made.number);
    if (drained != Refusal::kNone && drained != Refusal::kDctDrained) {
      return ErrnoOf(FactsOf(drained).status);
    }
  }
  const auto commands = Commands();
  const auto destroy = std::find_if(commands.begin(), commands.end(), [&](const auto& command) {
    return command.verb == Verb::kDestroy && command.creator == made.creator;
  });
  const Refusal refusal = Run(destroy->opcode, made.number);
  if (refusal == Refusal::kNone) objects_.erase(found);
  return ErrnoOf(FactsOf(refusal).status);
}

int Devx::Locate(const UmemRequest& request, MemoryRange* range, Memory* memory) const {
  *range = {request.address, request.bytes};
  if (request.dmabuf) {
    const int error = dmabuf_ ? dmabuf_(*request.dmabuf, memory) : EBADF;
    if (error != 0) return error;
    const uint64_t bytes = (*memory)->bytes;
    const bool fits =
        request.bytes != 0 && request.bytes <= bytes && request.address <= bytes - request.bytes;
    if (!fits) return EINVAL;
    range->address += (*memory)->address;
    return 0;
  }
  if (request.bytes == 0 || request.address + request.bytes < request.address) return EINVAL;
  const bool writable = (request.access & IB_UVERBS_ACCESS_LOCAL_WRITE) != 0;
  const service::Use use = writable ? service::Use::kWrite : service::Use::kRead;
  return present_(request.address, request.bytes, use) ? 0 : EFAULT;
}

int Devx::RegisterUmem(const UmemRequest& request, uint32_t* handle, uint32_t* number) {
  constexpr uint32_t kAllowed = IB_UVERBS_ACCESS_LOCAL_WRITE | IB_UVERBS_ACCESS_REMOTE_WRITE |
                                IB_UVERBS_ACCESS_REMOTE_READ | IB_UVERBS_ACCESS_RELAXED_ORDERING;
  if (uid_ == 0 || (request.access & ~kAllowed) != 0) return EINVAL;
  // Who lets others write must let this side write.
  const bool writable = (request.access & IB_UVERBS_ACCESS_LOCAL_WRITE) != 0;
  if ((request.access & IB_UVERBS_ACCESS_REMOTE_WRITE) != 0 && !writable) return EINVAL;
  MemoryRange range;
  Memory memory;
  const int error = Locate(request, &range, &memory);
  if (error != 0) return error;
  if (UmemPageSize(range, request.page_sizes.value_or(~uint64_t{0})) == 0) return EINVAL;
  *number = firmware_.CreateUmem({uid_, range.address, range.bytes, writable, 0});
  if (*number == 0) return EOPNOTSUPP;
  *handle = next_handle_++;
  umems_[*handle] = {*number, std::move(memory)};
  return 0;
}

int Devx::DeregisterUmem(uint32_t handle) {
  const auto found = umems_.find(handle);
  if (found == umems_.end()) return EINVAL;
  const Refusal refusal = firmware_.DestroyUmem(found->second.number, uid_);
  if (refusal == Refusal::kNone) umems_.erase(found);
  return ErrnoOf(FactsOf(refusal).status);
}

int Devx::QueryEqn(uint32_t vector, uint32_t* eqn) const {
  *eqn = firmware_.EqnOf(vector);
  return *eqn != 0 ? 0 : EINVAL;
}

}  // namespace ringpost::sim::uverbs::prm

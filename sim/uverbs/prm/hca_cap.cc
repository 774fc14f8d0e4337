// QUERY_HCA_CAP: every field from what the NIC is configured with, or from what the code can do.
#include "sim/uverbs/prm/layout/hca_cap.h"

#include <bit>

#include "sim/nic/wqe_parser.h"
#include "sim/uverbs/prm/commands.h"
#include "sim/wire/addressing.h"

namespace ringpost::sim::uverbs::prm {
namespace {

// Of a limit that is no power of two, what surely fits.
uint32_t Log(uint64_t limit) {
  return limit == 0 ? 0 : static_cast<uint32_t>(std::bit_width(limit) - 1);
}

uint32_t IsEthernet(State& state) { return state.config.link == wire::Link::kEthernet ? 1 : 0; }

// The smallest table of the PRM that holds so many: 8 entries and up, by doubling.
uint32_t GidTableCode(size_t gids) {
  uint32_t code = 0;
  while ((8u << code) < gids) ++code;
  return code;
}

// Of the NIC's doorbell pages: two halves of a register are so far apart.
constexpr uint32_t kBlueFlameBytes = 0x200;
constexpr uint32_t kUarPageBytes = 0x1000;

struct Row {
  Field field;
  uint32_t (*value)(State& state);
};

#define RINGPOST_VALUE(expression)                             \
  [](State& state) -> uint32_t {                               \
    [[maybe_unused]] const NicLimits& limits = state.Limits(); \
    return static_cast<uint32_t>(expression);                  \
  }
#define RINGPOST_TRUE [](State&) -> uint32_t { return 1; }

constexpr Row kGeneral[] = {
    {cap::kHasGeneral2, RINGPOST_TRUE},
    {cap::kVhca, RINGPOST_VALUE(state.Function().Config().slot)},
    {cap::kLogMaxSrqSize, RINGPOST_VALUE(Log(limits.srq_depth_wqes))},
    {cap::kLogMaxQpSize, RINGPOST_VALUE(Log(limits.sq_depth_wqebbs))},
    {cap::kIsolate, RINGPOST_TRUE},
    {cap::kLogMaxQp, RINGPOST_VALUE(Log(limits.qps))},
    {cap::kLogMaxSrq, RINGPOST_VALUE(Log(limits.srqs))},
    {cap::kLogMaxCqSize, RINGPOST_VALUE(Log(limits.cq_entries))},
    {cap::kLogMaxCq, RINGPOST_VALUE(Log(limits.cqs))},
    {cap::kLogMaxMkey, RINGPOST_VALUE(Log(Protection::kKeys))},
    {cap::kLogMaxEq, RINGPOST_VALUE(Log(state.config.completion_vectors))},
    {cap::kLogMaxRaRequesterDc, RINGPOST_VALUE(Log(limits.rd_atomic))},
    {cap::kLogMaxRaResponderDc, RINGPOST_VALUE(Log(limits.rd_atomic))},
    {cap::kLogMaxRaRequester, RINGPOST_VALUE(Log(limits.rd_atomic))},
    {cap::kLogMaxRaResponder, RINGPOST_VALUE(Log(limits.rd_atomic))},
    {cap::kGidTableSize, RINGPOST_VALUE(GidTableCode(state.config.gids.size()))},
    {cap::kPortType, IsEthernet},
    {cap::kPorts, RINGPOST_TRUE},
    {cap::kLogMaxMessage, RINGPOST_VALUE(Log(limits.message_bytes))},
    {cap::kCqeVersion, RINGPOST_TRUE},
    {cap::kCompactAddressVector, RINGPOST_TRUE},
    {cap::kDct, RINGPOST_TRUE},
    {cap::kRoce, IsEthernet},
    {cap::kAtomic, RINGPOST_TRUE},
    {cap::kCqOverrunIgnore, RINGPOST_TRUE},
    {cap::kCrossChannel, RINGPOST_TRUE},
    {cap::kUd, RINGPOST_TRUE},
    {cap::kUc, RINGPOST_TRUE},
    {cap::kRc, RINGPOST_TRUE},
    {cap::kUar4k, RINGPOST_TRUE},
    {cap::kLogPageSize, RINGPOST_VALUE(Log(kUarPageBytes))},
    {cap::kBlueFlame, RINGPOST_TRUE},
    {cap::kLogBlueFlameSize, RINGPOST_VALUE(Log(kBlueFlameBytes))},
    {cap::kMaxSendWqe, RINGPOST_VALUE(kMaxSendWqeBytes)},
    {cap::kMaxReceiveWqe, RINGPOST_VALUE(limits.receive_wqe_bytes)},
    {cap::kMaxSendWqeDc, RINGPOST_VALUE(kMaxSendWqeBytes)},
    {cap::kLogMaxPd, RINGPOST_VALUE(Log(kMaxPds))},
    {cap::kLogMaxRmp, RINGPOST_VALUE(Log(limits.srqs))},
    {cap::kLogMaxWqSize, RINGPOST_VALUE(Log(limits.srq_depth_wqes))},
};

// A page of memory loses doorbells, so a queue without a record cannot be served.
constexpr Row kGeneral2[] = {{cap2::kRecordFree, [](State&) -> uint32_t { return 0; }}};

// What ConnectX lists, less XRC. Keys of CREATE_MKEY have no on-demand form here.
constexpr Row kOdpRows[] = {
    {odp_cap::kRc, RINGPOST_VALUE(32 | 16 | 8 | 4 | 2 | 1)},
    {odp_cap::kUd, RINGPOST_VALUE(32 | 1)},
    {odp_cap::kDc, RINGPOST_VALUE(32 | 8 | 4 | 2 | 1)},
};

constexpr uint32_t kAllAtomics = 0xf;
constexpr uint32_t kAtomicSizes = 4 | 8;

constexpr Row kAtomicRows[] = {
    {atomic_cap::kEndianness, RINGPOST_TRUE},
    {atomic_cap::kHostEndianness, RINGPOST_TRUE},
    {atomic_cap::kOperations, RINGPOST_VALUE(kAllAtomics)},
    {atomic_cap::kSizes, RINGPOST_VALUE(kAtomicSizes)},
    {atomic_cap::kSizesDc, RINGPOST_VALUE(kAtomicSizes)},
};

constexpr uint32_t kIpv4AndIpv6 = 2 | 4;
constexpr uint32_t kRoceV2 = 4;
constexpr uint32_t kFirstSourcePort = 0xc000;

constexpr Row kRoceRows[] = {
    {roce_cap::kL3Types, RINGPOST_VALUE(IsEthernet(state) * kIpv4AndIpv6)},
    {roce_cap::kVersions, RINGPOST_VALUE(IsEthernet(state) * kRoceV2)},
    {roce_cap::kUdpPort, RINGPOST_VALUE(IsEthernet(state) * wire::kRoceUdpPort)},
    {roce_cap::kMaxSourcePort, RINGPOST_VALUE(IsEthernet(state) * 0xffff)},
    {roce_cap::kMinSourcePort, RINGPOST_VALUE(IsEthernet(state) * kFirstSourcePort)},
    {roce_cap::kAddresses, RINGPOST_VALUE(IsEthernet(state) * state.config.gids.size())},
};

#undef RINGPOST_VALUE
#undef RINGPOST_TRUE

// There is no flow table, and no memory on the device: no size of it, no operation on it.
constexpr struct {
  CapGroup group;
  std::span<const Row> rows;
} kGroups[] = {{CapGroup::kGeneral, kGeneral},   {CapGroup::kOdp, kOdpRows},
               {CapGroup::kAtomic, kAtomicRows}, {CapGroup::kRoce, kRoceRows},
               {CapGroup::kNicFlowTable, {}},    {CapGroup::kDeviceMemory, {}},
               {CapGroup::kGeneral2, kGeneral2}};

}  // namespace

// What may be set and what is set are the same here: nothing is set.
Refusal QueryHcaCap(State& state, Call& call) {
  const uint32_t group = call.in[kOpMod] >> kCapGroupShift;
  for (const auto& known : kGroups) {
    if (static_cast<uint32_t>(known.group) != group) continue;
    for (const Row& row : known.rows) call.out.Put(In(kCapAt, row.field), row.value(state));
    return Refusal::kNone;
  }
  return Refusal::kUnknownCapGroup;
}

}  // namespace ringpost::sim::uverbs::prm

#include "sim/uverbs/prm/qp_attributes.h"

#include <algorithm>
#include <bit>

#include "sim/nic/protection.h"
#include "sim/uverbs/prm/layout/qpc.h"

namespace ringpost::sim::uverbs::prm {
namespace {

// One field of an address path. `link`: 1 InfiniBand, 2 Ethernet, or both.
constexpr uint8_t kIb = 1, kEth = 2, kBoth = 3;

struct PathRow {
  Field field;
  uint8_t links;
  void (*read)(Address& path, uint32_t value);
  uint32_t (*write)(const Address& path);
};

#define RINGPOST_PATH(name, type)                                              \
  [](Address& path, uint32_t value) { path.name = static_cast<type>(value); }, \
      [](const Address& path) { return static_cast<uint32_t>(path.name); }

constexpr PathRow kPathRows[] = {
    {ads::kLid, kIb, RINGPOST_PATH(lid, uint16_t)},
    {ads::kPathBits, kIb, RINGPOST_PATH(path_bits, uint8_t)},
    {ads::kServiceLevel, kIb, RINGPOST_PATH(sl, uint8_t)},
    {ads::kGrh, kIb, RINGPOST_PATH(global, bool)},
    {ads::kTrafficClass, kIb, RINGPOST_PATH(traffic_class, uint8_t)},
    // DSCP and ECN are the traffic class of an IP header.
    {ads::kEthPriority, kEth, RINGPOST_PATH(sl, uint8_t)},
    {ads::kDscpEcn, kEth,
     [](Address& path, uint32_t value) {
       path.traffic_class = static_cast<uint8_t>((value & 0x3f) << 2 | value >> 6);
     },
     [](const Address& path) {
       return static_cast<uint32_t>(path.traffic_class >> 2 | (path.traffic_class & 3) << 6);
     }},
    {ads::kUdpSourcePort, kEth, RINGPOST_PATH(udp_source_port, uint16_t)},
    {ads::kHopLimit, kBoth, RINGPOST_PATH(hop_limit, uint8_t)},
    {ads::kGidIndex, kBoth, RINGPOST_PATH(gid_index, uint8_t)},
    {ads::kFlowLabel, kBoth, RINGPOST_PATH(flow_label, uint32_t)},
};

#undef RINGPOST_PATH

uint8_t BitOf(wire::Link link) { return link == wire::Link::kEthernet ? kEth : kIb; }

Address ReadPath(const uint8_t* path, wire::Link link) {
  Address address;
  for (const PathRow& row : kPathRows) {
    if ((row.links & BitOf(link)) != 0) row.read(address, Get(path, row.field));
  }
  if (link == wire::Link::kEthernet) address.global = true;
  std::copy_n(path + ads::kGid, address.gid.size(), address.gid.begin());
  const uint64_t mac = uint64_t{Get(path, ads::kMacHigh)} << 32 | Get(path, ads::kMacLow);
  for (int i = 0; i < 6; ++i) address.mac[i] = static_cast<uint8_t>(mac >> (40 - 8 * i));
  return address;
}

void WritePath(const Address& address, wire::Link link, uint8_t* path) {
  for (const PathRow& row : kPathRows) {
    if ((row.links & BitOf(link)) != 0) Set(path, row.field, row.write(address));
  }
  std::copy(address.gid.begin(), address.gid.end(), path + ads::kGid);
  uint64_t mac = 0;
  for (const uint8_t byte : address.mac) mac = mac << 8 | byte;
  Set(path, ads::kMacHigh, static_cast<uint32_t>(mac >> 32));
  Set(path, ads::kMacLow, static_cast<uint32_t>(mac));
}

// One field of a QP that is an attribute, and the bit of opt_param_mask that makes it count.
struct Row {
  Field field;
  uint32_t attribute;
  uint32_t option;  // 0: it is never optional
  void (*read)(QpAttributes& to, uint32_t value);
  uint32_t (*write)(const QpAttributes& from);
};

#define RINGPOST_PLAIN(name, type)                                              \
  [](QpAttributes& to, uint32_t value) { to.name = static_cast<type>(value); }, \
      [](const QpAttributes& from) { return static_cast<uint32_t>(from.name); }
#define RINGPOST_LOG(name)                                                                      \
  [](QpAttributes& to, uint32_t value) { to.name = static_cast<uint8_t>(1u << value); },        \
      [](const QpAttributes& from) {                                                            \
        return from.name == 0 ? 0                                                               \
                              : static_cast<uint32_t>(std::bit_width(uint32_t{from.name}) - 1); \
      }
#define RINGPOST_RIGHT(right)                                                                  \
  [](QpAttributes& to, uint32_t value) {                                                       \
    to.access = static_cast<uint8_t>(value != 0 ? to.access | (right) : to.access & ~(right)); \
  },                                                                                           \
      [](const QpAttributes& from) { return (from.access & (right)) != 0 ? 1u : 0u; }

// The verbs and the context count the states of path migration from different ends.
constexpr uint32_t kMigrated = 3;

constexpr Row kRows[] = {
    {In(qpc::kPrimaryPath, ads::kPkeyIndex), kAttrPkeyIndex, qpc::kOptPkeyIndex,
     RINGPOST_PLAIN(pkey_index, uint16_t)},
    {In(qpc::kPrimaryPath, ads::kPort), kAttrPort, qpc::kOptPort, RINGPOST_PLAIN(port, uint8_t)},
    {In(qpc::kPrimaryPath, ads::kAckTimeout), kAttrTimeout, qpc::kOptAckTimeout,
     RINGPOST_PLAIN(timeout, uint8_t)},
    {qpc::kMtu, kAttrPathMtu, 0,
     [](QpAttributes& to, uint32_t code) { to.path_mtu = MtuBytes(code); },
     [](const QpAttributes& from) { return MtuCode(from.path_mtu); }},
    {qpc::kRetryCount, kAttrRetryCount, qpc::kOptRetryCount, RINGPOST_PLAIN(retry_count, uint8_t)},
    {qpc::kRnrRetry, kAttrRnrRetry, qpc::kOptRnrRetry, RINGPOST_PLAIN(rnr_retry, uint8_t)},
    {qpc::kLogSraMax, kAttrMaxRdAtomic, qpc::kOptSraMax, RINGPOST_LOG(max_rd_atomic)},
    {qpc::kLogRraMax, kAttrMaxDestRdAtomic, qpc::kOptRraMax, RINGPOST_LOG(max_dest_rd_atomic)},
    {qpc::kMinRnrNak, kAttrMinRnrTimer, qpc::kOptRnrTimeout,
     RINGPOST_PLAIN(min_rnr_timer, uint8_t)},
    {qpc::kNextSendPsn, kAttrSendPsn, 0, RINGPOST_PLAIN(send_psn, uint32_t)},
    {qpc::kNextReceivePsn, kAttrReceivePsn, 0, RINGPOST_PLAIN(receive_psn, uint32_t)},
    {qpc::kRemoteQpn, kAttrDestQpn, 0, RINGPOST_PLAIN(dest_qpn, uint32_t)},
    {qpc::kQkey, kAttrQkey, qpc::kOptQkey, RINGPOST_PLAIN(qkey, uint32_t)},
    {qpc::kRemoteRead, kAttrAccess, qpc::kOptRemoteRead, RINGPOST_RIGHT(kMayReadRemotely)},
    {qpc::kRemoteWrite, kAttrAccess, qpc::kOptRemoteWrite, RINGPOST_RIGHT(kMayWriteRemotely)},
    {qpc::kRemoteAtomic, kAttrAccess, qpc::kOptRemoteAtomic, RINGPOST_RIGHT(kMayUseAtomics)},
    {qpc::kPathMigration, kAttrPathMigration, qpc::kOptPathMigration,
     [](QpAttributes& to, uint32_t value) {
       to.path_migration = static_cast<uint8_t>(value == kMigrated ? 0 : 2 - value);
     },
     [](const QpAttributes& from) {
       return from.path_migration == 0 ? kMigrated : 2u - from.path_migration;
     }},
};

#undef RINGPOST_PLAIN
#undef RINGPOST_LOG
#undef RINGPOST_RIGHT

}  // namespace

uint32_t MtuBytes(uint32_t code) { return code >= 1 && code <= 5 ? 128u << code : 0; }
uint32_t MtuCode(uint32_t bytes) {
  return bytes == 0 ? 0 : static_cast<uint32_t>(std::bit_width(bytes)) - 8;
}

void ReadAttributes(const uint8_t* context, wire::Link link, QpAttributes* attributes) {
  for (const Row& row : kRows) row.read(*attributes, Get(context, row.field));
  attributes->address = ReadPath(context + qpc::kPrimaryPath, link);
  attributes->alternate_address = ReadPath(context + qpc::kSecondaryPath, link);
}

void WriteAttributes(const QpAttributes& attributes, wire::Link link, uint8_t* context) {
  Set(context, qpc::kState, static_cast<uint32_t>(attributes.state));
  for (const Row& row : kRows) Set(context, row.field, row.write(attributes));
  WritePath(attributes.address, link, context + qpc::kPrimaryPath);
  WritePath(attributes.alternate_address, link, context + qpc::kSecondaryPath);
}

uint32_t AttributesOf(uint32_t options) {
  uint32_t attributes = 0;
  for (const Row& row : kRows) {
    if ((options & row.option) != 0) attributes |= row.attribute;
  }
  if ((options & qpc::kOptPrimaryPath) != 0) attributes |= kAttrAddress;
  if ((options & qpc::kOptAlternatePath) != 0) attributes |= kAttrAlternatePath;
  return attributes;
}

}  // namespace ringpost::sim::uverbs::prm

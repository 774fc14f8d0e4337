#include "sim/nic/wqe_parser.h"

#include <cstring>

#include "sim/nic/big_endian.h"

namespace ringpost::sim {
namespace {

constexpr uint8_t kBadWqeVendor = 0x68;
constexpr uint32_t kExtendedAddress = 0x80000000;
constexpr uint32_t kZeroMeans = 0x80000000;  // a ConnectX takes byte_count 0 for 2^31

constexpr uint8_t On(QpType type) { return static_cast<uint8_t>(1 << static_cast<int>(type)); }
constexpr uint8_t kReliable = On(QpType::kRc) | On(QpType::kDci);
constexpr uint8_t kConnected = kReliable | On(QpType::kUc);
constexpr uint8_t kAll = kConnected | On(QpType::kUd);

enum Shape : uint8_t { kHasRemote = 1, kHasData = 2, kHasAtomic = 4, kAllowsInline = 8 };

struct Rule {
  uint8_t types = 0;  // of QPs that know it
  uint8_t shape = 0;
  uint8_t traits = 0;
};

Rule RuleOf(abi::Opcode opcode) {
  using enum abi::Opcode;
  switch (opcode) {
    case kRdmaWrite:
    case kRdmaWriteImm:
      return {kConnected, kHasRemote | kHasData | kAllowsInline, 0};
    case kSend:
    case kSendImm:
      return {kAll, kHasData | kAllowsInline, 0};
    case kSendInvalidate:
      return {kReliable, kHasData | kAllowsInline, 0};
    case kRdmaRead:
      return {kReliable, kHasRemote | kHasData, kWqeAnswered};
    case kAtomicCompareSwap:
    case kAtomicFetchAdd:
    case kAtomicMaskedCompareSwap:
    case kAtomicMaskedFetchAdd:
      return {kReliable, kHasRemote | kHasData | kHasAtomic, kWqeAnswered | kWqeAtomic};
    case kNop:
      return {kAll, 0, kWqeLocal};
    case kWait:
      return {kAll, 0, kWqeLocal};
    case kDump:
      return {kAll, kHasData, kWqeLocal};
    default:
      return {};
  }
}

bool Bad(SendWqe& wqe) {
  wqe.Fail(abi::Syndrome::kLocalQpOperation, kBadWqeVendor);
  return false;
}

// An address vector: 16 bytes, or 48 if it says so.
bool ParseTarget(const uint8_t* at, uint32_t room, const WqeRules& rules, SendTarget* target,
                 uint32_t* segments) {
  const bool datagram = rules.type == QpType::kUd;
  if (room < 1) return false;
  const uint32_t number = Big32(at + 8);
  *segments = (number & kExtendedAddress) != 0 ? 3 : 1;
  if (room < *segments) return false;
  target->qpn = number & 0xffffff;
  target->qkey = datagram ? Big32(at) : 0;
  target->dc_key = datagram ? 0 : Big64(at);
  Address& to = target->address;
  to = {};
  to.sl = at[12] & 0xf;
  to.path_bits = at[13] & 0x7f;
  to.lid = Big16(at + 14);
  to.udp_source_port = to.lid;
  if (*segments == 1) return true;
  std::memcpy(to.mac.data(), at + 20, to.mac.size());
  to.traffic_class = at[26];
  to.hop_limit = at[27];
  const uint32_t route = Big32(at + 28);
  to.global = rules.routed || (route & (1u << 30)) != 0;
  to.gid_index = static_cast<uint8_t>(route >> 20);
  to.flow_label = route & 0xfffff;
  if (to.global) std::memcpy(to.gid.data(), at + 32, to.gid.size());
  return true;
}

// The operands of masked operations in 8 bytes with two operands more stay in the ring.
bool ParseAtomic(const uint8_t* at, uint8_t opmod, uint32_t room, SendWqe& wqe, uint32_t* taken) {
  const bool masked = wqe.opcode == abi::Opcode::kAtomicMaskedCompareSwap ||
                      wqe.opcode == abi::Opcode::kAtomicMaskedFetchAdd;
  const bool four = opmod == 0x08;
  if (masked ? !four && opmod != 0x09 : opmod != 0) return false;
  wqe.atomic_bytes = masked && four ? 4 : 8;
  *taken = wqe.opcode == abi::Opcode::kAtomicMaskedCompareSwap && !four ? 2 : 1;
  if (room < *taken) return false;
  if (wqe.atomic_bytes == 8) {
    wqe.atomic.swap_add = Big64(at);
    wqe.atomic.compare = Big64(at + 8);
  } else {
    std::memcpy(wqe.payload, at, 16);
  }
  return true;
}

bool TooLong(SendWqe& wqe) {
  wqe.Fail(abi::Syndrome::kLocalLength, 0);
  return false;
}

bool ParseData(const uint8_t* bytes, const WqeRules& rules, uint8_t shape, SendWqe& wqe) {
  const uint32_t at = wqe.data_segment;
  const uint32_t longest = rules.type == QpType::kUd ? rules.mtu : rules.message_bytes;
  if (at == wqe.segments) return (shape & kHasAtomic) != 0 ? Bad(wqe) : true;
  const uint8_t* data = bytes + at * abi::kSegmentBytes;
  const uint32_t count = Big32(data);
  if ((count & abi::kInlineFlag) != 0) {
    wqe.bytes = count & ~abi::kInlineFlag;
    if ((shape & kAllowsInline) == 0) return Bad(wqe);
    const uint32_t room = (wqe.segments - at) * abi::kSegmentBytes - abi::kInlineHeaderBytes;
    if (wqe.bytes > room) return Bad(wqe);
    if (wqe.bytes > longest) return TooLong(wqe);
    wqe.traits |= kWqeInline;
    if (wqe.bytes <= kShortInlineBytes) {
      std::memcpy(wqe.payload, data + abi::kInlineHeaderBytes, wqe.bytes);
    }
    return true;
  }
  uint64_t total = 0;
  for (uint32_t i = at; i < wqe.segments; ++i) {
    const uint32_t sge = Big32(bytes + i * abi::kSegmentBytes);
    if ((sge & abi::kInlineFlag) != 0) return Bad(wqe);
    total += sge == 0 && rules.behaviour == Behaviour::kMlx5 ? kZeroMeans : sge;
  }
  if (total > longest) return TooLong(wqe);
  wqe.bytes = static_cast<uint32_t>(total);
  if (wqe.segments - at > 1) {
    wqe.traits |= kWqeManySges;
  } else {
    wqe.local_key = Big32(data + 4);
    wqe.local_address = Big64(data + 8);
  }
  if ((shape & kHasAtomic) != 0 && wqe.bytes != wqe.atomic_bytes) return Bad(wqe);
  return true;
}

}  // namespace

void ParseWqe(const uint8_t* bytes, const WqeRules& rules, SendWqe& wqe, SendTarget* target) {
  wqe.opcode = static_cast<abi::Opcode>(bytes[3]);
  wqe.flags = bytes[11];
  std::memcpy(&wqe.immediate, bytes + 12, sizeof(wqe.immediate));
  wqe.segments = static_cast<uint8_t>(bytes[7] & 0x3f);
  wqe.bytes = 0;
  wqe.packets = 0;
  wqe.local_address = 0;
  wqe.local_key = 0;
  wqe.atomic_bytes = 0;
  const Rule rule = RuleOf(wqe.opcode);
  wqe.traits = rule.traits;
  const bool waits = wqe.opcode != abi::Opcode::kWait || (rules.waits && wqe.segments >= 2);
  if ((rule.types & On(rules.type)) == 0 || wqe.segments == 0 || !waits) {
    Bad(wqe);
    return;
  }
  uint32_t at = 1;
  const bool addressed = rules.type == QpType::kUd || rules.type == QpType::kDci;
  if (addressed && (rule.traits & kWqeLocal) == 0) {
    uint32_t taken = 0;
    if (!ParseTarget(bytes + 16, wqe.segments - at, rules, target, &taken)) {
      Bad(wqe);
      return;
    }
    at += taken;
  }
  if ((rule.shape & kHasRemote) != 0) {
    if (at >= wqe.segments) return void(Bad(wqe));
    wqe.remote_address = Big64(bytes + at * abi::kSegmentBytes);
    wqe.remote_key = Big32(bytes + at * abi::kSegmentBytes + 8);
    ++at;
  }
  if ((rule.shape & kHasAtomic) != 0) {
    uint32_t taken = 0;
    if (!ParseAtomic(bytes + at * abi::kSegmentBytes, bytes[0], wqe.segments - at, wqe, &taken)) {
      return void(Bad(wqe));
    }
    at += taken;
  }
  wqe.data_segment = static_cast<uint8_t>(at);
  if (wqe.opcode == abi::Opcode::kWait)
    wqe.wait = {Big32(bytes + 28) & 0xffffff, Big32(bytes + 24)};
  if ((rule.shape & kHasData) != 0 && !ParseData(bytes, rules, rule.shape, wqe)) return;
  if ((rule.traits & kWqeLocal) == 0) {
    const uint32_t packets = wqe.bytes <= rules.mtu ? 1 : (wqe.bytes + rules.mtu - 1) / rules.mtu;
    wqe.packets = (rule.traits & kWqeAtomic) != 0 ? 1 : packets;
  }
}

}  // namespace ringpost::sim

// Commands that are about no object.
#include <string_view>

#include "sim/uverbs/prm/commands.h"

namespace ringpost::sim::uverbs::prm {
namespace {

constexpr uint32_t kMellanox = 0x02c9;     // its OUI
constexpr uint32_t kPciMellanox = 0x15b3;  // its number as a maker of PCI devices
constexpr std::string_view kPsid = "RINGPOST00000001";
constexpr uint32_t kIssi = 1;  // the version of this interface

constexpr uint32_t kIpv4 = 1, kIpv6 = 2;
constexpr uint32_t kRoceV2 = 2;

}  // namespace

Refusal QueryAdapter(State&, Call& call) {
  call.out.Put(adapter::kIeeeVendor, kMellanox);
  call.out.Put(adapter::kVsdVendor, kPciMellanox);
  call.out.Copy(adapter::kPsid, {reinterpret_cast<const uint8_t*>(kPsid.data()), kPsid.size()});
  return Refusal::kNone;
}

Refusal QueryIssi(State&, Call& call) {
  call.out.Put(issi::kCurrent, kIssi);
  call.out.Put(issi::kSupported, 1u << kIssi);
  return Refusal::kNone;
}

Refusal QueryRoceAddress(State& state, Call& call) {
  const uint32_t index = call.in[roce_address::kIndex];
  if (call.in[roce_address::kPort] > 1) return Refusal::kPort;
  if (state.config.link != wire::Link::kEthernet || index >= state.config.gids.size()) {
    return Refusal::kNoRoceAddress;
  }
  const wire::Gid& gid = state.config.gids[index];
  const auto put = [&](Field field, uint32_t value) {
    call.out.Put(In(roce_address::kEntryAt, field), value);
  };
  call.out.Copy(roce_address::kEntryAt + roce_address::kGid, gid);
  uint64_t mac = 0;
  for (const uint8_t byte : state.config.mac) mac = mac << 8 | byte;
  put(roce_address::kMacHigh, static_cast<uint32_t>(mac >> 32));
  put(roce_address::kMacLow, static_cast<uint32_t>(mac));
  put(roce_address::kL3Type, wire::IsMapped(gid) ? kIpv4 : kIpv6);
  put(roce_address::kVersion, kRoceV2);
  return Refusal::kNone;
}

Refusal Nop(State&, Call&) { return Refusal::kNone; }

}  // namespace ringpost::sim::uverbs::prm

// state.h: what the firmware keeps: its objects by number, who owns each, and what each uses of
// others. The NIC's own objects are behind them, in sim/nic.
//
// Everything here runs on the NIC's thread. An object that the firmware does not know, but the NIC
// does, was made by the kernel itself, and serves every user.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "sim/service/nic_loop.h"
#include "sim/uverbs/prm/layout/cqc.h"
#include "sim/uverbs/prm/layout/dctc.h"
#include "sim/uverbs/prm/layout/mkc.h"
#include "sim/uverbs/prm/layout/qpc.h"
#include "sim/uverbs/prm/layout/rmpc.h"
#include "sim/uverbs/prm/mailbox.h"
#include "sim/uverbs/prm/refusal.h"
#include "sim/wire/addressing.h"
#include "sim/wire/codec.h"

namespace ringpost::sim::uverbs::prm {

// Where UAR pages come from. Numbers are from 1 on; 0 is none, and so is address 0.
struct UarSource {
  std::function<uint32_t()> allocate;
  std::function<void(uint32_t page)> free;
  std::function<uint64_t(uint32_t page)> address;
};

struct FirmwareConfig {
  wire::Link link = wire::Link::kInfiniband;
  std::vector<wire::Gid> gids;
  wire::MacAddress mac{};
  uint32_t completion_vectors = 1;
  UarSource uars;
};

inline constexpr uint32_t kFirstEqn = 1;
inline constexpr uint32_t kMaxPds = 1 << 24;

struct Umem {
  uint16_t uid = 0;
  uint64_t address = 0;
  uint64_t bytes = 0;
  bool writable = true;  // by the NIC
  uint32_t users = 0;
};

struct UarPage {
  uint16_t uid = 0;
  bool own = false;  // the firmware allocated it
  uint32_t users = 0;
};

// What an object holds on to while it exists; 0 is nothing.
struct Uses {
  uint32_t ring = 0;    // umem
  uint32_t record = 0;  // umem
  uint32_t uar = 0;
  uint64_t record_address = 0;  // of a record that is in no umem
};

template <uint32_t kBytes>
struct Object {
  uint16_t uid = 0;
  Uses uses;
  std::array<uint8_t, kBytes> context{};  // as software gave it
};

struct Cq : Object<cqc::kBytes> {};
struct Qp : Object<qpc::kBytes> {
  std::array<uint8_t, qpc::kBytes> created{};  // what a reset goes back to
};
struct Dct : Object<dctc::kBytes> {
  bool drained = false;
};
struct Rmp : Object<rmpc::kBytes> {};
struct Mkey : Object<mkc::kBytes> {
  uint32_t key = 0;
};
struct Pd {
  uint16_t uid = 0;
};

struct State {
  State(service::NicLoop& loop, FirmwareConfig settings) : nic(loop), config(std::move(settings)) {}

  service::NicLoop& nic;
  const FirmwareConfig config;
  std::map<uint32_t, Pd> pds;
  std::map<uint32_t, UarPage> uars;
  std::map<uint32_t, Umem> umems;
  std::map<uint32_t, Cq> cqs;
  std::map<uint32_t, Qp> qps;
  std::map<uint32_t, Dct> dcts;
  std::map<uint32_t, Rmp> rmps;
  std::map<uint32_t, Mkey> mkeys;  // by index

  Rnic& Function() { return nic.Function(); }
  const NicLimits& Limits() { return nic.Function().Config().limits; }
};

// The kernel may use everything, a user what is his own.
inline bool MayUse(uint16_t owner, uint16_t uid) { return uid == 0 || owner == uid; }

// An object of the firmware's: `none` if there is no such number.
template <class T>
Refusal Find(std::map<uint32_t, T>& objects, uint32_t number, uint16_t uid, Refusal none, T** to) {
  const auto found = objects.find(number);
  if (found == objects.end()) return none;
  *to = &found->second;
  return MayUse(found->second.uid, uid) ? Refusal::kNone : Refusal::kForeign;
}

// Whether an object that a new one names may be used: one of the kernel's always, if it exists.
template <class T>
Refusal CheckReference(const std::map<uint32_t, T>& objects, uint32_t number, uint16_t uid,
                       bool exists, Refusal none) {
  const auto found = objects.find(number);
  if (found != objects.end() && !MayUse(found->second.uid, uid)) return Refusal::kForeign;
  return exists ? Refusal::kNone : none;
}

// references.cc
Refusal CheckPd(State& state, uint32_t pd, uint16_t uid);
Refusal CheckCq(State& state, uint32_t cqn, uint16_t uid);
Refusal CheckRmp(State& state, uint32_t rmpn, uint16_t uid);
// `address` is where the page is polled.
Refusal CheckUar(State& state, uint32_t page, uint16_t uid, uint64_t* address);

// Where a queue is: `bytes` at `offset` of a umem.
struct RingPlace {
  bool valid = false;  // the mailbox names a umem
  uint32_t umem = 0;
  uint64_t offset = 0;
  uint64_t bytes = 0;
  bool written = false;  // by the NIC
};
Refusal PlaceRing(State& state, const RingPlace& place, uint16_t uid, uint64_t* address);

struct RecordPlace {
  bool in_umem = false;
  uint32_t umem = 0;
  uint64_t offset = 0;  // or an address
  uint32_t bytes = 8;
};
Refusal PlaceRecord(State& state, const RecordPlace& place, uint16_t uid, uint64_t* address);
// What an object with these places holds on to.
Uses UsesOf(const RingPlace& ring, const RecordPlace& record, uint32_t uar);

void Take(State& state, const Uses& uses);
void Leave(State& state, const Uses& uses);

}  // namespace ringpost::sim::uverbs::prm

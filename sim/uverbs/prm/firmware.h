// firmware.h: the command interface of the virtual ConnectX: mailboxes in, mailboxes out (PRM
// "Command Interface"), over a software NIC.
//
//   Firmware firmware(loop, config);
//   const uint16_t uid = firmware.Open();
//   const Refusal refusal = firmware.Execute(in, out, uid);   // status and syndrome are in `out`
//   firmware.Close(uid);                                       // and all that is his
//
// All on the NIC's thread. A command is carried out whole or not at all; bytes of `in` can do no
// harm but to the user's own objects. refusal.h has every reason to refuse one.
#pragma once

#include <cstdint>
#include <set>
#include <span>

#include "sim/uverbs/prm/commands.h"
#include "sim/uverbs/prm/state.h"

namespace ringpost::sim::uverbs::prm {

// How many objects of each kind exist.
struct ObjectCounts {
  uint64_t pds = 0, uars = 0, umems = 0, mkeys = 0, cqs = 0, rmps = 0, qps = 0, dcts = 0;
  bool operator==(const ObjectCounts&) const = default;
  uint64_t Total() const { return pds + uars + umems + mkeys + cqs + rmps + qps + dcts; }
};

class Firmware {
 public:
  Firmware(service::NicLoop& nic, FirmwareConfig config) : state_(nic, std::move(config)) {}
  Firmware(const Firmware&) = delete;
  Firmware& operator=(const Firmware&) = delete;
  // Destroys all that is left.
  ~Firmware();

  // A user whose objects are kept apart from others'; 0 if there are as many as there may be.
  uint16_t Open();
  void Close(uint16_t uid);

  // `out` is overwritten. The user is `uid`, whatever the mailbox says.
  Refusal Execute(std::span<const uint8_t> in, std::span<uint8_t> out, uint16_t uid);

  // Memory that queues and keys of its owner may be in. The number is from 1 on; 0: the NIC has no
  // way to that memory.
  uint32_t CreateUmem(const Umem& umem);
  Refusal DestroyUmem(uint32_t umem, uint16_t uid);

  // Whether an object of the firmware's rings at this page.
  bool UsesPage(uint32_t page) const;
  // The event queue of a completion vector; 0 if there is no such vector.
  uint32_t EqnOf(uint32_t vector) const;
  ObjectCounts Count() const;
  // Of one user.
  ObjectCounts Count(uint16_t uid) const;

 private:
  template <class Objects>
  void DestroyAll(const Objects& objects, uint16_t uid, Opcode destroy);

  State state_;
  std::set<uint16_t> users_;
  uint32_t next_umem_ = 1;
};

}  // namespace ringpost::sim::uverbs::prm

// rxe_guest.h: a guest of QEMU (its emulator, no KVM) whose Linux has an RDMA device of rxe, and
// what verbs_peer in there is told to do.
//
// Every Ethernet frame of the guest's eth0 travels as one UDP datagram. Functions throw
// std::runtime_error with what was refused; no wait is longer than the hang guard.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "tests/interop/lossy_wire.h"
#include "tests/sim/service/child_process.h"

namespace ringpost::interop {

// LiveNic's addresses over UDP: LID n is 10.0.0.n.
inline constexpr uint16_t kRxeLid = 1;
inline constexpr uint16_t kOurLid = 99;

// A completion of verbs.
struct WorkCompletion {
  int status = -1;  // of ibv_wc_status
  int opcode = -1;
  uint32_t bytes = 0;
  uint32_t immediate = 0;
};
inline constexpr int kWcSuccess = 0;
inline constexpr int kWcRemoteInvalidRequest = 9;
inline constexpr int kWcRemoteAccessError = 10;

struct Work {
  std::string operation;  // send send_imm write write_imm read fetch_add cas
  uint64_t offset = 0;    // in the guest's memory
  uint64_t bytes = 0;
  uint64_t remote = 0;
  uint32_t rkey = 0;
  uint32_t immediate = 0;
  uint64_t compare_add = 0;
  uint64_t swap = 0;
  uint32_t count = 1;  // so many, each `stride` bytes further on both sides
  uint64_t stride = 0;
};

struct RxeConnection {
  uint32_t our_qpn = 0;
  uint32_t mtu = 1024;
  uint32_t their_psn = 0;  // of the first request that rxe sends
  uint32_t our_psn = 0;
  unsigned timeout = 14;  // codes of the IBA specification
  unsigned rnr_timer = 12;
};

class RxeGuest {
 public:
  // Boots it, with kernel and file system from RINGPOST_GUEST_KERNEL and RINGPOST_GUEST_INITRD. Its
  // console and its frames go to console.log and frames.pcap in RINGPOST_GUEST_LOGS.
  RxeGuest();
  ~RxeGuest();
  // Takes LiveNic::Whereabouts() and gives what LiveNic::Meet() wants.
  std::string Meet(const std::string& nic);
  LossyWire& Wire() { return *wire_; }

  uint64_t Address() const { return address_; }
  uint32_t Rkey() const { return rkey_; }
  uint32_t CreateQp() { return static_cast<uint32_t>(std::stoul(Ask("create"))); }
  void Connect(const RxeConnection& connection);
  void DestroyQp() { Ask("destroy"); }
  void Post(const Work& work);
  void Receive(uint64_t offset, uint64_t bytes);
  WorkCompletion Sent() { return CompletionOf(Ask("sent")); }
  WorkCompletion Received() { return CompletionOf(Ask("received")); }
  void Fill(uint64_t offset, uint64_t bytes, uint32_t seed);
  // "same", or where it differs from the pattern.
  std::string Check(uint64_t offset, uint64_t bytes, uint32_t seed);
  uint64_t Peek(uint64_t offset) { return std::stoull(Ask("peek " + std::to_string(offset))); }
  void Poke(uint64_t offset, uint64_t value);

 private:
  void Boot();
  void AwaitProgram();
  std::string Ask(const std::string& line);
  static WorkCompletion CompletionOf(const std::string& answer);

  int listener_ = -1;
  int frames_ = -1;  // the guest's end of the wire
  int control_ = -1;
  uint16_t control_port_ = 0;
  std::unique_ptr<LossyWire> wire_;
  std::unique_ptr<ChildProcess> machine_;
  uint64_t address_ = 0;
  uint32_t rkey_ = 0;
};

}  // namespace ringpost::interop

// refusal.h: every reason for which the firmware refuses a command: its status (PRM "Command
// Return Status"), its syndrome, and what it means in one line.
//
// Statuses are the manual's. Syndromes of a real firmware are not public, but for the one of a PD
// in use; these are this firmware's own, each with one meaning.
#pragma once

#include <cstdint>

namespace ringpost::sim::uverbs::prm {

enum class Status : uint8_t {
  kOk = 0x00,
  kInternal = 0x01,
  kBadOperation = 0x02,
  kBadParameter = 0x03,
  kBadResource = 0x05,
  kBusy = 0x06,
  kLimit = 0x08,
  kBadResourceState = 0x09,
  kBadIndex = 0x0a,
  kBadQpState = 0x10,
  kBadInputLength = 0x50,
  kBadOutputLength = 0x51,
};

// X(name, status, syndrome, text)
#define RINGPOST_REFUSALS(X)                                                                 \
  X(kNone, kOk, 0, "done")                                                                   \
  X(kInjected, kInternal, 0x520001, "it was told to fail")                                   \
  X(kUnknownOpcode, kBadOperation, 0x520010, "no such command")                              \
  X(kUnknownCapGroup, kBadParameter, 0x520011, "no such group of capabilities")              \
  X(kUnknownOpMod, kBadParameter, 0x520012, "op_mod has no such meaning here")               \
  X(kInputTooShort, kBadInputLength, 0x520013, "the mailbox is shorter than its command")    \
  X(kOutputTooShort, kBadOutputLength, 0x520014, "the answer does not fit its mailbox")      \
  X(kForeign, kBadResource, 0x520020, "the object is another user's")                        \
  X(kNoPd, kBadResource, 0x520021, "no such PD")                                             \
  X(kNoCq, kBadResource, 0x520022, "no such CQ")                                             \
  X(kNoQp, kBadResource, 0x520023, "no such QP")                                             \
  X(kNoDct, kBadResource, 0x520024, "no such DCT")                                           \
  X(kNoRmp, kBadResource, 0x520025, "no such RMP or SRQ")                                    \
  X(kNoMkey, kBadResource, 0x520026, "no such memory key")                                   \
  X(kNoUar, kBadResource, 0x520027, "no such UAR")                                           \
  X(kNoUmem, kBadResource, 0x520028, "no such umem")                                         \
  X(kNoEq, kBadResource, 0x520029, "no such EQ")                                             \
  X(kNoRoceAddress, kBadIndex, 0x52002a, "no such entry of the address table")               \
  X(kPdInUse, kBadResourceState, 0x31b635, "the PD is in use")                               \
  X(kCqInUse, kBadResourceState, 0x520031, "the CQ is in use")                               \
  X(kRmpInUse, kBadResourceState, 0x520032, "the RMP is in use")                             \
  X(kUarInUse, kBusy, 0x520033, "the UAR is in use")                                         \
  X(kUmemInUse, kBusy, 0x520034, "the umem is in use")                                       \
  X(kDctActive, kBadResourceState, 0x520035, "the DCT is to be drained first")               \
  X(kDctDrained, kBadResourceState, 0x520036, "the DCT is drained already")                  \
  X(kTooManyPds, kLimit, 0x520040, "as many PDs exist as there may be")                      \
  X(kTooManyCqs, kLimit, 0x520041, "as many CQs exist as there may be")                      \
  X(kTooManyQps, kLimit, 0x520042, "as many QPs exist as there may be")                      \
  X(kTooManyRmps, kLimit, 0x520043, "as many RMPs exist as there may be")                    \
  X(kTooManyMkeys, kLimit, 0x520044, "as many memory keys exist as there may be")            \
  X(kTooManyUars, kLimit, 0x520045, "as many UARs exist as there may be")                    \
  X(kNeedsUmem, kBadParameter, 0x520050, "a queue of a user is in a umem")                   \
  X(kRingAlignment, kBadParameter, 0x520051, "the ring is not aligned to 64 bytes")          \
  X(kRingOutside, kBadParameter, 0x520052, "the ring does not fit its umem")                 \
  X(kRecordAlignment, kBadParameter, 0x520053, "the record is not aligned to 8 bytes")       \
  X(kRecordOutside, kBadParameter, 0x520054, "the record does not fit its umem")             \
  X(kUmemReadOnly, kBadParameter, 0x520055, "the NIC may not write to this umem")            \
  X(kCqSize, kBadParameter, 0x520060, "more entries than a CQ has")                          \
  X(kCqeSize, kBadParameter, 0x520061, "a CQE has 64 or 128 bytes")                          \
  X(kCqCompression, kBadParameter, 0x520062, "CQEs are not compressed")                      \
  X(kCqResize, kBadParameter, 0x520063, "a CQ keeps its size")                               \
  X(kCqSelect, kBadParameter, 0x520064, "a field that cannot be modified")                   \
  X(kServiceType, kBadParameter, 0x520070, "no such kind of QP")                             \
  X(kSqSize, kBadParameter, 0x520071, "a send queue has no such depth")                      \
  X(kRqSize, kBadParameter, 0x520072, "a receive queue has no such depth or stride")         \
  X(kRqType, kBadParameter, 0x520073, "no such kind of receive queue for this QP")           \
  X(kSendDbrMode, kBadParameter, 0x520074, "a send queue has a doorbell record")             \
  X(kWqSignature, kBadParameter, 0x520075, "WQEs have no signature")                         \
  X(kQpState, kBadQpState, 0x520080, "the QP is not in the state from which this leads")     \
  X(kQpTransition, kBadQpState, 0x520081, "a QP of this kind makes no such transition")      \
  X(kMtu, kBadParameter, 0x520082, "no such path MTU on this port")                          \
  X(kRdAtomic, kBadParameter, 0x520083, "more READs and atomics than the NIC has under way") \
  X(kPort, kBadParameter, 0x520084, "no such port")                                          \
  X(kGidIndex, kBadParameter, 0x520085, "no such GID")                                       \
  X(kQpAttributes, kBadParameter, 0x520086, "the QP does not take these attributes")         \
  X(kRmpType, kBadParameter, 0x520090, "an RMP is a linked list without signatures")         \
  X(kRmpState, kBadParameter, 0x520091, "an RMP is created ready")                           \
  X(kAccessMode, kBadParameter, 0x5200a0, "no such memory key: pages of a umem alone")       \
  X(kMkeyUmr, kBadParameter, 0x5200a1, "a memory key is neither changed nor invalidated")    \
  X(kMkeyRange, kBadParameter, 0x5200a2, "the key covers no memory, or more than its umem")  \
  X(kMkeyOfQp, kBadParameter, 0x5200a3, "a memory key serves every QP of its PD")

enum class Refusal : uint8_t {
#define RINGPOST_NAME(name, status, syndrome, text) name,
  RINGPOST_REFUSALS(RINGPOST_NAME)
#undef RINGPOST_NAME
};

struct RefusalFacts {
  const char* name;
  Status status;
  uint32_t syndrome;
  const char* text;
};

const RefusalFacts& FactsOf(Refusal refusal);
// How many there are.
uint32_t Refusals();

const char* NameOf(Status status);
// What the kernel makes of a status where it cannot hand over the mailbox; 0, or an errno.
int ErrnoOf(Status status);

}  // namespace ringpost::sim::uverbs::prm

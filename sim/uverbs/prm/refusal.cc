#include "sim/uverbs/prm/refusal.h"

#include <cerrno>
#include <iterator>

namespace ringpost::sim::uverbs::prm {
namespace {

constexpr RefusalFacts kFacts[] = {
#define RINGPOST_ROW(name, status, syndrome, text) {#name, Status::status, syndrome, text},
    RINGPOST_REFUSALS(RINGPOST_ROW)
#undef RINGPOST_ROW
};

struct StatusFacts {
  Status status;
  const char* name;
  int error;
};

constexpr StatusFacts kStatuses[] = {
    {Status::kOk, "OK", 0},
    {Status::kInternal, "internal error", EIO},
    {Status::kBadOperation, "bad operation", EINVAL},
    {Status::kBadParameter, "bad parameter", EINVAL},
    {Status::kBadResource, "bad resource", EINVAL},
    {Status::kBusy, "resource busy", EBUSY},
    {Status::kLimit, "limits exceeded", ENOMEM},
    {Status::kBadResourceState, "bad resource state", EINVAL},
    {Status::kBadIndex, "bad index", EINVAL},
    {Status::kBadQpState, "bad QP state", EINVAL},
    {Status::kBadInputLength, "bad input length", EIO},
    {Status::kBadOutputLength, "bad output length", EIO},
};

const StatusFacts& Find(Status status) {
  for (const StatusFacts& facts : kStatuses) {
    if (facts.status == status) return facts;
  }
  return kStatuses[1];
}

}  // namespace

const RefusalFacts& FactsOf(Refusal refusal) { return kFacts[static_cast<uint8_t>(refusal)]; }
uint32_t Refusals() { return static_cast<uint32_t>(std::size(kFacts)); }
const char* NameOf(Status status) { return Find(status).name; }
int ErrnoOf(Status status) { return Find(status).error; }

}  // namespace ringpost::sim::uverbs::prm

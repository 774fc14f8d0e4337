#include "tests/mutation/redundant.h"

#include <algorithm>

namespace ringpost::mutation {
namespace {

// The role of an operation that no ordering policy performs.
constexpr std::string_view kDirect = "direct";

bool Matches(std::string_view pattern, std::string_view text) {
  return pattern.empty() || pattern == text;
}

}  // namespace

bool Redundant::Covers(const PairUnderTest& pair, const Point& point, Mutation change) const {
  const std::string_view called = *point.role == '\0' ? kDirect : std::string_view(point.role);
  return std::find(mutations.begin(), mutations.end(), change) != mutations.end() &&
         Matches(publication, pair.publication) && Matches(ordering, pair.ordering) &&
         Matches(function, FunctionOf(point.caller)) && Matches(role, called);
}

namespace {

using enum Mutation;
constexpr std::string_view kOwnWqe =
    "each holder of the turn rings for its own WQEs alone. On hardware the acquire also makes "
    "records and doorbells of two holders arrive in the order of their turns; in virtual time "
    "stores to one word are ordered by time, so nothing shows it";
constexpr std::string_view kRecordOnly =
    "the fence between record and doorbell orders the same before the doorbell. Before the "
    "record it matters to a QP that enters ERR between the two, with slots of other threads under "
    "the "
    "record: no run meets that moment (per_thread and batched do, and there it is caught)";
constexpr std::string_view kRings =
    "what goes from one who rings to the next is the order of their records and doorbells, and "
    "in virtual time stores to one word are ordered by time; WQEs go by the ready head";
const std::vector<Redundant> kAll = {
    {"",
     "",
     "",
     "Release",
     {kReleaseHalf},
     "only this thread's own stores are released, and its warp's, which a barrier has ordered: "
     "there is nothing to acquire"},
    {"", "", "", "Ring", {kReleaseHalf}, "what others handed over was acquired in TakeTurn"},
    {"",
     "",
     "PollOnce",
     "Acquire",
     {kDrop, kNarrow},
     "a CQE is one message: who has read its tail reads no older error half"},
    {"ordered_handoff",
     "system_fence",
     "Post",
     "Release",
     {kNarrow},
     "the slot is handed to a thread of the same GPU; that one's fences are of system scope"},
    {"ordered_handoff",
     "system_fence",
     "Post",
     "TakeTurn",
     {kDrop, kAcquireHalf, kReleaseHalf, kNarrow},
     kRecordOnly},
    {"last_writer",
     "system_fence",
     "Post",
     "Release",
     {kNarrow},
     "the slot is handed to a thread of the same GPU; that one's fences are of system scope"},
    {"last_writer",
     "threadfence",
     "Ring",
     "TakeTurn",
     {kDrop, kAcquireHalf, kReleaseHalf, kNarrow},
     kRecordOnly},
    {"last_writer",
     "system_fence",
     "Ring",
     "TakeTurn",
     {kDrop, kAcquireHalf, kReleaseHalf, kNarrow},
     kRecordOnly},
    {"last_writer",
     "",
     "Ring",
     "Unlock",
     {kDrop, kAcquireHalf, kReleaseHalf, kNarrow, kPlainStore},
     kRings},
    {"last_writer",
     "",
     "",
     kDirect,
     {kPlainStore},
     "two who ring at once matter where the older record is stored last and the QP is in error "
     "before the next ring: no run meets that moment"},
    {"locked", "system_fence", "Post", "TakeTurn", {kNarrow}, kRecordOnly},
    {"locked", "", "Post", "TakeTurn", {kReleaseHalf}, kOwnWqe},
    {"locked", "gpu_release", "Post", "TakeTurn", {kDrop, kNarrow}, kOwnWqe},
    {"locked", "", "Post", "MarkReady", {kRelax, kNarrow, kPlainStore}, kOwnWqe},
    {"cooperative", "", "Publish", "MarkReady", {kRelax, kNarrow, kPlainStore}, kOwnWqe},
    // Release has ordered the warp's own WQEs before this fence.
    {"",
     "",
     "ReserveShared",
     "MarkReady",
     {kRelax, kNarrow, kPlainStore},
     "the QP is in error: its slots are passed on so that nobody waits for them, and no WQE in "
     "them is executed"},
    {"cooperative",
     "",
     "Publish",
     "TakeTurn",
     {kDrop, kAcquireHalf, kReleaseHalf, kNarrow},
     kOwnWqe},
};

}  // namespace

const std::vector<Redundant>& RedundantOperations() { return kAll; }

}  // namespace ringpost::mutation

// library_words.h: the words of a library's lists of operations, in the order of their enums.
#pragma once

#include <iterator>

#include "sim/cost/operation_lists.h"

namespace ringpost::config {

struct LibraryWord {
  const char* name;
  const char* meaning;
};

// Of transport/step.h.
inline constexpr LibraryWord kStepWords[] = {
    {"build", "each WQE: before its bytes are stored"},
    {"built", "each WQE: behind its last store, before what orders it"},
    {"ring", "each doorbell: before the doorbell record"},
    {"rung", "each doorbell: behind it"},
    {"wait", "each queue pair that a wait or a quiet looks at: before the first look"},
    {"poll", "each look at completions; loads alone"},
    {"arrived", "behind the look that saw the completion"},
    {"signalled", "behind the look that saw the word that a peer writes"},
    {"quieted", "when all that a wait or a quiet is for is done"},
};
static_assert(std::size(kStepWords) == kSteps);

// Of sim::OperationKind, and what they cost.
inline constexpr LibraryWord kOperationWords[] = {
    {"load_gpu", "a load that the thread waits for and L2 answers: `gpu.load_gpu`"},
    {"load_local", "a load that L1 answers: `gpu.load_local`"},
    {"store", "a store of a word: `gpu.store_issue`"},
    {"store_release_gpu", "a store that releases at GPU scope: a fence of the kind, and a store"},
    {"atomic_gpu", "a read-modify-write that the thread waits for: `gpu.atomic_gpu`"},
    {"reduction_gpu", "one that it does not wait for: `gpu.store_issue`"},
    {"fence_cta", "`gpu.fence_cta`"},
    {"fence_acq_rel_gpu", "`gpu.fence_acq_rel_gpu`, or the idle one where no store is outstanding"},
    {"fence_acquire", "nothing, as loads before it have returned; L1 is empty behind it"},
    {"fence_sc_gpu", "`gpu.fence_sc_gpu`"},
    {"fence_acq_rel_system", "`gpu.fence_acq_rel_system`"},
    {"fence_sc_system", "`gpu.fence_sc_system`"},
    {"shuffle", "`gpu.shuffle`"},
    {"sync_warp", "`gpu.warp_sync`"},
    {"ring", "the last doorbell once more: `gpu.doorbell_store`, and the NIC gets it"},
};
static_assert(std::size(kOperationWords) == static_cast<size_t>(sim::OperationKind::kRing) + 1);

}  // namespace ringpost::config

// sim_group.h: the collectives of a GPU thread in virtual time: those of its warp, and those of its
// CTA. A base of SimPort.
#pragma once

#include <cstdint>

#include "sim/gpu/gpu.h"

namespace ringpost {

class SimGroup {
 public:
  explicit SimGroup(sim::GpuThread& thread) : member_(thread), cost_(thread.MyGpu().Costs().gpu) {}

  uint32_t Lane() const { return member_.Lane(); }
  uint32_t WarpSize() const { return member_.MyWarp().Size(); }
  // Inline, as Warp::Meet is.
  [[gnu::always_inline]] void SyncWarp() {
    member_.NoteEffect();
    member_.MyWarp().Meet(member_, cost_.warp_sync, true);
  }
  // No operation of a Port: as SyncWarp, but orders no memory. For tests of who relies on that.
  void MeetWarp() {
    member_.NoteEffect();
    member_.MyWarp().Meet(member_, cost_.warp_sync, false);
  }
  [[gnu::always_inline]] uint64_t Shuffle(uint64_t value, uint32_t source) {
    member_.NoteEffect();
    return member_.MyWarp().Exchange(member_, value, source, cost_.shuffle);
  }
  uint32_t Ballot(bool predicate) {
    member_.NoteEffect();
    return member_.MyWarp().Ballot(member_, predicate, cost_.shuffle);
  }

  // No publication has the cost of a CTA's barrier: it is taken for that of a warp.
  uint32_t ThreadInBlock() const { return member_.Place(); }
  uint32_t BlockSize() const { return member_.MyBlock().Size(); }
  void SyncBlock() {
    member_.NoteEffect();
    member_.MyBlock().Meet(member_, cost_.warp_sync, true);
  }
  uint64_t ShareInBlock(uint64_t value, uint32_t source) {
    member_.NoteEffect();
    return member_.MyBlock().Exchange(member_, value, source, cost_.warp_sync);
  }
  bool AnyInBlock(bool vote) {
    member_.NoteEffect();
    return member_.MyBlock().Ballot(member_, vote, cost_.warp_sync) != 0;
  }

 private:
  sim::GpuThread& member_;
  const sim::GpuCosts& cost_;
};

}  // namespace ringpost

// gpu_thread.h: one GPU thread in virtual time: its own clock, its fibre, and how it waits.
//
// A thread runs ahead of the engine: work that nobody else can observe only advances `Local()`.
// It meets the event queue (Sync) where another agent could tell: loads of shared words, atomics.
// A waiting loop parks at Relax on the lines it has loaded since the last one, and wakes on the
// phase that its polling would have had, so parking changes no time. All threads of a machine run
// on one thread of the operating system.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "sim/cost/cost_table.h"
#include "sim/engine/engine.h"
#include "sim/engine/fibre.h"
#include "sim/gpu/looks.h"
#include "sim/memory/memory.h"

namespace ringpost::sim {

class Gpu;
class GpuThread;

// When a waiting loop ends: once `ends(word, a, b)` holds of the 8-byte word it polls.
struct Expectation {
  bool (*ends)(uint64_t word, uint64_t a, uint64_t b) = nullptr;
  uint64_t a = 0;
  uint64_t b = 0;
};

// Threads that meet at collectives: 32 lanes, or fewer in the last warp of a CTA.
class Warp {
 public:
  Warp(Gpu& gpu, uint32_t id, uint32_t sm) : gpu_(gpu), id_(id), sm_(sm) {}

  uint32_t Id() const { return id_; }
  uint32_t Sm() const { return sm_; }
  uint32_t Size() const { return static_cast<uint32_t>(lanes_.size()); }
  // In order of their place.
  void AddLane(GpuThread& lane, AgentId agent);

  // Waits for all lanes; everybody leaves at the time of the last one plus `cost`.
  void Meet(GpuThread& lane, Duration cost, bool synchronises);
  // As Meet, and tells every lane what each has brought.
  uint64_t Exchange(GpuThread& lane, uint64_t value, uint32_t source, Duration cost);
  uint32_t Ballot(GpuThread& lane, bool predicate, Duration cost);
  // A lane has returned from the kernel: the others need no longer wait for it.
  void Leave() {
    --running_;
    if (running_ != 0 && arrived_ == running_) released_ = true;
  }
  bool Released() const { return released_; }
  // Resumes the lanes of a completed meeting. From the engine's context.
  void RunReleased();

 protected:
  Gpu& gpu_;
  uint32_t id_;
  uint32_t sm_;
  bool is_block_ = false;
  uint32_t running_ = 0;
  uint32_t arrived_ = 0;
  bool released_ = false;
  Time latest_;  // of the lanes that have arrived
  Duration cost_;
  bool synchronises_ = false;
  // Two sets, because a lane may bring its next value before others have read the last one.
  uint32_t round_ = 0;
  std::array<std::vector<uint64_t>, 2> values_;
  std::vector<GpuThread*> lanes_;
  std::vector<AgentId> agents_;

 private:
  uint32_t PlaceOf(const GpuThread& lane) const;
  void Synchronise();
};

// All threads of a CTA, as one more group that meets.
class CtaGroup : public Warp {
 public:
  CtaGroup(Gpu& gpu, uint32_t sm) : Warp(gpu, 0, sm) { is_block_ = true; }
  // Resumes them, and the warps in it that they complete thereby.
  void RunReleased();
};

class alignas(64) GpuThread {
 public:
  // `place` is its index in its block.
  GpuThread(Gpu& gpu, Warp& warp, CtaGroup& block, AgentId agent, uint32_t index, uint32_t place);
  GpuThread(const GpuThread&) = delete;
  GpuThread& operator=(const GpuThread&) = delete;

  AgentId Agent() const { return agent_; }
  uint32_t Index() const { return index_; }
  uint32_t Lane() const { return lane_; }
  uint32_t Place() const { return place_; }
  Warp& MyWarp() { return warp_; }
  CtaGroup& MyBlock() { return block_; }
  Gpu& MyGpu() { return gpu_; }
  Time Local() const { return local_; }
  void Spend(Duration duration) { local_ += duration; }
  void MoveTo(Time time) { local_ = time; }

  // Returns when the engine's clock has reached this thread's.
  void Sync();

  // For Relax: a load of a shared word at the present time; anything else of note.
  void NoteLoad(uint64_t address);
  void NoteEffect() { turn_pure_ = false; }
  // What the loop under way waits for in the 8-byte word at `address`: other stores to it then need
  // not wake it. Holds until the next Relax returns.
  void Expect(uint64_t address, const Expectation& expected);
  bool Relax(Time deadline, Duration spin);

  // Whether this thread has weak stores not yet fenced; whether an acquire has emptied L1 since its
  // last local load.
  bool& WeakStoresOutstanding() { return weak_stores_outstanding_; }
  bool& L1Cold() { return l1_cold_; }

  // Its waiting loops may look at so many words and still park. Before it waits.
  void WatchUpTo(uint32_t words) { looks_.GrowTo(words); }

  // For the machine.
  void Launch(Time start, StackSlab& slab);
  void Resume();
  void Yield() { fibre_.Yield(); }
  // Into the host's caches: what a resumption touches of this object, and of the stack.
  void Prefetch() const { __builtin_prefetch(this, 1); }
  void PrefetchStack() const { fibre_.Prefetch(); }
  void OnChange(const Watch& watch, const Message& message, Time time);
  void Cancel();
  bool Done() const { return fibre_.Done(); }
  uint32_t Stack() const { return fibre_.Stack(); }

 private:
  static void Wake(void* self);
  Time Aligned(Time time) const;
  void ScheduleWake(Time time);
  void EndTurn();
  bool MayEnd(const Line* line, const Message& message) const;

  // What each resumption touches comes first: a line.
  Fibre fibre_;
  Time local_;
  Warp& warp_;
  uint32_t lane_;
  bool weak_stores_outstanding_ = false;
  bool l1_cold_ = false;
  bool turn_pure_ = true;  // of the turn of a waiting loop that is under way
  bool parked_ = false;
  Gpu& gpu_;
  CtaGroup& block_;
  AgentId agent_;
  uint32_t index_;
  uint32_t place_;
  uint32_t node_ = 0;
  uint32_t turn_loads_ = 0;
  Time wake_ = Time::Never();
  uint32_t expect_offset_ = 0;
  Time turn_start_;
  Time turn_sample_;
  Duration turn_period_;
  const Line* expect_line_ = nullptr;
  Expectation expected_;
  Looks looks_;  // in this turn
};

// Inline, as each frame between a thread and its switch is one more cold line when it goes on.
[[gnu::always_inline]] inline void Warp::Meet(GpuThread& lane, Duration cost, bool synchronises) {
  cost_ = cost;
  synchronises_ = synchronises;
  latest_ = Later(latest_, lane.Local());
  if (++arrived_ == running_) released_ = true;
  lane.Yield();
}

inline uint32_t Warp::PlaceOf(const GpuThread& lane) const {
  return is_block_ ? lane.Place() : lane.Lane();
}

[[gnu::always_inline]] inline uint64_t Warp::Exchange(GpuThread& lane, uint64_t value,
                                                      uint32_t source, Duration cost) {
  std::vector<uint64_t>& values = values_[round_ % 2];
  values[PlaceOf(lane)] = value;
  Meet(lane, cost, false);
  return values[source < values.size() ? source : source % values.size()];
}

}  // namespace ringpost::sim

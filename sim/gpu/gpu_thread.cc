#include "sim/gpu/gpu_thread.h"

#include <algorithm>
#include <cstring>

#include "sim/engine/check.h"
#include "sim/gpu/gpu.h"

namespace ringpost::sim {

namespace {

// A warp's lanes run one after the other on stacks that have gone cold since: each is asked for
// while those before it run.
constexpr size_t kAhead = 3;

}  // namespace

void Warp::AddLane(GpuThread& lane, AgentId agent) {
  lanes_.push_back(&lane);
  agents_.push_back(agent);
  for (auto& values : values_) values.push_back(0);
  ++running_;
}

void Warp::RunReleased() {
  for (bool cold = true; released_; cold = false) {
    released_ = false;
    arrived_ = 0;
    ++round_;
    if (synchronises_) Synchronise();
    const Time leave = latest_ + cost_;
    latest_ = {};
    for (GpuThread *const *at = lanes_.data(), *const *end = at + lanes_.size(); at != end; ++at) {
      if (cold && end - at > static_cast<std::ptrdiff_t>(kAhead)) {
        if (end - at > static_cast<std::ptrdiff_t>(2 * kAhead)) at[2 * kAhead]->Prefetch();
        at[kAhead]->PrefetchStack();
      }
      GpuThread* lane = *at;
      if (lane->Done()) continue;
      lane->MoveTo(leave);
      lane->Resume();
    }
  }
}

// A group in the memory's sense is a warp.
void Warp::Synchronise() {
  if (!is_block_) return gpu_.Ram().Barrier(agents_, kGroupBit | id_);
  for (size_t i = 0; i < lanes_.size(); i += kLanesPerWarp) {
    gpu_.Ram().Barrier(agents_, kGroupBit | lanes_[i]->MyWarp().Id());
  }
}

void CtaGroup::RunReleased() {
  while (released_) {
    Warp::RunReleased();
    for (size_t i = 0; i < lanes_.size(); i += kLanesPerWarp) lanes_[i]->MyWarp().RunReleased();
  }
}

uint32_t Warp::Ballot(GpuThread& lane, bool predicate, Duration cost) {
  std::vector<uint64_t>& values = values_[round_ % 2];
  values[PlaceOf(lane)] = predicate ? 1 : 0;
  Meet(lane, cost, false);
  uint32_t bits = 0;
  for (size_t i = 0; i < values.size(); ++i) bits |= static_cast<uint32_t>(values[i]) << (i % 32);
  return bits;
}

GpuThread::GpuThread(Gpu& gpu, Warp& warp, CtaGroup& block, AgentId agent, uint32_t index,
                     uint32_t place)
    : warp_(warp),
      lane_(place % kLanesPerWarp),
      gpu_(gpu),
      block_(block),
      agent_(agent),
      index_(index),
      place_(place),
      looks_({nullptr, this, agent, nullptr}) {
  node_ = gpu.Clock().Register(&GpuThread::Wake, this);
}

void GpuThread::Launch(Time start, StackSlab& slab) {
  local_ = start;
  turn_start_ = start;
  fibre_.Start(slab, slab.Take(), this);
  ScheduleWake(start);
}

void GpuThread::Resume() {
  fibre_.Resume();
  if (Done()) gpu_.ThreadEnded(*this);
}

void GpuThread::Wake(void* self) {
  GpuThread& thread = *static_cast<GpuThread*>(self);
  // A newer, earlier wake-up has replaced this one.
  if (thread.Done() || thread.gpu_.Clock().Now() != thread.wake_) return;
  thread.wake_ = Time::Never();
  thread.Resume();
  if (thread.warp_.Released()) thread.warp_.RunReleased();
  if (thread.block_.Released()) thread.block_.RunReleased();
}

void GpuThread::ScheduleWake(Time time) {
  wake_ = time;
  gpu_.Clock().Schedule(time, node_);
}

void GpuThread::Sync() {
  Engine& engine = gpu_.Clock();
  if (!(engine.Now() < local_) || engine.TryAdvance(local_)) return;
  ScheduleWake(local_);
  Yield();
}

void GpuThread::NoteLoad(uint64_t address) {
  if (turn_loads_ == 0) turn_sample_ = gpu_.Clock().Now();
  if (turn_loads_ < looks_.Most()) {
    LinePlace& place = looks_.Place(turn_loads_);
    place = gpu_.Ram().PlaceOf(address);
    looks_.Version(turn_loads_) = place.line->version;
  }
  ++turn_loads_;
}

void GpuThread::Expect(uint64_t address, const Expectation& expected) {
  expect_line_ = gpu_.Ram().PlaceOf(address).line;
  expect_offset_ = static_cast<uint32_t>(address % kLineBytes);
  expected_ = expected;
}

// Whether the loop could end once this message is read.
bool GpuThread::MayEnd(const Line* line, const Message& message) const {
  uint64_t word = 0;
  const uint64_t mask = MaskOf(expect_offset_, sizeof(word));
  if (line != expect_line_ || (message.origin.Mask() & mask) != mask) return true;
  std::memcpy(&word, message.data + expect_offset_, sizeof(word));
  return expected_.ends(word, expected_.a, expected_.b);
}

void GpuThread::EndTurn() {
  expect_line_ = nullptr;
  turn_start_ = local_;
  turn_loads_ = 0;
  turn_pure_ = true;
}

// The first time at or after `time` at which this loop would have loaded, moved back to the start
// of that turn.
Time GpuThread::Aligned(Time time) const {
  const Duration offset = turn_sample_ - turn_start_;
  const Duration behind = time - (local_ + offset);
  if (behind.ps <= 0) return local_;
  const int64_t turns = (behind.ps + turn_period_.ps - 1) / turn_period_.ps;
  return local_ + turn_period_ * turns;
}

bool GpuThread::Relax(Time deadline, Duration spin) {
  local_ += spin;
  Memory& memory = gpu_.Ram();
  if (gpu_.Cancelled() || !(local_ < deadline)) {
    EndTurn();
    return false;
  }
  bool can_park = turn_pure_ && turn_loads_ > 0 && turn_loads_ <= looks_.Most();
  Time change = Time::Never();
  for (uint32_t i = 0; can_park && i < turn_loads_; ++i) {
    const LinePlace& place = looks_.Place(i);
    can_park = place.line->version == looks_.Version(i);
    const auto wakes = [&](const Message& message) { return MayEnd(place.line, message); };
    change = Earlier(change, memory.NextChange(agent_, place, turn_sample_, wakes));
  }
  if (!can_park) {
    EndTurn();
    // A loop that only spends time must let it pass.
    Sync();
    return !gpu_.Cancelled();
  }
  turn_period_ = local_ - turn_start_;
  RINGPOST_CHECK(turn_period_.ps > 0, "a waiting loop must cost time");
  for (uint32_t i = 0; i < turn_loads_; ++i)
    memory.AddWatch(looks_.WatchOf(i), *looks_.Place(i).line);
  const Time parked_at = local_;
  parked_ = true;
  Time wake = change == Time::Never() ? Time::Never() : Aligned(change);
  if (deadline != Time::Never()) wake = Earlier(wake, deadline);
  if (wake != Time::Never()) ScheduleWake(Later(wake, gpu_.Clock().Now()));
  Yield();
  parked_ = false;
  for (uint32_t i = 0; i < turn_loads_; ++i) memory.RemoveWatch(looks_.WatchOf(i));
  local_ = Later(local_, gpu_.Clock().Now());
  gpu_.CountParkedPolls(static_cast<uint64_t>((local_ - parked_at).ps / turn_period_.ps));
  EndTurn();
  return !gpu_.Cancelled();
}

void GpuThread::OnChange(const Watch& watch, const Message& message, Time time) {
  if (!parked_ || !MayEnd(watch.line, message)) return;
  const Time wake = Aligned(time);
  if (wake < wake_) ScheduleWake(Later(wake, gpu_.Clock().Now()));
}

void GpuThread::Cancel() {
  if (parked_ && !Done()) ScheduleWake(gpu_.Clock().Now());
}

}  // namespace ringpost::sim

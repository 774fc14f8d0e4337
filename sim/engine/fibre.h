// fibre.h: the stacks on which simulated threads run, and the switch between them.
//
// Transport source runs unmodified on these: a stackful fibre may stop anywhere inside it. All
// stacks come from one mapping that takes memory only when touched; tops are coloured so that
// they do not share cache sets, and a canary at the bottom tells of an overflow. Under ASan and
// TSan each switch is announced. One thread of the operating system runs all fibres of an engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/engine/stack_switch.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace ringpost::sim {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr size_t kStackFactor = 4;
#elif defined(__SANITIZE_THREAD__)
inline constexpr size_t kStackFactor = 4;
#else
inline constexpr size_t kStackFactor = 1;
#endif

class StackSlab {
 public:
  using Entry = void (*)(void* argument);

  // Reserves `count` stacks of `bytes` (a multiple of 4096, times kStackFactor) each, for fibres
  // that all run `entry`.
  StackSlab(size_t count, size_t bytes, Entry entry);
  ~StackSlab();
  StackSlab(const StackSlab&) = delete;
  StackSlab& operator=(const StackSlab&) = delete;

  static size_t BytesFor(size_t count, size_t bytes) { return count * bytes * kStackFactor; }

  uint32_t Take();
  void Return(uint32_t index) { free_.push_back(index); }
  char* Top(uint32_t index) const;
  char* Bottom(uint32_t index) const { return base_ + index * bytes_; }
  // Aborts with a clear message when the stack has overflowed.
  void CheckCanary(uint32_t index) const;

 private:
  friend class Fibre;
  Stopped caller_;  // where the fibre that runs goes back to
  Entry entry_;
  size_t bytes_;
  size_t total_;
  char* base_;
  uint32_t next_ = 0;
  std::vector<uint32_t> free_;
};

class Fibre : private Stopped {
 public:
  // Prepares the fibre on stack `index` of `slab`; it starts at the first Resume.
  void Start(StackSlab& slab, uint32_t index, void* argument);
  // Runs the fibre until it yields or ends. Not from inside a fibre.
  void Resume();
  // Back to whoever resumed. Only from inside the fibre.
  void Yield() { SwitchOut(false); }
  bool Done() const { return done_; }
  uint32_t Stack() const { return stack_; }
  // Brings the frames that the next Resume will run on into the host's caches.
  void Prefetch() const {
    const char* frame = static_cast<const char*>(Stopped::Stack());
    for (size_t i = 0; i < kHotStack; i += 64) __builtin_prefetch(frame + i, 1);
  }

 private:
  static void First(Stopped* starter, Stopped* self);
  static constexpr size_t kHotStack = 768;  // what a put of the transport has on the stack
  // With less than this left at a switch, the canary decides whether it was too little.
  static constexpr std::ptrdiff_t kLowStack = 2048;
  void SwitchOut(bool last);

  // With what it derives from, so little that the owner's hottest fields have room beside it.
  StackSlab* slab_ = nullptr;
  uint32_t stack_ = 0;
  bool done_ = false;
#if defined(__SANITIZE_ADDRESS__)
  const void* bottom_ = nullptr;
  size_t size_ = 0;
  void* fake_stack_ = nullptr;
  const void* caller_bottom_ = nullptr;
  size_t caller_size_ = 0;
#endif
#if defined(__SANITIZE_THREAD__)
  void* tsan_fibre_ = nullptr;
  void* tsan_caller_ = nullptr;
#endif
};

// Inline, as each frame between a thread and its switch is one more cold line when it goes on.
inline void Fibre::SwitchOut([[maybe_unused]] bool last) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(last ? nullptr : &fake_stack_, caller_bottom_, caller_size_);
#endif
#if defined(__SANITIZE_THREAD__)
  __tsan_switch_to_fiber(tsan_caller_, 0);
#endif
  Switch(*this, slab_->caller_);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(fake_stack_, &caller_bottom_, &caller_size_);
#endif
}

inline void Fibre::Resume() {
#if defined(__SANITIZE_ADDRESS__)
  void* fake = nullptr;
  __sanitizer_start_switch_fiber(&fake, bottom_, size_);
#endif
#if defined(__SANITIZE_THREAD__)
  tsan_caller_ = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(tsan_fibre_, 0);
#endif
  Switch(slab_->caller_, *this);
  // Looking at the canary would fetch a cold line at each switch; where the stack ends does not.
  const char* end = static_cast<const char*>(Stopped::Stack());
  if (done_ || end < slab_->Bottom(stack_) + kLowStack) [[unlikely]]
    slab_->CheckCanary(stack_);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#endif
#if defined(__SANITIZE_THREAD__)
  if (done_) __tsan_destroy_fiber(tsan_fibre_);
#endif
}

}  // namespace ringpost::sim

// stack_switch.h: leaving one stack for another.
//
// On x86-64 the switch is inline: the compiler saves what it needs later and no more, and each
// place that leaves has a jump of its own, whose target the host's branch predictor learns.
// Elsewhere Boost.Context's, which is a call. Neither keeps the floating-point environment, which
// nobody here changes.
#pragma once

#if defined(__x86_64__) && !defined(RINGPOST_BOOST_SWITCH)
#define RINGPOST_INLINE_SWITCH 1
#else
#define RINGPOST_INLINE_SWITCH 0
#include <boost/context/detail/fcontext.hpp>
#endif

#include <cstddef>

namespace ringpost::sim {

#if RINGPOST_INLINE_SWITCH

// Where something has stopped.
struct Stopped {
  void* stack = nullptr;
  void* code = nullptr;
  void* frame = nullptr;

  void* Stack() const { return stack; }
};

// What runs first on a new stack: told who started it. Never returns.
using FirstFn = void (*)(Stopped* starter, Stopped* self);

// `top` is the end of the stack, a multiple of 16.
template <FirstFn kFirst>
void Prepare(Stopped& fibre, char* top, size_t) {
  // As if it had been called, from nowhere.
  auto* frame = reinterpret_cast<void**>(top) - 1;
  *frame = nullptr;
  fibre.stack = frame;
  fibre.code = reinterpret_cast<void*>(kFirst);
  fibre.frame = nullptr;
}

// Stops here, and goes on where `to` has stopped. The two registers are those of the first two
// arguments of a FirstFn. rbp may be the frame's pointer, so it is kept by hand; what lies below
// the stack's pointer may be in use, so nothing is pushed.
[[gnu::always_inline]] inline void Switch(Stopped& from, Stopped& to) {
  Stopped* left = &from;
  Stopped* entered = &to;
  asm volatile(
      "leaq 1f(%%rip), %%rax\n\t"
      "movq %%rsp, (%0)\n\t"
      "movq %%rax, 8(%0)\n\t"
      "movq %%rbp, 16(%0)\n\t"
      "movq (%1), %%rsp\n\t"
      "movq 16(%1), %%rbp\n\t"
      "jmp *8(%1)\n"
      "1:\n"
      : "+D"(left), "+S"(entered)
      :
      : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0",
        "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
        "xmm12", "xmm13", "xmm14", "xmm15", "st", "st(1)", "st(2)", "st(3)", "st(4)", "st(5)",
        "st(6)", "st(7)", "memory", "cc");
}

#else

struct Stopped {
  boost::context::detail::fcontext_t context = nullptr;

  void* Stack() const { return context; }
};

using FirstFn = void (*)(Stopped* starter, Stopped* self);

namespace stack_switch_detail {

struct Jump {
  Stopped* from;
  Stopped* to;
};

inline Jump Arrive(boost::context::detail::transfer_t transfer) {
  const Jump jump = *static_cast<Jump*>(transfer.data);
  jump.from->context = transfer.fctx;
  return jump;
}

template <FirstFn kFirst>
void Enter(boost::context::detail::transfer_t transfer) {
  const Jump jump = Arrive(transfer);
  kFirst(jump.from, jump.to);
}

}  // namespace stack_switch_detail

template <FirstFn kFirst>
void Prepare(Stopped& fibre, char* top, size_t size) {
  fibre.context =
      boost::context::detail::make_fcontext(top, size, &stack_switch_detail::Enter<kFirst>);
}

inline void Switch(Stopped& from, Stopped& to) {
  stack_switch_detail::Jump jump{&from, &to};
  stack_switch_detail::Arrive(boost::context::detail::jump_fcontext(to.context, &jump));
}

#endif

}  // namespace ringpost::sim

// cuda_qualifiers.cuh: order, scope and size of an access as the qualifiers of its instruction.
//
// A combination without an instruction of its own (an acquiring store, a sequentially consistent
// access) does not compile. The instructions themselves stand in cuda_port.cuh, for which this is.
#pragma once

#include "transport/order.h"

// Order and scope stand in a mnemonic, so these pick its text at compile time. EMIT is a macro of
// one instruction; it is given the qualifiers (".relaxed.gpu"), a type and a register constraint.
#define RINGPOST_BY_SCOPE(EMIT, ORDER, ...)                        \
  if constexpr (S == Scope::kCta) {                                \
    EMIT(ORDER ".cta", __VA_ARGS__);                               \
  } else if constexpr (S == Scope::kGpu) {                         \
    EMIT(ORDER ".gpu", __VA_ARGS__);                               \
  } else {                                                         \
    static_assert(S == Scope::kSystem, "no atomic of that scope"); \
    EMIT(ORDER ".sys", __VA_ARGS__);                               \
  }
#define RINGPOST_BY_ORDER(EMIT, ...)                           \
  if constexpr (O == Order::kRelaxed) {                        \
    RINGPOST_BY_SCOPE(EMIT, ".relaxed", __VA_ARGS__)           \
  } else if constexpr (O == Order::kAcquire) {                 \
    RINGPOST_BY_SCOPE(EMIT, ".acquire", __VA_ARGS__)           \
  } else if constexpr (O == Order::kRelease) {                 \
    RINGPOST_BY_SCOPE(EMIT, ".release", __VA_ARGS__)           \
  } else {                                                     \
    static_assert(O == Order::kAcqRel, "use a fence instead"); \
    RINGPOST_BY_SCOPE(EMIT, ".acq_rel", __VA_ARGS__)           \
  }
#define RINGPOST_BY_SIZE(EMIT, TYPE)                          \
  if constexpr (sizeof(T) == 8) {                             \
    RINGPOST_BY_ORDER(EMIT, TYPE "64", "l")                   \
  } else {                                                    \
    static_assert(sizeof(T) == 4, "a word has 4 or 8 bytes"); \
    RINGPOST_BY_ORDER(EMIT, TYPE "32", "r")                   \
  }

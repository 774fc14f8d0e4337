// cuda_words.cuh: the shared words of CudaPort: order and scope become PTX qualifiers.
//
// Words are in global memory of this GPU, of another one, or in host memory mapped for the device.
// A combination without an instruction of its own (an acquiring store, a sequentially consistent
// access) does not compile. This file and cuda_port.cuh hold all PTX of this project.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <type_traits>

#include "transport/port.h"

// The transport is __host__ __device__, so each operation needs a host body too: it ends there.
#if defined(__CUDA_ARCH__)
#define RINGPOST_PTX(...) asm volatile(__VA_ARGS__)
#define RINGPOST_UNROLL _Pragma("unroll")
#else
#define RINGPOST_PTX(...) std::abort()
#define RINGPOST_UNROLL
#endif

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

#define RINGPOST_LOAD(QUALIFIERS, TYPE, C) \
  RINGPOST_PTX("ld" QUALIFIERS ".global" TYPE " %0, [%1];" : "=" C(out) : "l"(at) : "memory")
#define RINGPOST_STORE(QUALIFIERS, TYPE, C) \
  RINGPOST_PTX("st" QUALIFIERS ".global" TYPE " [%0], %1;" ::"l"(at), C(value) : "memory")
#define RINGPOST_RED(QUALIFIERS, TYPE, C) \
  RINGPOST_PTX("red" QUALIFIERS ".global" TYPE " [%0], %1;" ::"l"(at), C(value) : "memory")
#define RINGPOST_ATOM(QUALIFIERS, TYPE, C)                       \
  RINGPOST_PTX("atom" QUALIFIERS ".global" TYPE " %0, [%1], %2;" \
               : "=" C(out)                                      \
               : "l"(at), C(value)                               \
               : "memory")
#define RINGPOST_CAS(QUALIFIERS, TYPE, C)                                \
  RINGPOST_PTX("atom" QUALIFIERS ".global.cas" TYPE " %0, [%1], %2, %3;" \
               : "=" C(out)                                              \
               : "l"(at), C(expected), C(value)                          \
               : "memory")
#define RINGPOST_FENCE(QUALIFIERS, KIND) RINGPOST_PTX(KIND QUALIFIERS ";" ::: "memory")

namespace ringpost {

class CudaWords {
 public:
  template <Order O, Scope S, class T>
  HOST_DEVICE T Load(Ref<T> word) {
    if constexpr (S == Scope::kThread) {
      return *reinterpret_cast<const T*>(word.address);
    } else {
      const uint64_t at = word.address;
      T out = 0;
      RINGPOST_BY_SIZE(RINGPOST_LOAD, ".b")
      return out;
    }
  }

  template <Order O, Scope S, class T>
  HOST_DEVICE void Store(Ref<T> word, std::type_identity_t<T> value) {
    if constexpr (S == Scope::kThread) {
      *reinterpret_cast<T*>(word.address) = value;
    } else {
      const uint64_t at = word.address;
      RINGPOST_BY_SIZE(RINGPOST_STORE, ".b")
    }
  }

  template <Order O, Scope S, class T>
  HOST_DEVICE T FetchAdd(Ref<T> word, std::type_identity_t<T> value) {
    const uint64_t at = word.address;
    T out = 0;
    RINGPOST_BY_SIZE(RINGPOST_ATOM, ".add.u")
    return out;
  }

  template <Order O, Scope S, class T>
  HOST_DEVICE T FetchMax(Ref<T> word, std::type_identity_t<T> value) {
    const uint64_t at = word.address;
    T out = 0;
    RINGPOST_BY_SIZE(RINGPOST_ATOM, ".max.u")
    return out;
  }

  template <Order O, Scope S, class T>
  HOST_DEVICE void RaiseTo(Ref<T> word, std::type_identity_t<T> value) {
    const uint64_t at = word.address;
    RINGPOST_BY_SIZE(RINGPOST_RED, ".max.u")
  }

  template <Order O, Scope S, class T>
  HOST_DEVICE T Exchange(Ref<T> word, std::type_identity_t<T> value) {
    const uint64_t at = word.address;
    T out = 0;
    RINGPOST_BY_SIZE(RINGPOST_ATOM, ".exch.b")
    return out;
  }

  // The word's old value; `value` is stored if that was `expected`.
  template <Order O, Scope S, class T>
  HOST_DEVICE T CompareExchange(Ref<T> word, std::type_identity_t<T> expected,
                                std::type_identity_t<T> value) {
    const uint64_t at = word.address;
    T out = 0;
    RINGPOST_BY_SIZE(RINGPOST_CAS, ".b")
    return out;
  }
};

}  // namespace ringpost

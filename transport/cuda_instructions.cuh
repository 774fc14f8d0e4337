// cuda_instructions.cuh: PTX accesses as macros of their qualifiers, type and register constraint.
// For cuda_port.cuh, whose functions have the operands: `at`, `value`, `out`.
#pragma once

#include "transport/cuda_qualifiers.cuh"
#include "transport/host_device.h"

#define RINGPOST_LOAD(QUALIFIERS, TYPE, C) \
  RINGPOST_PTX("ld" QUALIFIERS ".global" TYPE " %0, [%1];" : "=" C(out) : "l"(at) : "memory")
#define RINGPOST_STORE(QUALIFIERS, TYPE, C) \
  RINGPOST_PTX("st" QUALIFIERS ".global" TYPE " [%0], %1;" ::"l"(at), C(value) : "memory")
#define RINGPOST_STORE_PAIR(QUALIFIERS)                                       \
  RINGPOST_PTX("{\n.reg .b128 pair;\nmov.b128 pair, {%1, %2};\nst" QUALIFIERS \
               ".global.b128 [%0], pair; }" ::"l"(at),                        \
               "l"(low), "l"(high)                                            \
               : "memory")
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
#define RINGPOST_UPDATE(NAME, TYPE)                                \
  template <Order O, Scope S, class T>                             \
  HOST_DEVICE T NAME(Ref<T> word, std::type_identity_t<T> value) { \
    const uint64_t at = word.address;                              \
    T out = 0;                                                     \
    RINGPOST_BY_SIZE(RINGPOST_ATOM, TYPE)                          \
    return out;                                                    \
  }

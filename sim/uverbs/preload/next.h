// next.h: the function of the same name in the library behind this one.
#pragma once

#include <dlfcn.h>

namespace ringpost::sim::uverbs {

template <class Function>
Function* Next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace ringpost::sim::uverbs

// The real NAME, looked up once: RINGPOST_NEXT(int(const char*), access)(path).
#define RINGPOST_NEXT(TYPE, NAME)                                        \
  ([]() -> std::add_pointer_t<TYPE> {                                    \
    static const auto next = ::ringpost::sim::uverbs::Next<TYPE>(#NAME); \
    return next;                                                         \
  }())

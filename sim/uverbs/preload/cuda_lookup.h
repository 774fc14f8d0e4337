// cuda_lookup.h: how the preloaded library stands in for functions of CUDA's driver.
//
// Programs find those by cuGetProcAddress, and that by dlsym: CUDA's runtime too, also where it is
// linked statically. So both are stood in for, and answer with the driver's own function otherwise.
// A program that has the driver as a library of its own finds what is exported here first.
#pragma once

#include "sim/uverbs/gpu/cuda_abi.h"

namespace ringpost::sim::uverbs::preload {

// The preloaded library defines both. Whether it stands in for anything.
__attribute__((visibility("hidden"))) bool StandsIn();
// What it has in place of the function of that name, the two of the look-up aside; null: nothing.
__attribute__((visibility("hidden"))) void* StandInFor(const char* name);

}  // namespace ringpost::sim::uverbs::preload

// The driver's own function; null if the program has not loaded the driver. Exported, for a
// library that is preloaded besides.
extern "C" void* ringpost_address_in_driver(const char* name);

namespace ringpost::sim::uverbs::preload {

template <class Function>
Function* OfDriver(const char* name) {
  return reinterpret_cast<Function*>(ringpost_address_in_driver(name));
}

}  // namespace ringpost::sim::uverbs::preload

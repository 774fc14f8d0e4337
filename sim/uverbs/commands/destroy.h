// destroy.h: the end of each kind of object, by a program's call or with its file.
//
// 0, or an errno: EINVAL where there is no such handle, EBUSY where others use the object. With the
// context's mutex held, or no other user of it left. Null answers are not wanted.
#pragma once

#include <cstdint>

#include "sim/uverbs/context.h"

namespace ringpost::sim::uverbs {

int DestroyPd(Context& context, uint32_t handle);
int DestroyMr(Context& context, uint32_t handle);
int DestroyAh(Context& context, uint32_t handle);
int DestroyUar(Context& context, uint32_t handle);
// How many events the program has read of the object: it waits until it has acknowledged as many.
int DestroyCq(Context& context, uint32_t handle, uint32_t* completions, uint32_t* events);
int DestroySrq(Context& context, uint32_t handle, uint32_t* events);
int DestroyQp(Context& context, uint32_t handle, uint32_t* events);

}  // namespace ringpost::sim::uverbs

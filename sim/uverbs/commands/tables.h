// tables.h: which command and which method is whose. Each file of this folder has the rows of one
// object, in both forms; dispatch.cc looks them up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sim/uverbs/call.h"
#include "sim/uverbs/context.h"

namespace ringpost::sim::uverbs {

// With the context's mutex held. 0, or an errno.
using CommandHandler = int (*)(Context&, const Command&);
using MethodHandler = int (*)(Context&, const Attributes&);

// A command of write(), or of the ioctl that carries one.
struct CommandRow {
  uint32_t number;
  bool extended;
  const char* name;
  size_t in;   // bytes of its own input; what is behind is the provider's
  size_t out;  // and of its answer
  CommandHandler handler;
};

struct MethodRow {
  uint16_t object;
  uint16_t method;
  const char* name;
  MethodHandler handler;
};

using CommandRows = std::span<const CommandRow>;
using MethodRows = std::span<const MethodRow>;

CommandRows DeviceCommands();
MethodRows DeviceMethods();
CommandRows PdCommands();
MethodRows PdMethods();
CommandRows MrCommands();
MethodRows MrMethods();
CommandRows CqCommands();
MethodRows CqMethods();
CommandRows SrqCommands();
MethodRows SrqMethods();
CommandRows QpCommands();
MethodRows QpMethods();
CommandRows AhCommands();
MethodRows AhMethods();
MethodRows UarMethods();
// The provider's objects 0x1000 (DEVX), 0x1001 (its objects) and 0x1002 (umem).
MethodRows DevxMethods();
// The firmware's command that a method of DevX carries; null if it carries none, or an unknown one.
const char* CarriedCommand(const Attributes& attributes);

}  // namespace ringpost::sim::uverbs

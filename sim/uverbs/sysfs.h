// sysfs.h: the files in which programs look for RDMA devices, written for the virtual ones: below
// a folder of their own, laid out as the machine's own /sys and /dev.
#pragma once

#include <string>

#include "sim/uverbs/settings.h"
#include "transport/result.h"

namespace ringpost::sim::uverbs {

// Writes ROOT/sys, ROOT/dev and ROOT/settings; the folder is there, and empty.
Result<bool> WriteTree(const std::string& root, const Settings& settings);

}  // namespace ringpost::sim::uverbs

// overlay_settings.h: those settings of virtual devices that lie over NIC and wire, as lines of
// words: the pace of a platform, and faults.
#pragma once

#include <sstream>
#include <string>

#include "sim/uverbs/settings.h"

namespace ringpost::sim::uverbs {

std::string OverlayText(const Settings& settings);

// Whether a line that begins so is one of these.
bool IsOverlay(const std::string& key);
// The words behind it; false: they are not what it takes.
bool ReadOverlay(const std::string& key, std::istringstream& words, Settings& settings);

}  // namespace ringpost::sim::uverbs

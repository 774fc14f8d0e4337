// uar_file.h: the name of the memory file that UAR pages of virtual devices are in.
#pragma once

namespace ringpost::sim::uverbs {

inline constexpr const char kUarFile[] = "ringpost_uar";
// As /proc/PID/maps has it.
inline constexpr const char kUarFileInMaps[] = "/memfd:ringpost_uar ";

}  // namespace ringpost::sim::uverbs

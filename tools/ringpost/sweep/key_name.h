// key_name.h: keys of a configuration, as short as they can be told apart.
#pragma once

#include <string>

namespace ringpost::tools {

// The shortest end of the path that no other key of a configuration has: "batch" of
// transport.batch, but "transport.placement", as there is workload.placement too.
std::string ShortName(const std::string& path);

}  // namespace ringpost::tools

// version.h: the version that every output names.
#pragma once

namespace ringpost::tools {

inline constexpr char kVersion[] = "0.1.0";

}  // namespace ringpost::tools

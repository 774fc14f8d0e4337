// doctor_command.h: `ringpost doctor`: what hardware, drivers and permissions are here, and what
// each backend lacks. It reads files alone and changes nothing.
#pragma once

#include <ostream>
#include <string>

namespace ringpost::tools {

struct DoctorArguments {
  std::string backend;  // empty: none must be ready
  std::string root;     // looks below this folder instead of /
};

// 0, or 1 if the backend that was asked for is not ready; throws config::ConfigError for another
// name.
int RunDoctorCommand(const DoctorArguments& arguments, std::ostream& out);

}  // namespace ringpost::tools

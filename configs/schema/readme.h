// readme.h: configs/README.md, made from the tables of keys and of platform parameters.
#pragma once

#include <string>

namespace ringpost::config {

std::string ReadmeText();

}  // namespace ringpost::config

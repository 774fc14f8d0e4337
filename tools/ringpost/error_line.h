// error_line.h: how every complaint of the program reaches the terminal: as one line, whatever the
// input that it quotes has in it.
#pragma once

#include <string>
#include <string_view>

namespace ringpost::tools {

// Control characters as \n, \t, \r or \xNN, so that they neither end the line nor drive a terminal.
// Of UTF-8 also U+0080 to U+009F, which some terminals take for such.
std::string Escaped(std::string_view text);

// Writes the line, escaped, to stderr and ends it.
void PrintError(std::string_view line);

}  // namespace ringpost::tools

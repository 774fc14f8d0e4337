// text_table.h: rows of text in columns, for a terminal.
#pragma once

#include <string>
#include <vector>

namespace ringpost::tools {

using Cells = std::vector<std::string>;

// Every row has as many cells as the first; a column is as wide as its widest cell, up to 40.
std::string Aligned(const std::vector<Cells>& rows);

}  // namespace ringpost::tools

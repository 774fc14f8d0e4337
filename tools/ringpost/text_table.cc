#include "tools/ringpost/text_table.h"

#include <fmt/format.h>

#include <algorithm>

namespace ringpost::tools {

std::string Aligned(const std::vector<Cells>& rows) {
  constexpr size_t kWidest = 40;
  std::vector<size_t> widths(rows[0].size(), 0);
  for (const Cells& cells : rows) {
    for (size_t i = 0; i < cells.size(); ++i) {
      widths[i] = std::max(widths[i], std::min(cells[i].size(), kWidest));
    }
  }
  std::string text;
  for (const Cells& cells : rows) {
    std::string line;
    for (size_t i = 0; i < cells.size(); ++i) {
      line += fmt::format("{:<{}}  ", cells[i], i + 1 < cells.size() ? widths[i] : 0);
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

}  // namespace ringpost::tools

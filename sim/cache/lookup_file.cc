#include "sim/cache/lookup_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <string_view>

#include "sim/engine/random.h"

namespace ringpost::sim {
namespace {

constexpr std::string_view kFirst = "ringpost-lookups,1";
constexpr std::string_view kColumns = "node,cache,qpn,line,found";
constexpr std::string_view kEnd = "end,";
constexpr const char* kNames[] = {
    "requester_context", "responder_context", "context", "mpt", "mtt", "wqe"};
constexpr const char* kFound[] = {"miss", "second_level_hit", "hit"};
constexpr char kRight[] = "record it again with run --lookups";

constexpr uint32_t kQpnBits = 24;
constexpr uint32_t kMostNodes = 1 << 16;
constexpr uint32_t kMostLines = 1 << 8;

template <size_t kCount>
int PlaceIn(const char* const (&words)[kCount], std::string_view word) {
  const auto found = std::find(std::begin(words), std::end(words), word);
  return found == std::end(words) ? -1 : static_cast<int>(found - std::begin(words));
}

bool ParseWhole(std::string_view text, uint64_t below, uint64_t& number) {
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  return result.ec == std::errc() && result.ptr == text.data() + text.size() && number < below;
}

class Reader {
 public:
  Reader(std::istream& in, const std::string& cache) : in_(in), cache_(cache) {}

  RecordedLookups Read() {
    for (const std::string_view expected : {kFirst, kColumns}) {
      if (!Next() || line_ != expected) {
        Fail(fmt::format("is not '{}'", expected), "name a file that run --lookups has written");
      }
    }
    while (Next() && !line_.starts_with(kEnd)) ReadRow();
    uint64_t count = 0;
    if (!line_.starts_with(kEnd)) {
      Fail(fmt::format("the file ends after {} look-ups without the line 'end,COUNT'", rows_),
           kRight);
    }
    if (!ParseWhole(std::string_view(line_).substr(kEnd.size()), ~0ull, count) || count != rows_) {
      Fail(fmt::format("'{}' stands below {} look-ups", line_, rows_), kRight);
    }
    if (Next()) Fail("stands below the end", kRight);
    if (recorded_.count == 0) {
      Fail(fmt::format("there is no look-up of {} in this file", cache_),
           "record a run of a platform that has this cache");
    }
    return std::move(recorded_);
  }

 private:
  [[noreturn]] void Fail(const std::string& wrong, const std::string& right) {
    throw LookupFileMistake{std::max<uint64_t>(1, number_), wrong, right};
  }

  bool Next() {
    if (!std::getline(in_, line_)) {
      line_.clear();
      return false;
    }
    ++number_;
    if (line_.ends_with('\r')) line_.pop_back();
    return true;
  }

  void ReadRow() {
    std::array<std::string_view, 5> cells;
    std::string_view rest = line_;
    size_t count = 0;
    for (; count < cells.size(); ++count) {
      const size_t comma = rest.find(',');
      cells[count] = rest.substr(0, comma);
      if (comma == std::string_view::npos) break;
      rest.remove_prefix(comma + 1);
    }
    uint64_t node = 0, qpn = 0, line = 0;
    const int cache = PlaceIn(kNames, cells[1]);
    const int found = PlaceIn(kFound, cells[4]);
    if (count != cells.size() - 1 || cache < 0 || found < 0 ||
        !ParseWhole(cells[0], kMostNodes, node) || !ParseWhole(cells[2], 1u << kQpnBits, qpn) ||
        !ParseWhole(cells[3], kMostLines, line)) {
      Fail(fmt::format("'{}' is no look-up", line_),
           "give node,cache,qpn,line,found, such as 0,requester_context,256,0,miss");
    }
    ++rows_;
    if (kNames[cache] != cache_) return;
    const auto key = static_cast<uint32_t>(qpn | line << kQpnBits);
    const auto what = static_cast<Lookup>(found);
    recorded_.nodes[static_cast<uint32_t>(node)][key].push_back(what);
    ++recorded_.count;
    recorded_.hash =
        Mix(recorded_.hash ^ (node << 34 | uint64_t{key} << 2 | static_cast<uint64_t>(found)));
    if (what == Lookup::kSecondLevelHit && recorded_.second_level_line == 0) {
      recorded_.second_level_line = number_;
    }
  }

  std::istream& in_;
  const std::string& cache_;
  std::string line_;
  uint64_t number_ = 0;  // of the line
  uint64_t rows_ = 0;
  RecordedLookups recorded_;
};

}  // namespace

const char* NameOf(CacheName cache) { return kNames[static_cast<size_t>(cache)]; }

void WriteLookups(const std::vector<LookupRow>& rows, std::ostream& out) {
  out << kFirst << "\n" << kColumns << "\n";
  for (const LookupRow& row : rows) {
    out << fmt::format("{},{},{},{},{}\n", row.node, NameOf(row.cache),
                       row.key & ((1u << kQpnBits) - 1), row.key >> kQpnBits,
                       kFound[static_cast<size_t>(row.found)]);
  }
  out << kEnd << rows.size() << "\n";
}

RecordedLookups ReadLookups(std::istream& in, const std::string& cache) {
  return Reader(in, cache).Read();
}

}  // namespace ringpost::sim

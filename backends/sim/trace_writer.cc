#include "backends/sim/trace_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

namespace ringpost {
namespace {

std::string Microseconds(int64_t ps) { return fmt::format("{}.{:06}", ps / 1000000, ps % 1000000); }

// What follows the begin of a slice.
std::string Rest(sim::Duration length, std::string_view name, const TraceSlice& slice) {
  return fmt::format(",\"dur\":{},\"name\":\"{}\",\"args\":{{\"qpn\":{},\"wqe\":{}{}}}",
                     Microseconds(length.ps), name, slice.qpn, slice.wqe, slice.more);
}

}  // namespace

void SortSlices(std::vector<TraceSlice>& slices) {
  std::stable_sort(slices.begin(), slices.end(), [](const TraceSlice& a, const TraceSlice& b) {
    return std::tie(a.begin, b.end) < std::tie(b.begin, a.end);
  });
}

TraceWriter::TraceWriter(std::ostream& out, NameOf name_of)
    : out_(out), name_of_(std::move(name_of)) {
  out_ << "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
}

void TraceWriter::Write(const TraceSlice& slice) {
  const uint32_t process = slice.track.process, track = TrackFor(slice);
  Event('X', process, track, slice.begin, Rest(slice.end - slice.begin, slice.name, slice));
  for (const TraceStage& stage : slice.stages) {
    Event('X', process, track, stage.begin, Rest(stage.end - stage.begin, stage.name, slice));
  }
  for (const TraceFlow& flow : slice.flows) {
    Event(flow.phase, process, track, flow.at,
          fmt::format(",\"id\":{},\"cat\":\"put\",\"name\":\"put\"{}", flow.put,
                      flow.phase == 'f' ? ",\"bp\":\"e\"" : ""));
  }
}

void TraceWriter::End() {
  std::map<uint32_t, bool> named;
  for (const auto& [name, rows] : rows_) {
    if (!named[name.process]) Name("process_name", name.process, 0, name_of_(name.process));
    named[name.process] = true;
    for (size_t i = 0; i < rows.size(); ++i) {
      const std::string which = i == 0 ? "" : fmt::format(" ({})", i + 1);
      Name("thread_name", name.process, rows[i].track, name.name + which);
    }
  }
  out_ << "\n]}\n";
}

// The first track of the name that has nothing then.
uint32_t TraceWriter::TrackFor(const TraceSlice& slice) {
  std::vector<TrackRow>& rows = rows_[slice.track];
  for (TrackRow& row : rows) {
    if (slice.begin < row.until) continue;
    row.until = slice.end;
    return row.track;
  }
  rows.push_back({++tracks_[slice.track.process], slice.end});
  return rows.back().track;
}

void TraceWriter::Event(char phase, uint32_t process, uint32_t track, sim::Time at,
                        const std::string& rest) {
  // Through the stream, which knows when the disk is full.
  out_ << fmt::format("{}{{\"ph\":\"{}\",\"pid\":{},\"tid\":{},\"ts\":{}{}}}", separator_, phase,
                      process, track, Microseconds(at.ps), rest);
  separator_ = ",\n";
}

void TraceWriter::Name(const char* what, uint32_t process, uint32_t track,
                       const std::string& name) {
  Event('M', process, track, sim::Time{},
        fmt::format(",\"name\":\"{}\",\"args\":{{\"name\":\"{}\"}}", what, name));
}

}  // namespace ringpost

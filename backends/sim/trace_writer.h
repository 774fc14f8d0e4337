// trace_writer.h: slices on tracks in the JSON that Perfetto and chrome://tracing open.
//
// Slices of one track nest and do not overlap: where several are under way, there are several
// tracks of the name. Times are in microseconds with six digits: picoseconds.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "sim/engine/time.h"

namespace ringpost {

struct TrackName {
  uint32_t process = 0;  // a group of tracks
  std::string name;
  auto operator<=>(const TrackName&) const = default;
};

// An arrow of a put's way begins ('s'), goes through ('t') or ends ('f') in a slice.
struct TraceFlow {
  char phase;
  uint64_t put;
  sim::Time at;
};

// A part of a slice, drawn below it.
struct TraceStage {
  const char* name;
  sim::Time begin;
  sim::Time end;
};

struct TraceSlice {
  TrackName track;
  std::string name;
  sim::Time begin, end;
  uint32_t qpn = 0;
  uint64_t wqe = 0;
  std::vector<TraceFlow> flows;
  std::span<const TraceStage> stages;  // not owned
  std::string more;                    // arguments besides these two: ,"bytes":8
};

// Those around others come before them.
void SortSlices(std::vector<TraceSlice>& slices);

class TraceWriter {
 public:
  using NameOf = std::function<std::string(uint32_t process)>;

  TraceWriter(std::ostream& out, NameOf name_of);

  // In the order of SortSlices().
  void Write(const TraceSlice& slice);
  // Names the tracks; nothing is written after it.
  void End();

 private:
  struct TrackRow {
    uint32_t track;
    sim::Time until;
  };

  uint32_t TrackFor(const TraceSlice& slice);
  void Event(char phase, uint32_t process, uint32_t track, sim::Time at, const std::string& rest);
  void Name(const char* what, uint32_t process, uint32_t track, const std::string& name);

  std::ostream& out_;
  NameOf name_of_;
  const char* separator_ = "";
  std::map<TrackName, std::vector<TrackRow>> rows_;
  std::map<uint32_t, uint32_t> tracks_;  // of each process
};

}  // namespace ringpost

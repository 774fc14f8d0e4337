// lookup_file.h: every look-up of the context caches of a run with what it found, as a file that
// `ringpost run --lookups` writes and that the model `replay` answers from. Other programs may
// write one: from hardware counters, or from a model of their own.
//
//   ringpost-lookups,1
//   node,cache,qpn,line,found
//   0,requester_context,256,0,miss
//   1,responder_context,256,0,hit
//   end,2
//
// Look-ups stand in the order in which they were made. `cache` is a key of `caches` in a platform
// file; of the others but contexts qpn is the lower 24 bits of the entry, and line what is above.
// `found` is miss, second_level_hit or hit, and the last line says how many there are, so that a
// file that was cut is not taken for a whole one.
#pragma once

#include <cstdint>
#include <istream>
#include <map>
#include <ostream>
#include <string>
#include <unordered_map>
#include <vector>

#include "sim/cache/lookup.h"

namespace ringpost::sim {

enum class CacheName : uint8_t {
  kRequesterContext,
  kResponderContext,
  kContext,  // of both roles
  kMpt,
  kMtt,
  kWqe,
};

// "requester_context": its key in a platform file.
const char* NameOf(CacheName cache);

struct LookupRow {
  uint32_t node = 0;
  uint32_t key = 0;  // a QPN in the lower 24 bits, a line of its context above
  CacheName cache = CacheName::kRequesterContext;
  Lookup found = Lookup::kMiss;
};

void WriteLookups(const std::vector<LookupRow>& rows, std::ostream& out);

// Those of one cache of each node.
struct RecordedLookups {
  // By node and key, in the order of the file.
  std::map<uint32_t, std::unordered_map<uint32_t, std::vector<Lookup>>> nodes;
  uint64_t count = 0;
  uint64_t hash = 0;               // over all that they say, in order
  uint64_t second_level_line = 0;  // of the file: the first hit of a second level; 0: none
};

struct LookupFileMistake {
  uint64_t line = 0;
  std::string wrong;
  std::string right;
};

// Throws LookupFileMistake: for a line that is none, for a file that was cut, and when it has no
// look-up of a cache of this name.
RecordedLookups ReadLookups(std::istream& in, const std::string& cache);

}  // namespace ringpost::sim

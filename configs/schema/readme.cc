#include "configs/schema/readme.h"

#include <fmt/format.h>

#include "configs/schema/library_words.h"
#include "configs/schema/schema.h"
#include "sim/cache/cache_spec.h"
#include "sim/cost/platform.h"

namespace ringpost::config {
namespace {

constexpr char kIntroduction[] = R"(# Configuration files

<!-- Made by `bazel run //configs/schema:write_readme`; edit configs/schema instead. -->

| folder or file | what is in it |
|---|---|
| `quickstart.yaml` | what `ringpost` runs without an argument |
| `experiments/` | one experiment a file: a shape of run that published figures share |
| `sweeps/` | one sweep a file: an experiment and the settings of many points (docs/sweeps.md) |
| `platforms/` | hardware and its costs, one platform a file |
| `libraries/` | choices and operations of production libraries, one a file (docs/libraries.md) |
| `reference/figures.yaml` | published figures, and the run that answers each |

A quantity is `<number> <unit>`, such as `8 B` or `50 us`; a bare number is an error except for
counts. A key that is not set has its default. `--set key=value` replaces the value of
`RINGPOST_SET` (`key=value`, separated by spaces), which replaces that of the file, which replaces
that of its `library`.
`ringpost config FILE` prints every effective value and where it came from. A mistake is one line,
`file:line:column: key: what is wrong; what would be right`, and exit status 2.

## Keys of a run

| key | default | unit or kind | allowed | meaning |
|---|---|---|---|---|
)";

constexpr char kBehaviour[] =
    "\n## What `nic.behaviour` changes\n\n"
    "| what | `mlx5` | `strict` |\n"
    "|---|---|---|\n"
    "| local ACK timeout of code c | twice 4.096 us * 2^c, c at least 16 | 4.096 us * 2^c |\n"
    "| timeouts in a row that end in a retry-exceeded error | the retry count | one more |\n"
    "| send index of a queue pair that goes into error, up to which WQEs are flushed | that of the "
    "doorbell record, stale or not | that of the doorbells too |\n"
    "| byte count 0 in a data segment | 2 GiB | no bytes |\n\n"
    "A limit of `nic.limits` is what the NIC of every rank refuses, as a smaller device would.\n";

constexpr char kRules[] = R"(
## Keys of each item of `faults.rules`

Written as `- {where: responder, kind: delay, at: {qp: 2, wqe: 5}, amount: 50 us}`. All rules that
match apply; each draws by the run's seed.

| where | kinds |
|---|---|
)";

constexpr char kFaults[] =
    "| `responder`, `requester` | `delay` a request there by `amount`; `error`: WQE `at.wqe` (0 if "
    "not set) completes in error, with `syndrome` |\n"
    "| `wire` | `drop` a packet; `delay` it and those of its queue pair behind it; `reorder`: hold "
    "it back alone; `duplicate`: it comes again `amount` later; `corrupt`: its ICRC does not hold, "
    "so its receiver drops it; `link_down`: from this packet on nothing leaves or reaches its "
    "sender's port for `amount` |\n"
    "| `doorbell` | `drop`, `delay`, or `duplicate`: it comes again `amount` later |\n"
    "| `cqe` | `delay`, or `duplicate`: it is written again `amount` later |\n"
    "| `fetch` | `pause`: the NIC reads no WQE of the queue pair for `amount` |\n";

constexpr char kRuleKeys[] = R"(
What is lost on the wire is sent again when a NAK or the ACK timeout says so; that timeout is half a
second of virtual time with `nic.behaviour: mlx5`.

| key | default | unit or kind | allowed | meaning |
|---|---|---|---|---|
)";

constexpr char kLibrary[] = R"(
## A library

A file of `libraries/` has blocks `transport`, `proxy` and `workload` with keys from above, which an
experiment that names it in `library` takes unless it sets them itself; `base`, another library,
from which it starts; and `operations`: for each `transport.publication` or `proxy.handoff` that it
has, and each step of a put, the memory operations that the library does there beside those of the
transport, as `- {op: load_gpu, count: 3, source: "file: function"}`. They are read from `commit` of
`repository`, those of a base come first, and backend `sim` alone does them.

| step | when it comes |
|---|---|
)";

constexpr char kOperations[] = R"(
| operation | what it is, and the parameter of a platform that it costs |
|---|---|
)";

constexpr char kPlatform[] = R"(
## Parameters of a platform

Each is a map with its number, `provenance` and `source`. A time is `value: 369 ns`, or for what a
GPU does `cycles: 120`, `time: 40 ns` or both: the part that scales with the SM clock and the part
that does not. Provenance is `paper`, `datasheet`, `measured`, `fitted` (to the figures that its
source names) or `assumed` (no figure depends on it). Every parameter must be there, or in the
platform that `base` names, which may have one itself. `link_layer` is `infiniband` or `roce`.

| parameter | unit | meaning |
|---|---|---|
)";

constexpr char kSharedEngine[] = R"(
A platform may have a NIC whose directions share one packet engine, and whose roles share one cache
of lines: then it has all of these, and `caches.context`, whose entries are lines. `nic.receive`
does not count then. A context is several lines; all that miss are read together.

| parameter | unit | meaning |
|---|---|---|
)";

constexpr char kCaches[] = R"(
## Caches of a platform

`caches.requester_context` and `caches.responder_context` say which QP contexts a NIC holds on chip
when it sends for a QP, and when it receives for one: a map with a model, each key that the row of
the model names, options that the model has, and no other. An entry is the context of one QP. What
is not there costs `nic.context_miss`. Counts are 1 to 2^24; `ways_count` divides `entries_count`,
which is more than `first_level_entries_count`. `hash` is `modulo` or `mix`, `inclusion` is
`inclusive` or `exclusive`.
What a model finds of one run may be written down, and be what another run finds: `replay`.

| model | meaning |
|---|---|
)";

constexpr char kCacheOptions[] =
    "\n| option | of | default | meaning |\n"
    "|---|---|---|---|\n"
    "| `capacity`, `entry_size` | finite models | - | sizes, instead of `entries_count`: as many "
    "entries as fit |\n"
    "| `prefetched_entries_count` | finite models | 0 | contexts of the next QP numbers that a "
    "miss "
    "brings along |\n"
    "| `outstanding_misses_count` | all but `infinite` | any number | misses under way at a time; "
    "others wait. Each line of a context is one |\n"
    "| `write_back` | finite models | 0 ns | added to a miss that evicts: every use of a context "
    "changes it, so that it is written back |\n"
    "| `blocks` | all but `infinite`; not `caches.context` | `qp` of a requester, `stage` of a "
    "responder | what a miss holds up: its own QP, or all that its role looks up later |\n"
    "| `banks_count`, `bank_service` | `set_associative`, `two_level` | any number | banks among "
    "which the sets are dealt out in turn, and how long one is busy with a look-up; together |\n"
    "\n`caches.mpt` and `caches.mtt` are translations of keys and of pages, of both roles; they "
    "need "
    "not be there, and are then all on chip. Each is a map with a model like the others, or "
    "`{shares: "
    "requester_context}`: part of that cache, of `responder_context` or, where both roles share "
    "one, "
    "of `context`; pages also of `mpt`. `caches.mtt` has the `page_size` of an entry beside, 4 KiB "
    "to "
    "1 GiB, and at least 2 MiB where it shares. An access to memory that a WQE names looks up its "
    "key, and then all of its pages at once; a miss of each costs `nic.context_miss`. It holds up "
    "the "
    "read of the payload at the requester, and at the responder what a miss of the context does.\n"
    "\n`caches.wqe` are the WQEs that the NIC has fetched and not sent, with a model, "
    "`entries_count` "
    "or sizes and no other option; where it is not there none is dropped. One that is dropped is "
    "fetched again when its turn comes, which takes what a read of its queue's memory does.\n"
    "\n`write_back` and `bank_service` are times with `provenance` and `source`, as "
    "`second_level_hit` is.\ndocs/fidelity.md says which experiment would tell each of these "
    "numbers of a device.\n";

std::string Row(const KeyInfo& key) {
  const std::string range = RangeText(key);
  return fmt::format("| `{}` | `{}` | {} | {} | {} |\n", key.path, key.fallback, UnitText(key),
                     range.empty() ? "any" : range, key.meaning);
}

const char* NameOf(sim::Unit unit) {
  switch (unit) {
    case sim::Unit::kTime:
      return "time or cycles";
    case sim::Unit::kMegahertz:
      return "MHz";
    case sim::Unit::kGigabitsPerSecond:
      return "Gb/s or GB/s";
    case sim::Unit::kBytes:
      return "bytes";
    case sim::Unit::kCount:
      return "count";
  }
  return "";
}

}  // namespace

std::string ReadmeText() {
  std::string text = kIntroduction;
  for (const Key<Config>& key : Keys()) text += Row(key.info);
  text += kBehaviour;
  text += kRules;
  text += kFaults;
  text += kRuleKeys;
  for (const Key<FaultRule>& key : RuleKeys()) text += Row(key.info);
  text += kLibrary;
  for (const LibraryWord& word : kStepWords) {
    text += fmt::format("| `{}` | {} |\n", word.name, word.meaning);
  }
  text += kOperations;
  for (const LibraryWord& word : kOperationWords) {
    text += fmt::format("| `{}` | {} |\n", word.name, word.meaning);
  }
  text += kPlatform;
  for (const sim::ParameterInfo& info : sim::Parameters()) {
    text += fmt::format("| `{}` | {} | {} |\n", info.key, NameOf(info.unit), info.meaning);
  }
  text += kSharedEngine;
  for (const sim::ParameterInfo& info : sim::SharedEngineParameters()) {
    text += fmt::format("| `{}` | {} | {} |\n", info.key, NameOf(info.unit), info.meaning);
  }
  text += kCaches;
  for (const sim::CacheModel& model : sim::CacheModels()) {
    text += fmt::format("| `{}` | {} |\n", model.example, model.meaning);
  }
  text += kCacheOptions;
  return text;
}

}  // namespace ringpost::config

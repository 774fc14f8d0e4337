#include "configs/schema/proxy_keys.h"

namespace ringpost::config {

std::vector<Key<Config>> ProxyKeys() {
  return {
      {{.path = "transport.path",
        .type = Type::kWord,
        .fallback = "direct",
        .words = {"direct", "proxy"},
        .meaning = "direct: threads post; proxy: they leave descriptors in rings, one for each "
                   "queue pair, and workers of the host post (docs/proxy.md)"},
       [](Config& c, const Value& v) { c.transport.path = static_cast<TransportPath>(v.word); }},
      {{.path = "proxy.workers",
        .type = Type::kCount,
        .fallback = "1",
        .minimum = 1,
        .maximum = 64,
        .meaning = "threads of each rank's host that post; rings go to them in turn"},
       [](Config& c, const Value& v) { c.proxy.workers = v.count; }},
      {{.path = "proxy.batch",
        .type = Type::kCount,
        .fallback = "1",
        .minimum = 1,
        .maximum = 64,
        .meaning = "operations that a worker posts with one doorbell at most"},
       [](Config& c, const Value& v) { c.proxy.batch = v.count; }},
      {{.path = "proxy.handoff",
        .type = Type::kWord,
        .fallback = "tuned",
        .words = {"baseline", "tuned"},
        .meaning = "baseline: any number of threads a ring; each operation reserves by an atomic, "
                   "reads the worker's progress and releases at system scope; tuned: one thread a "
                   "ring, which knows both, and one store of 16 bytes"},
       [](Config& c, const Value& v) { c.proxy.handoff = static_cast<ProxyHandoff>(v.word); }},
      {{.path = "proxy.blueflame",
        .type = Type::kSwitch,
        .fallback = "false",
        .meaning = "workers ring with the last WQE; one that stands alone is then not fetched. Not "
                   "with backend mlx5"},
       [](Config& c, const Value& v) { c.proxy.blueflame = v.flag; }},
      {{.path = "proxy.counter",
        .type = Type::kWord,
        .fallback = "host",
        .words = {"gpu", "host"},
        .meaning = "memory of the counter by which a worker tells of completions"},
       [](Config& c, const Value& v) { c.proxy.counter = static_cast<Placement>(v.word); }},
      {{.path = "proxy.affinity",
        .type = Type::kText,
        .fallback = "nic_numa",
        .meaning = "cores of the workers in real time: those near the NIC where that is known; "
                   "inherit: any that this process may use; or one each of a list such as 0,2-3"},
       [](Config& c, const Value& v) { c.proxy.affinity = v.text; }},
      {{.path = "host.clock_state",
        .type = Type::kWord,
        .fallback = "warm",
        .words = {"cold", "warm"},
        .meaning = "clock of the simulated cores of workers: at rest, or as of one kept busy"},
       [](Config& c, const Value& v) { c.host.clock_state = static_cast<ClockState>(v.word); }},
  };
}

}  // namespace ringpost::config

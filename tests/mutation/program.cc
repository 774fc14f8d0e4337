#include "tests/mutation/program.h"

#include "tests/mutation/called.h"
#include "tests/mutation/mutant_port.h"
#include "transport/publication/pairs.h"

namespace ringpost::mutation {
namespace {

static_assert(Port<MutantPort<SimPort>>);

// Of four operations two put and signal, one puts, and one gets.
bool Signals(uint64_t i) { return i % 2 == 0; }
bool Gets(uint64_t i) { return i % 4 == 3; }
bool Waits(uint64_t i) { return i % 6 == 5; }

template <class E>
Posted PostOne(E& endpoint, Machine& machine, uint32_t thread, uint64_t i) {
  if (Gets(i)) return endpoint.Get(machine.Result(thread, i), machine.Preset(thread, i));
  const LocalSpan source = machine.Source(thread, i);
  const RemoteSpan target = machine.Inbox(thread, i);
  if (!Signals(i)) return endpoint.Put(target, source);
  return endpoint.PutSignal(target, source, machine.Flag(thread), i + 1);
}

template <class P, class E>
void CheckGets(P& port, E& endpoint, Machine& machine, uint32_t thread, uint64_t until) {
  machine.ExpectOk(endpoint.Quiet(CompletionScope::kSelectedQp), "quiet");
  for (uint64_t i = 0; i <= until; ++i) {
    if (!Gets(i)) continue;
    uint64_t word = 0;
    port.LoadPayload(&word, machine.Result(thread, i).address, sizeof(word));
    machine.ExpectWord(word, thread, i, "get");
  }
}

template <class P, class E>
void Send(P& port, E& endpoint, Machine& machine, uint32_t thread) {
  for (uint64_t i = 0; i < Machine::kOperations; ++i) {
    const uint64_t word = Machine::Word(thread, i);
    port.StorePayload(machine.Source(thread, i).address, &word, sizeof(word));
    machine.ExpectOk(PostOne(endpoint, machine, thread, i).status, "post");
    if (Waits(i)) CheckGets(port, endpoint, machine, thread, i);
  }
}

// Posts until well after the error, so that the QP enters the error state between some record and
// its doorbell; then once more, as the doorbell of a QP in error makes the NIC read its record.
template <class P, class E>
void SendUntilError(P& port, E& endpoint, Machine& machine, uint32_t thread) {
  for (uint64_t i = 0; i < Machine::kOperations; ++i) {
    const uint64_t word = Machine::Word(thread, i);
    // The more of these, the later the next record and doorbell: seeds try other moments.
    for (uint64_t pause = 0; pause <= machine.Plot().seed; ++pause) {
      port.StorePayload(machine.Source(thread, i).address, &word, sizeof(word));
    }
    endpoint.Put(machine.Inbox(thread, i), machine.Source(thread, i));
  }
  for (int i = 0; i < 2; ++i) {
    machine.ExpectError(endpoint.Quiet(CompletionScope::kSelectedQp), machine.QpOfSender(thread));
    endpoint.Put(machine.Inbox(thread, 0), machine.Source(thread, 0));
  }
}

template <class P, class E>
void Receive(P& port, E& endpoint, Machine& machine, uint32_t thread) {
  const Ref<uint64_t> flag{machine.Flag(thread).address};
  for (uint64_t i = 0; i < Machine::kOperations; ++i) {
    if (!Signals(i)) continue;
    machine.ExpectOk(endpoint.WaitSignal(flag, i + 1), "wait for a signal");
    // The signal speaks for the put before it on its QP, too.
    for (uint64_t put = i == 0 ? 0 : i - 1; put <= i; ++put) {
      if (Gets(put)) continue;
      uint64_t word = 0;
      port.LoadPayload(&word, machine.Inbox(thread, put).address, sizeof(word));
      machine.ExpectWord(word, thread, put, "put");
    }
  }
}

template <class Publication, class Ordering>
Verdict RunPair(const Scenario& scenario, Plan& plan) {
  using P = MutantPort<SimPort>;
  using E = Endpoint<P, Publication, Called<Ordering>>;
  Machine machine(scenario);
  sim::LaunchShape shape;
  shape.threads = scenario.threads;
  shape.threads_per_block = scenario.threads_per_block;
  machine.Ram().Launch(0, shape, [&](SimPort& sim_port) {
    P port(sim_port, plan);
    const uint32_t thread = sim_port.ThreadIndex();
    E endpoint(port, machine.Sender(thread));
    if (scenario.fails) {
      SendUntilError(port, endpoint, machine, thread);
    } else {
      Send(port, endpoint, machine, thread);
    }
  });
  if (!scenario.fails) {
    machine.Ram().Launch(1, shape, [&](SimPort& sim_port) {
      P port(sim_port, plan);
      const uint32_t thread = sim_port.ThreadIndex();
      E endpoint(port, machine.Receiver(thread));
      Receive(port, endpoint, machine, thread);
    });
  }
  return machine.Run();
}

}  // namespace

const std::vector<PairUnderTest>& AllPairs() {
  static const std::vector<PairUnderTest> all = [] {
    std::vector<PairUnderTest> pairs;
    ForEachPair([&]<class Publication, class Ordering>() {
      pairs.push_back({Publication::kName, Ordering::kName, Publication::kWarpWide,
                       Publication::kSharesQp, Ordering::kScope, &RunPair<Publication, Ordering>});
    });
    return pairs;
  }();
  return all;
}

std::vector<Scenario> ScenariosOf(const PairUnderTest& pair) {
  Scenario own;
  own.name = "own";
  own.threads = 2;
  own.placement = pair.scope == Scope::kSystem ? Placement::kHost : Placement::kGpu;
  Scenario shared = own;
  shared.name = "shared";
  shared.shared = true;
  shared.threads = 4;
  if (pair.warp_wide) {
    own.threads = 3;
    own.threads_per_block = 3;
    shared.threads = 6;
    shared.threads_per_block = 3;
  }
  std::vector<Scenario> scenarios;
  if (pair.warp_wide || !pair.shares_qp) scenarios.push_back(own);
  if (pair.shares_qp) scenarios.push_back(shared);
  if (pair.OrdersRecord()) {
    Scenario fails = scenarios.front();
    fails.name += ", fails";
    fails.fails = true;
    scenarios.push_back(fails);
  }
  return scenarios;
}

}  // namespace ringpost::mutation

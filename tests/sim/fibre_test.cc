// Fibres: the stacks that simulated threads run on.
#include "sim/engine/fibre.h"

#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <csignal>
#include <cstdio>
#include <deque>
#include <string>

namespace ringpost::sim {
namespace {

constexpr size_t kStackBytes = 16 * 1024;

#if defined(__SANITIZE_THREAD__)
constexpr size_t kMany = 1000;
#else
constexpr size_t kMany = 5000;
#endif

struct Counter {
  Fibre fibre;
  uint64_t turns = 0;
  uint64_t sum = 0;
};

// Its local variables must outlive every switch.
void Count(void* argument) {
  Counter& counter = *static_cast<Counter*>(argument);
  uint64_t local = counter.sum;
  for (uint64_t i = 0; i < counter.turns; ++i) {
    local += i;
    counter.fibre.Yield();
  }
  counter.sum = local;
}

struct Deep {
  Fibre fibre;
  size_t bytes = 0;
};

// Writes to `bytes` of stack below its frame, as deep calls would.
#if defined(__SANITIZE_ADDRESS__)
__attribute__((no_sanitize("address")))
#endif
void UseStack(void* argument) {
  Deep& deep = *static_cast<Deep*>(argument);
  volatile char* top = static_cast<volatile char*>(__builtin_frame_address(0));
  // What it calls itself stays clear of this.
  for (size_t i = 4096; i < deep.bytes; ++i) top[-static_cast<std::ptrdiff_t>(i)] = 1;
  deep.fibre.Yield();
}

void RunDeep(size_t bytes) {
  StackSlab slab(2, kStackBytes, &UseStack);
  Deep deep;
  deep.bytes = bytes;
  slab.Take();
  deep.fibre.Start(slab, slab.Take(), &deep);
  while (!deep.fibre.Done()) deep.fibre.Resume();
}

// What a child that runs `body` writes to stderr, and how it ends.
template <class F>
int StatusOf(F&& body, std::string& output) {
  int ends[2];
  BOOST_REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    std::signal(SIGABRT, SIG_DFL);
    body();
    _exit(0);
  }
  close(ends[1]);
  char buffer[512];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof(buffer))) > 0;) output.append(buffer, n);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

}  // namespace

BOOST_AUTO_TEST_CASE(ThousandsOfFibresInterleaveAndKeepTheirLocals) {
  StackSlab slab(kMany, kStackBytes, &Count);
  std::deque<Counter> counters(kMany);
  for (size_t i = 0; i < kMany; ++i) {
    counters[i].turns = 1 + i % 7;
    counters[i].sum = i;
    counters[i].fibre.Start(slab, slab.Take(), &counters[i]);
  }
  size_t running = kMany;
  while (running > 0) {
    for (Counter& counter : counters) {
      if (counter.fibre.Done()) continue;
      counter.fibre.Resume();
      if (counter.fibre.Done()) --running;
    }
  }
  for (size_t i = 0; i < kMany; ++i) {
    const uint64_t turns = counters[i].turns;
    BOOST_REQUIRE_EQUAL(counters[i].sum, i + turns * (turns - 1) / 2);
  }
}

BOOST_AUTO_TEST_CASE(AReturnedStackIsUsedAgain) {
  StackSlab slab(1, kStackBytes, &Count);
  for (int round = 0; round < 100; ++round) {
    Counter counter;
    counter.turns = 3;
    counter.fibre.Start(slab, slab.Take(), &counter);
    while (!counter.fibre.Done()) counter.fibre.Resume();
    BOOST_REQUIRE_EQUAL(counter.sum, 3u);
    slab.Return(counter.fibre.Stack());
  }
}

BOOST_AUTO_TEST_CASE(AFibreThatStaysWithinItsStackRuns) {
  std::string output;
  BOOST_TEST(StatusOf([] { RunDeep(kStackBytes * kStackFactor - 6000); }, output) == 0);
}

BOOST_AUTO_TEST_CASE(AnOverflowedStackAbortsAndSaysWhatToRaise) {
  std::string output;
  const int status = StatusOf([] { RunDeep(kStackBytes * kStackFactor); }, output);
  BOOST_TEST((WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT));
  BOOST_TEST(output.find("overflowed its stack; raise engine.stack_size") != std::string::npos,
             output);
}

BOOST_AUTO_TEST_CASE(MoreFibresThanStacksAbortInsteadOfSharingOne) {
  std::string output;
  const int status = StatusOf(
      [] {
        StackSlab slab(2, kStackBytes, &Count);
        for (int i = 0; i < 3; ++i) slab.Take();
      },
      output);
  BOOST_TEST((WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT));
  BOOST_TEST(output.find("more fibres than stacks") != std::string::npos, output);
}

}  // namespace ringpost::sim

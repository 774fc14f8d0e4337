#include "sim/service/robust_mutex.h"

#include <sys/mman.h>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <new>

#include "sim/service/process_id.h"
#include "tests/sim/service/child_process.h"

namespace ringpost {
namespace {

using sim::service::ProcessId;
using sim::service::RobustMutex;

constexpr std::chrono::milliseconds kLong{30'000};
constexpr std::chrono::milliseconds kShort{20};

struct SharedMutex {
  void* memory =
      mmap(nullptr, sizeof(RobustMutex), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  RobustMutex& mutex = *new (memory) RobustMutex();

  SharedMutex() { mutex.Initialise(); }
  ~SharedMutex() { munmap(memory, sizeof(RobustMutex)); }
};

BOOST_FIXTURE_TEST_SUITE(RobustMutexTest, SharedMutex)

BOOST_AUTO_TEST_CASE(HolderThatIsKilledBlocksNobody) {
  for (int i = 0; i < 3; ++i) {
    ChildProcess child([&] {
      const auto lock = mutex.Lock(kLong);
      Die();
    });
    BOOST_TEST(child.WasKilled());
    BOOST_TEST(mutex.Lock(kLong).has_value());
  }
}

BOOST_AUTO_TEST_CASE(HolderThatRunsIsWaitedForUntilTheDeadline) {
  const auto lock = mutex.Lock(kLong);
  ChildProcess child([&] { _exit(mutex.Lock(kShort).has_value() ? 1 : 0); });
  BOOST_TEST(child.Succeeded());
}

BOOST_AUTO_TEST_CASE(ProcessRunsUntilItEndsNotUntilItIsReaped) {
  BOOST_TEST(ProcessId::OfThisProcess().IsRunning());
  ChildProcess child([&] { pause(); });
  ProcessId id;
  // The child's identity, as it would state it.
  int ends[2];
  BOOST_REQUIRE(pipe(ends) == 0);
  ChildProcess other([&] {
    const ProcessId self = ProcessId::OfThisProcess();
    const bool written = write(ends[1], &self, sizeof self) == sizeof self;
    if (written) pause();
  });
  BOOST_REQUIRE(read(ends[0], &id, sizeof id) == sizeof id);
  BOOST_TEST(id.IsRunning());
  kill(other.Pid(), SIGKILL);
  siginfo_t info;
  waitid(P_PID, static_cast<id_t>(other.Pid()), &info, WEXITED | WNOWAIT);
  BOOST_TEST(!id.IsRunning());
  BOOST_TEST((!ProcessId{child.Pid(), 1}.IsRunning()));  // its pid, of another time
  close(ends[0]);
  close(ends[1]);
}

BOOST_AUTO_TEST_CASE(ProcessMayEndWhileItIsLookedAt) {
  auto& pid = *new (memory) std::atomic<int32_t>(getpid());
  ChildProcess watcher([&] {
    for (;;) {
      if (ProcessId{pid.load(), 1}.IsRunning()) break;  // nobody started that early
    }
  });
  for (int i = 0; i < 2'000; ++i) {
    ChildProcess child([] {});
    pid.store(child.Pid());
  }
  BOOST_TEST(!watcher.HasEnded());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace ringpost

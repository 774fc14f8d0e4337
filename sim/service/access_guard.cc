#include "sim/service/access_guard.h"

#include <pthread.h>
#include <signal.h>

#include <mutex>

namespace ringpost::sim::service {

constexpr int kSignals[] = {SIGSEGV, SIGBUS};

struct AccessGuardHandler {
  // What was there before, by signal.
  static inline struct sigaction before[2] = {};

  static void Handle(int signal, siginfo_t* info, void* context) {
    AccessGuard::Frame* const frame = AccessGuard::t_frame;
    const auto at = reinterpret_cast<uint64_t>(info->si_addr);
    // A page's first byte stands for an access that begins before it.
    if (frame != nullptr && at >= frame->address && at - frame->address < frame->bytes) {
      siglongjmp(frame->back, 1);
    }
    PassOn(before[signal == SIGBUS ? 1 : 0], signal, info, context);
  }

  static void PassOn(const struct sigaction& to, int signal, siginfo_t* info, void* context) {
    if ((to.sa_flags & SA_SIGINFO) != 0) {
      to.sa_sigaction(signal, info, context);
    } else if (to.sa_handler != SIG_DFL && to.sa_handler != SIG_IGN) {
      to.sa_handler(signal);
    } else {
      // The access is made again, and ends the process as it would have. Sent by somebody, the
      // signal is sent again.
      struct sigaction plain = {};
      plain.sa_handler = SIG_DFL;
      sigaction(signal, &plain, nullptr);
      if (info->si_code <= 0) raise(signal);
    }
  }
};

void AccessGuard::Install() {
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  for (int i = 0; i < 2; ++i) {
    struct sigaction now = {};
    sigaction(kSignals[i], nullptr, &now);
    if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == AccessGuardHandler::Handle)
      continue;
    AccessGuardHandler::before[i] = now;
    struct sigaction ours = {};
    ours.sa_sigaction = AccessGuardHandler::Handle;
    // Not blocked meanwhile, as it may be left by a jump; on the program's own stack for signals,
    // for handlers that were made to run there.
    ours.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
    sigemptyset(&ours.sa_mask);
    sigaction(kSignals[i], &ours, nullptr);
  }
}

void AccessGuard::Unblock() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : kSignals) sigaddset(&signals, signal);
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

}  // namespace ringpost::sim::service

// child_process.h: another process of a test, made by fork: it runs a function and is then gone.
#pragma once

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ringpost {

class ChildProcess {
 public:
  // The child must not report to the test; it says what it has to say in shared memory, or by its
  // exit status.
  template <class Body>
  explicit ChildProcess(Body&& body) : pid_(fork()) {
    if (pid_ != 0) return;
    try {
      body();
    } catch (...) {
      _exit(1);  // else it would go on with the parent's tests
    }
    _exit(0);
  }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess() {
    if (pid_ > 0) Kill();
  }

  // Ends it by SIGKILL, whatever it does.
  void Kill() {
    kill(pid_, SIGKILL);
    Wait();
  }

  // Until it has ended: the status of wait(2).
  int Wait() {
    int status = 0;
    if (pid_ > 0) waitpid(pid_, &status, 0);
    pid_ = -1;
    return status;
  }

  bool WasKilled() { return WIFSIGNALED(Wait()); }
  bool Succeeded() {
    const int status = Wait();
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

  // Reaps it if it has ended.
  bool HasEnded() {
    if (pid_ > 0 && waitpid(pid_, nullptr, WNOHANG) == pid_) pid_ = -1;
    return pid_ < 0;
  }

  pid_t Pid() const { return pid_; }

 private:
  pid_t pid_;
};

// In a child: nothing after this runs.
[[noreturn]] inline void Die() {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

}  // namespace ringpost

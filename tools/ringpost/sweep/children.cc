#include "tools/ringpost/sweep/children.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "tools/ringpost/exit_status.h"

namespace ringpost::tools {
namespace {

constexpr char kProgram[] = "/proc/self/exe";

void Close(int& descriptor) {
  if (descriptor >= 0) close(descriptor);
  descriptor = -1;
}

// Reads what is there; closes the descriptor at its end.
void Drain(int& descriptor, std::string& text) {
  char buffer[65536];
  const ssize_t bytes = read(descriptor, buffer, sizeof(buffer));
  if (bytes > 0) {
    text.append(buffer, static_cast<size_t>(bytes));
  } else if (bytes == 0 || (errno != EINTR && errno != EAGAIN)) {
    Close(descriptor);
  }
}

std::string LastLine(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

}  // namespace

Children::~Children() {
  for (Child& child : children_) {
    kill(child.pid, SIGKILL);
    Close(child.out);
    Close(child.err);
    waitpid(child.pid, nullptr, 0);
  }
}

// In the child, where only calls that are safe in a signal handler may be made.
void Children::Exec(const std::vector<char*>& argv, pid_t parent, int out, int err) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent may have died before it was asked for that.
  if (getppid() != parent) _exit(kFailed);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  execv(kProgram, argv.data());
  _exit(kFailed);
}

void Children::Start(uint64_t point, const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {"ringpost"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  int out[2] = {-1, -1}, err[2] = {-1, -1};
  const pid_t parent = getpid();
  pid_t child = -1;
  if (pipe2(out, O_CLOEXEC) == 0 && pipe2(err, O_CLOEXEC) == 0) child = fork();
  if (child == 0) Exec(argv, parent, out[1], err[1]);
  const int error = errno;
  Close(out[1]);
  Close(err[1]);
  if (child < 0) {
    Close(out[0]);
    Close(err[0]);
    throw std::runtime_error(
        fmt::format("the process of a point does not start: {}", std::strerror(error)));
  }
  children_.push_back({point, child, out[0], err[0], "", ""});
}

Ended Children::Reap(Child& child) {
  int status = 0;
  waitpid(child.pid, &status, 0);
  Ended ended{child.point, std::move(child.output), ""};
  if (WIFSIGNALED(status)) {
    ended.error =
        fmt::format("killed by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  } else if (WEXITSTATUS(status) != kClean && WEXITSTATUS(status) != kFound) {
    ended.error = LastLine(child.messages);
    if (ended.error.empty()) ended.error = fmt::format("exit status {}", WEXITSTATUS(status));
  }
  return ended;
}

std::vector<Ended> Children::Wait(int timeout_ms) {
  std::vector<pollfd> polls;
  for (const Child& child : children_) {
    polls.push_back({child.out, POLLIN, 0});  // a negative descriptor is left out
    polls.push_back({child.err, POLLIN, 0});
  }
  std::vector<Ended> ended;
  if (poll(polls.data(), polls.size(), timeout_ms) <= 0) return ended;
  for (size_t i = 0; i < children_.size(); ++i) {
    if (polls[2 * i].revents != 0) Drain(children_[i].out, children_[i].output);
    if (polls[2 * i + 1].revents != 0) Drain(children_[i].err, children_[i].messages);
  }
  std::erase_if(children_, [&ended](Child& child) {
    if (child.out >= 0 || child.err >= 0) return false;
    ended.push_back(Reap(child));
    return true;
  });
  return ended;
}

}  // namespace ringpost::tools

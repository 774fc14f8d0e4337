#include "tools/ringpost/child_ranks.h"

#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>

namespace ringpost::tools {

ChildRanks::~ChildRanks() {
  for (const pid_t child : children_) kill(child, SIGTERM);
  // One that is stopped, or busy, does not hear that.
  constexpr int kGraceMs = 5000;
  for (int waited = 0; waited < kGraceMs && !children_.empty(); ++waited) {
    std::erase_if(children_, [](pid_t child) { return waitpid(child, nullptr, WNOHANG) != 0; });
    usleep(1000);
  }
  for (const pid_t child : children_) kill(child, SIGKILL);
  for (const pid_t child : children_) waitpid(child, nullptr, 0);
}

void ChildRanks::Start(uint16_t port) {
  for (uint32_t rank = 1; rank < ranks_; ++rank) {
    std::vector<std::string> words = {"ringpost"};
    words.insert(words.end(), arguments_.begin(), arguments_.end());
    for (const std::string& word :
         {std::string("--rank"), std::to_string(rank), std::string("--ranks"),
          std::to_string(ranks_), std::string("--rendezvous"), fmt::format("127.0.0.1:{}", port)}) {
      words.push_back(word);
    }
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    pid_t child = 0;
    const int error = posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, argv.data(), environ);
    if (error != 0) {
      throw std::runtime_error(
          fmt::format("the process of rank {} does not start: {}", rank, std::strerror(error)));
    }
    children_.push_back(child);
  }
}

std::string ChildRanks::Wait() {
  std::string wrong;
  for (size_t i = 0; i < children_.size(); ++i) {
    int status = 0;
    waitpid(children_[i], &status, 0);
    if (wrong.empty() && !(WIFEXITED(status) && WEXITSTATUS(status) == 0)) {
      wrong = fmt::format("the process of rank {} has failed", i + 1);
    }
  }
  children_.clear();
  return wrong;
}

}  // namespace ringpost::tools

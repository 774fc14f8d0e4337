// children.h: runs of this program in child processes, and what they print.
//
// A child dies with its parent, however that ends. One thread uses a Children.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace ringpost::tools {

// How a run of a point ended.
struct Ended {
  uint64_t point = 0;
  std::string output;  // of stdout
  std::string error;   // empty where the program ended with one of its statuses that has a result
};

class Children final {
 public:
  // Kills those that still run.
  ~Children();
  Children() = default;
  Children(const Children&) = delete;
  Children& operator=(const Children&) = delete;

  size_t Running() const { return children_.size(); }

  // Starts this program with these arguments; throws std::runtime_error.
  void Start(uint64_t point, const std::vector<std::string>& arguments);

  // Those that have ended; waits for the first at most so long. None at all after that time.
  std::vector<Ended> Wait(int timeout_ms);

 private:
  struct Child {
    uint64_t point;
    pid_t pid;
    int out;  // the end that we read of its stdout
    int err;
    std::string output;
    std::string messages;
  };

  static void Exec(const std::vector<char*>& argv, pid_t parent, int out, int err);
  static Ended Reap(Child& child);

  std::vector<Child> children_;
};

}  // namespace ringpost::tools

// workers.h: who runs the points of a sweep: child processes of this machine, or those of all
// ranks that mpirun has started.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/ringpost/sweep/children.h"

namespace ringpost::tools {

class Workers {
 public:
  virtual ~Workers() = default;

  // How many points may run now, beyond those that do.
  virtual size_t Room() const = 0;
  virtual size_t Running() const = 0;
  // Runs this program with these arguments. Throws std::runtime_error.
  virtual void Start(uint64_t point, const std::vector<std::string>& arguments) = 0;
  // Those that have ended since; waits for one at most so long.
  virtual std::vector<Ended> Wait(int timeout_ms) = 0;
};

// Child processes of this one, `jobs` at a time.
class LocalWorkers final : public Workers {
 public:
  explicit LocalWorkers(size_t jobs) : jobs_(jobs) {}

  size_t Room() const override { return jobs_ - children_.Running(); }
  size_t Running() const override { return children_.Running(); }
  void Start(uint64_t point, const std::vector<std::string>& arguments) override {
    children_.Start(point, arguments);
  }
  std::vector<Ended> Wait(int timeout_ms) override { return children_.Wait(timeout_ms); }

 private:
  const size_t jobs_;
  Children children_;
};

}  // namespace ringpost::tools

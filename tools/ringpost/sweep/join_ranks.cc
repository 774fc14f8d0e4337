#include "tools/ringpost/sweep/join_ranks.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <stdexcept>

#include "tools/ringpost/library_file.h"

namespace ringpost::tools {
namespace {

// How many processes mpirun of Open MPI, that of MPICH, or srun says there are.
int StartedRanks() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    const char* value = std::getenv(name);
    if (value != nullptr) return std::atoi(value);
  }
  return 1;
}

MakeRanks FindMakeRanks(int started) {
  const std::string path = FindLibrary("tools/ringpost/sweep", "libringpost_mpi.so");
  const std::string what = fmt::format("{} processes were started, and ", started);
  if (path.empty()) {
    throw std::runtime_error(
        what +
        "this program was built without MPI; install libopenmpi-dev, run bazel shutdown and "
        "build it again, or start one process");
  }
  // Parts of MPI that it loads by itself look for its symbols among the global ones.
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) {
    throw std::runtime_error(what + "MPI does not load here: " + dlerror());
  }
  const auto make = reinterpret_cast<MakeRanks>(dlsym(library, kMakeRanks));
  if (make == nullptr) throw std::runtime_error(what + path + " is of another version");
  return make;
}

}  // namespace

std::unique_ptr<Ranks> JoinRanks() {
  const int started = StartedRanks();
  if (started <= 1) return nullptr;
  std::unique_ptr<Ranks> ranks(FindMakeRanks(started)());
  if (ranks->Count() != started) {
    throw std::runtime_error(
        fmt::format("{} processes were started, and MPI knows of {}: use the mpirun of the MPI "
                    "that this program was built with, or srun --mpi=pmix",
                    started, ranks->Count()));
  }
  return ranks;
}

}  // namespace ringpost::tools

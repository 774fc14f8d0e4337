#include "tools/ringpost/fit/minimise.h"

#include <dlfcn.h>

#include <stdexcept>

#include "tools/ringpost/library_file.h"

namespace ringpost::tools {
namespace {

MinimiseFunction Load() {
  const std::string path = FindLibrary("tools/ringpost/fit", "libringpost_nlopt.so");
  if (path.empty()) throw std::runtime_error("libringpost_nlopt.so is not beside this program");
  void* library = dlopen(path.c_str(), RTLD_NOW);
  if (library == nullptr) {
    throw std::runtime_error(std::string("NLopt, which fits numbers, does not load here: ") +
                             dlerror() + "; install libnlopt0");
  }
  const auto minimise = reinterpret_cast<MinimiseFunction>(dlsym(library, kMinimise));
  if (minimise == nullptr) throw std::runtime_error(path + " is of another version");
  return minimise;
}

}  // namespace

void Minimise(const Task& task, const Search& search, std::vector<double>& x) {
  static const MinimiseFunction minimise = Load();
  minimise(task, search, x);
}

}  // namespace ringpost::tools

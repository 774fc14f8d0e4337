#include "sim/uverbs/gpu/dma_bufs.h"

#include <sys/stat.h>

#include <map>
#include <mutex>
#include <utility>

namespace ringpost::sim::uverbs::gpu {
namespace {

using FileId = std::pair<dev_t, ino_t>;

struct Known {
  std::mutex mutex;
  std::map<FileId, DmaBuf> by_file;  // guarded
};

// Never destroyed: other libraries' destructors may still register memory.
Known& All() {
  static Known* const known = new Known();
  return *known;
}

bool Identify(int file, FileId* id) {
  struct stat facts;
  if (file < 0 || fstat(file, &facts) != 0) return false;
  *id = {facts.st_dev, facts.st_ino};
  return true;
}

}  // namespace

void NoteDmaBuf(int file, const DmaBuf& memory) {
  FileId id;
  if (!Identify(file, &id)) return;
  const std::lock_guard<std::mutex> lock(All().mutex);
  All().by_file[id] = memory;
}

std::optional<DmaBuf> FindDmaBuf(int file) {
  FileId id;
  if (!Identify(file, &id)) return std::nullopt;
  const std::lock_guard<std::mutex> lock(All().mutex);
  const auto found = All().by_file.find(id);
  if (found == All().by_file.end()) return std::nullopt;
  return found->second;
}

}  // namespace ringpost::sim::uverbs::gpu

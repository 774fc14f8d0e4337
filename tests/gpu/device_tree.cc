// device_tree FOLDER: the files of two virtual ConnectX for programs that preload
// libringpost_uverbs.so with RINGPOST_UVERBS_ROOT=FOLDER, as `ringpost exec` makes them.
#include <cstdio>

#include "sim/uverbs/settings.h"
#include "sim/uverbs/sysfs.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: device_tree FOLDER\n");
    return 2;
  }
  ringpost::sim::uverbs::Settings settings = ringpost::sim::uverbs::DefaultSettings(2);
  settings.fabric = "portable";
  // Two NICs of one process: each has a core where this is worth anything.
  settings.idle = ringpost::sim::uverbs::Idle::kYield;
  const auto written = ringpost::sim::uverbs::WriteTree(argv[1], settings);
  if (written.Ok()) return 0;
  std::fprintf(stderr, "device_tree: %s\n", written.Message().c_str());
  return 1;
}

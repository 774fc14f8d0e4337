// Preloaded under perftest by its matrix, which checks what arrives.
//
// The buffer that the program registers first is filled, before anything can arrive there, with the
// bytes of the file RINGPOST_TEST_PATTERN, repeated. perftest's own contents, of rand(), are left
// out, and so is the time it spends on figures that mean nothing here: it compares its cycle
// counter with gettimeofday() for 0.2 s before each line that it prints, and ib_write_bw sleeps for
// a second.
#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

#undef ibv_reg_mr

namespace {

constexpr int64_t kHurry = 100;  // by how much gettimeofday() goes too fast

struct Buffer {
  char* begin = nullptr;
  size_t bytes = 0;
  bool filled = false;
} g_buffer;

template <class Function>
Function* Next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

ibv_mr* Note(ibv_mr* mr) {
  if (mr != nullptr && g_buffer.begin == nullptr) {
    g_buffer = {static_cast<char*>(mr->addr), mr->length};
  }
  return mr;
}

void Fill(Buffer& buffer) {
  const char* path = getenv("RINGPOST_TEST_PATTERN");
  std::ifstream file(path == nullptr ? "" : path, std::ios::binary);
  const std::vector<char> pattern(std::istreambuf_iterator<char>(file), {});
  if (pattern.empty()) {
    fprintf(stderr, "RINGPOST_TEST_PATTERN names no file with bytes\n");
    _exit(1);
  }
  for (size_t at = 0; at < buffer.bytes; at += pattern.size()) {
    memcpy(buffer.begin + at, pattern.data(), std::min(pattern.size(), buffer.bytes - at));
  }
  buffer.filled = true;
}

int64_t Nanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

extern "C" {

ibv_mr* ibv_reg_mr(ibv_pd* pd, void* address, size_t length, int access) {
  return Note(Next<decltype(ibv_reg_mr)>("ibv_reg_mr")(pd, address, length, access));
}

ibv_mr* ibv_reg_mr_iova2(ibv_pd* pd, void* address, size_t length, uint64_t iova,
                         unsigned int access) {
  return Note(
      Next<decltype(ibv_reg_mr_iova2)>("ibv_reg_mr_iova2")(pd, address, length, iova, access));
}

// A QP that is ready to receive: its peer may send or write from now on.
int ibv_modify_qp(ibv_qp* qp, ibv_qp_attr* attributes, int mask) {
  const bool receives = (mask & IBV_QP_STATE) != 0 && attributes->qp_state == IBV_QPS_RTR;
  if (receives && g_buffer.begin != nullptr && !g_buffer.filled) Fill(g_buffer);
  return Next<decltype(ibv_modify_qp)>("ibv_modify_qp")(qp, attributes, mask);
}

int rand() noexcept { return 0; }
void srand(unsigned int) noexcept {}

unsigned int sleep(unsigned int) { return 0; }

int gettimeofday(timeval* time, void*) noexcept {
  static const int64_t first = Nanoseconds();
  const int64_t now = first + (Nanoseconds() - first) * kHurry;
  *time = {now / 1'000'000'000, now % 1'000'000'000 / 1000};
  return 0;
}

}  // extern "C"

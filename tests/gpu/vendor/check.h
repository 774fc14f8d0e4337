// check.h: what the checks of vendors' libraries share: two processes that meet by a file, and
// lines that say what was right and what was not.
//
//   PROGRAM RANK FILE WHAT...     rank 0 leaves the library's unique id in FILE for rank 1
#pragma once

#include <cuda_runtime.h>

#include <chrono>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace vendor {

inline int rank = 0;
inline int failures = 0;

inline double Seconds() {
  static const auto begin = std::chrono::steady_clock::now();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

[[gnu::format(printf, 1, 2)]] inline void Say(const char* format, ...) {
  std::printf("[rank %d, %.2f s] ", rank, Seconds());
  va_list arguments;
  va_start(arguments, format);
  std::vprintf(format, arguments);
  va_end(arguments);
  std::puts("");
  std::fflush(stdout);
}

// Counts and goes on: what follows may tell more.
inline void Expect(bool right, const std::string& what) {
  if (!right) ++failures;
  Say("%s: %s", what.c_str(), right ? "ok" : "WRONG");
}

// Without it nothing can follow.
inline void Require(bool right, const std::string& what) {
  if (right) return;
  Say("%s: FAILED", what.c_str());
  std::exit(2);
}

inline void Cuda(cudaError_t error, const char* what) {
  Require(error == cudaSuccess, std::string(what) + ": " + cudaGetErrorString(error));
}

// Rank r on GPU r, or both on the one that is there.
inline void UseGpu() {
  int count = 0;
  Cuda(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
  Cuda(cudaSetDevice(rank % count), "cudaSetDevice");
  Cuda(cudaFree(nullptr), "cudaFree");
  if (rank == 0) Say("%d GPUs", count);
}

// Rank 0's `id` for both. The file appears whole, by its new name.
template <class Id>
void ShareId(Id* id, const std::string& file) {
  if (rank == 0) {
    const std::string part = file + ".part";
    std::FILE* out = std::fopen(part.c_str(), "w");
    Require(out != nullptr && std::fwrite(id, sizeof(*id), 1, out) == 1, "write " + part);
    std::fclose(out);
    Require(std::rename(part.c_str(), file.c_str()) == 0, "rename " + part);
    return;
  }
  std::FILE* in = nullptr;
  while ((in = std::fopen(file.c_str(), "r")) == nullptr) {
    Require(Seconds() < 60, "rank 0 leaves no " + file);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  Require(std::fread(id, sizeof(*id), 1, in) == 1, "read " + file);
  std::fclose(in);
}

template <class T>
std::vector<T> FromGpu(const void* from, size_t count) {
  std::vector<T> values(count);
  Cuda(cudaMemcpy(values.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
  return values;
}

inline int Result() {
  Say("%s", failures == 0 ? "all right" : "SOMETHING IS WRONG");
  return failures == 0 ? 0 : 1;
}

}  // namespace vendor

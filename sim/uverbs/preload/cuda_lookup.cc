#include "sim/uverbs/preload/cuda_lookup.h"

#include <dlfcn.h>

#include <cstdint>
#include <cstring>

#include "sim/uverbs/gpu/cuda_driver.h"

namespace {

namespace gpu = ringpost::sim::uverbs::gpu;
namespace preload = ringpost::sim::uverbs::preload;

using gpu::CuResult;

using GetProc = CuResult(const char*, void**, int, uint64_t, void*);
using GetProcV1 = CuResult(const char*, void**, int, uint64_t);

constexpr int kSecondForm = 12000;  // the version of CUDA from which cuGetProcAddress has it

void* OfThisLibrary(const char* name);

// What a program gets in place of `found`.
void Exchange(const char* name, int version, void** found) {
  if (found == nullptr || *found == nullptr) return;
  const bool first = std::strcmp(name, "cuGetProcAddress") == 0 && version >= kSecondForm;
  void* const stand_in = OfThisLibrary(first ? "cuGetProcAddress_v2" : name);
  if (stand_in != nullptr) *found = stand_in;
}

}  // namespace

extern "C" {
// The next library's dlsym.
__attribute__((visibility("hidden"))) void* ringpost_next_dlsym = nullptr;
__attribute__((visibility("hidden"))) void ringpost_find_dlsym();
}

namespace {

void* NextDlsym(void* library, const char* name) {
  if (ringpost_next_dlsym == nullptr) ringpost_find_dlsym();
  using Dlsym = void*(void*, const char*);
  return reinterpret_cast<Dlsym*>(ringpost_next_dlsym)(library, name);
}

}  // namespace

extern "C" {

void* ringpost_address_in_driver(const char* name) {
  void* const library = gpu::OpenLoadedDriver();
  return library == nullptr ? nullptr : NextDlsym(library, name);
}

CuResult cuGetProcAddress_v2(const char* name, void** function, int version, uint64_t flags,
                             void* status) {
  GetProc* const next = preload::OfDriver<GetProc>("cuGetProcAddress_v2");
  if (next == nullptr) return gpu::kCuNotInitialized;
  const CuResult result = next(name, function, version, flags, status);
  if (result == gpu::kCuSuccess) Exchange(name, version, function);
  return result;
}

CuResult cuGetProcAddress(const char* name, void** function, int version, uint64_t flags) {
  GetProcV1* const next = preload::OfDriver<GetProcV1>("cuGetProcAddress");
  if (next == nullptr) return gpu::kCuNotInitialized;
  const CuResult result = next(name, function, version, flags);
  if (result == gpu::kCuSuccess) Exchange(name, version, function);
  return result;
}

}  // extern "C"

namespace {

void* OfThisLibrary(const char* name) {
  if (!preload::StandsIn()) return nullptr;
  if (std::strcmp(name, "cuGetProcAddress_v2") == 0) {
    return reinterpret_cast<void*>(&cuGetProcAddress_v2);
  }
  if (std::strcmp(name, "cuGetProcAddress") == 0) {
    return reinterpret_cast<void*>(&cuGetProcAddress);
  }
  return preload::StandInFor(name);
}

}  // namespace

// dlsym looks from where it was called for what RTLD_NEXT means: so names that are none of CUDA's
// go on by a jump, with the caller's own return address. It may be called before anything is set
// up, by a sanitizer's runtime.
extern "C" {

__attribute__((no_sanitize("address", "undefined", "thread"))) void ringpost_find_dlsym() {
  // The versions of glibc from 2.34 on, and before.
  ringpost_next_dlsym = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
  if (ringpost_next_dlsym == nullptr) {
    ringpost_next_dlsym = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
  }
}

// The stand-in for a function of CUDA that is there; null for all others.
__attribute__((visibility("hidden"))) void* ringpost_dlsym(void* library, const char* name) {
  void* const stand_in = OfThisLibrary(name);
  return stand_in == nullptr || NextDlsym(library, name) == nullptr ? nullptr : stand_in;
}
}

#if defined(__x86_64__)

asm(R"(
    .text
    .globl dlsym
    .type dlsym, @function
dlsym:
    .cfi_startproc
    endbr64
    pushq %rdi
    .cfi_adjust_cfa_offset 8
    pushq %rsi
    .cfi_adjust_cfa_offset 8
    subq $8, %rsp
    .cfi_adjust_cfa_offset 8
    cmpq $0, ringpost_next_dlsym(%rip)
    jne 1f
    call ringpost_find_dlsym
1:  movq 8(%rsp), %rsi
    movq 16(%rsp), %rdi
    xorl %eax, %eax
    testq %rsi, %rsi
    je 2f
    cmpb $'c', (%rsi)
    jne 2f
    cmpb $'u', 1(%rsi)
    jne 2f
    call ringpost_dlsym
2:  addq $8, %rsp
    .cfi_adjust_cfa_offset -8
    popq %rsi
    .cfi_adjust_cfa_offset -8
    popq %rdi
    .cfi_adjust_cfa_offset -8
    testq %rax, %rax
    jne 3f
    jmpq *ringpost_next_dlsym(%rip)
3:  ret
    .cfi_endproc
    .size dlsym, .-dlsym
)");

#endif  // __x86_64__

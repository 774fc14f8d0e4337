// The CUDA driver's function that makes a dma-buf, in whose place this stands, so that it is known
// what memory a dma-buf is of.
//
// Programs find that function by cuGetProcAddress, and that by dlsym: CUDA's runtime too, also
// where it is linked statically. So both are stood in for, and answer with the driver's own
// function otherwise. A program that has the driver as a library of its own finds those exported
// here first.
#include <dlfcn.h>

#include <cstdint>
#include <cstring>

#include "sim/uverbs/emulation.h"
#include "sim/uverbs/gpu/cuda_abi.h"
#include "sim/uverbs/gpu/cuda_driver.h"
#include "sim/uverbs/gpu/dma_bufs.h"

namespace {

namespace emulation = ringpost::sim::uverbs::emulation;
namespace gpu = ringpost::sim::uverbs::gpu;

using gpu::CuAddress;
using gpu::CuResult;

using GetHandle = CuResult(void*, CuAddress, size_t, int, unsigned long long);
using GetProc = CuResult(const char*, void**, int, uint64_t, void*);
using GetProcV1 = CuResult(const char*, void**, int, uint64_t);

constexpr int kSecondForm = 12000;  // the version of CUDA from which cuGetProcAddress has it

void* StandInFor(const char* name);

// What a program gets in place of `found`.
void Exchange(const char* name, int version, void** found) {
  if (found == nullptr || *found == nullptr || !emulation::Active()) return;
  const bool first = std::strcmp(name, "cuGetProcAddress") == 0 && version >= kSecondForm;
  void* const stand_in = StandInFor(first ? "cuGetProcAddress_v2" : name);
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

// The driver's function, if the program has loaded the driver.
template <class Function>
Function* OfDriver(const char* name) {
  void* const library = gpu::OpenLoadedDriver();
  return library == nullptr ? nullptr : reinterpret_cast<Function*>(NextDlsym(library, name));
}

}  // namespace

extern "C" {

CuResult cuMemGetHandleForAddressRange(void* handle, CuAddress address, size_t bytes, int type,
                                       unsigned long long flags) {
  GetHandle* const next = OfDriver<GetHandle>("cuMemGetHandleForAddressRange");
  if (next == nullptr) return gpu::kCuNotInitialized;
  const CuResult result = next(handle, address, bytes, type, flags);
  if (result == gpu::kCuSuccess && type == gpu::kCuHandleDmaBuf && emulation::Active()) {
    gpu::NoteDmaBuf(*static_cast<int*>(handle), {address, bytes});
  }
  return result;
}

CuResult cuGetProcAddress_v2(const char* name, void** function, int version, uint64_t flags,
                             void* status) {
  GetProc* const next = OfDriver<GetProc>("cuGetProcAddress_v2");
  if (next == nullptr) return gpu::kCuNotInitialized;
  const CuResult result = next(name, function, version, flags, status);
  if (result == gpu::kCuSuccess) Exchange(name, version, function);
  return result;
}

CuResult cuGetProcAddress(const char* name, void** function, int version, uint64_t flags) {
  GetProcV1* const next = OfDriver<GetProcV1>("cuGetProcAddress");
  if (next == nullptr) return gpu::kCuNotInitialized;
  const CuResult result = next(name, function, version, flags);
  if (result == gpu::kCuSuccess) Exchange(name, version, function);
  return result;
}

}  // extern "C"

namespace {

void* StandInFor(const char* name) {
  const struct {
    const char* name;
    void* function;
  } rows[] = {
      {"cuMemGetHandleForAddressRange", reinterpret_cast<void*>(&cuMemGetHandleForAddressRange)},
      {"cuGetProcAddress_v2", reinterpret_cast<void*>(&cuGetProcAddress_v2)},
      {"cuGetProcAddress", reinterpret_cast<void*>(&cuGetProcAddress)},
  };
  for (const auto& row : rows) {
    if (std::strcmp(row.name, name) == 0) return row.function;
  }
  return nullptr;
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
  if (!emulation::Active()) return nullptr;
  void* const stand_in = StandInFor(name);
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

// Programs that load cuBLAS themselves (dlopen, then dlsym: language runtimes, TensorFlow, plugins)
// are not reached by symbols that precede cuBLAS's. They are reached by a dlsym that precedes the C
// library's: asked for a function that we replace, where it would find that of the cuBLAS that we
// forward to, it returns ours. Every other answer is the C library's, also for another cuBLAS in
// the same process.
#include "dlsym.h"

#include <dlfcn.h>

#include <atomic>
#include <cstring>

#include "real_cublas.h"

namespace mygemm::cublas {
namespace {

using DlsymFunction = void* (*)(void* library, const char* name) noexcept;

// The C library's versions of the symbol on the processors that CUDA supports.
constexpr const char* kVersions[] = {"GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5"};

DlsymFunction find_libc_dlsym() {
  for (const char* version : kVersions) {
    if (void* found = dlvsym(RTLD_NEXT, "dlsym", version)) {
      return reinterpret_cast<DlsymFunction>(found);
    }
  }
  return nullptr;
}

DlsymFunction libc_function() {
  static std::atomic<DlsymFunction> known = nullptr;
  DlsymFunction function = known.load(std::memory_order_relaxed);
  if (!function) known.store(function = find_libc_dlsym(), std::memory_order_relaxed);
  return function;
}

// The function of that name that we replace, or kFunctionCount.
Function replaced(const char* name) {
  if (std::strncmp(name, "cublas", 6) != 0) return kFunctionCount;
  int function = 0;
  while (function < kReplacedFunctions && std::strcmp(name, kFunctionNames[function]) != 0) {
    ++function;
  }
  return function < kReplacedFunctions ? static_cast<Function>(function) : kFunctionCount;
}

// Our own function of that name. RTLD_DEFAULT finds another library's where ours is not preloaded.
void* ours(const char* name) {
  static std::atomic<void*> known = nullptr;
  void* ourselves = known.load(std::memory_order_acquire);
  if (!ourselves) {
    Dl_info info{};
    dladdr(reinterpret_cast<void*>(&find_libc_dlsym), &info);
    ourselves = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    known.store(ourselves, std::memory_order_release);
  }
  return ourselves ? libc_function()(ourselves, name) : nullptr;
}

// A function of its own, so that dlsym below needs no stack frame.
[[gnu::noinline]] void* replace(void* library, const char* name, Function function) {
  void* const found = libc_function()(library, name);
  void* const replacement = ours(name);
  void* const real = find_real(function);
  if (!real && found == replacement) return nullptr;  // cuBLAS has no such function
  return found && (found == real || found == replacement) ? replacement : found;
}

}  // namespace

void* libc_dlsym(void* library, const char* name) { return libc_function()(library, name); }

}  // namespace mygemm::cublas

// The last call has to be a jump: what RTLD_NEXT means depends on the address that the C library
// would return to. Compiled with -O2 always; a test asks for RTLD_NEXT through here.
extern "C" [[gnu::visibility("default")]] void* dlsym(void* library, const char* name) noexcept {
  using namespace mygemm::cublas;
  const Function function = library == RTLD_NEXT ? kFunctionCount : replaced(name);
  if (function != kFunctionCount) return replace(library, name, function);
  return libc_function()(library, name);
}

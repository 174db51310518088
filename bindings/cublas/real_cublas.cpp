// Finds cuBLAS: behind us in the program's own order of libraries; or loaded by somebody with a
// scope of its own, as plugins and Python modules do; or, where a program was linked to us alone,
// nowhere yet.
#include "real_cublas.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdio>

#include "dlsym.h"

namespace mygemm::cublas {
namespace {

constexpr const char* kSonames[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11"};

// What dlsym is to search: RTLD_NEXT or a library. nullptr where there is no cuBLAS. One for all,
// also in a process that has loaded several.
void* find_library(bool load) {
  if (libc_dlsym(RTLD_NEXT, kFunctionNames[kCreate])) return RTLD_NEXT;
  for (const char* soname : kSonames) {
    if (void* library = dlopen(soname, RTLD_LAZY | (load ? 0 : RTLD_NOLOAD))) return library;
  }
  return nullptr;
}

// Threads may find it at once, and find the same. No guard of C++ is held around dlopen, which runs
// constructors that may come here.
void* library(bool load) {
  static std::atomic<void*> known = nullptr;
  if (void* found = known.load(std::memory_order_acquire)) return found;
  void* found = find_library(false);
  if (!found && load) found = find_library(true);
  known.store(found, std::memory_order_release);
  return found;
}

void* find(Function function, bool load) {
  static std::array<std::atomic<void*>, kFunctionCount> addresses{};
  std::atomic<void*>& address = addresses[function];
  if (void* known = address.load(std::memory_order_acquire)) return known;
  void* const where = library(load);
  void* const found = where ? libc_dlsym(where, kFunctionNames[function]) : nullptr;
  address.store(found, std::memory_order_release);
  return found;
}

void tell_missing(Function function) {
  static std::atomic<bool> told = false;
  if (told.exchange(true)) return;
  const char* name = kFunctionNames[function];
  if (library(true)) {
    std::fprintf(stderr, "mygemm: this cuBLAS has no %s to forward a call to\n", name);
  } else {
    std::fprintf(stderr,
                 "mygemm: no libcublas.so.13, .12 or .11 was found to forward %s to; set "
                 "LD_LIBRARY_PATH\n",
                 name);
  }
}

}  // namespace

void* find_real(Function function) { return find(function, false); }

void* real_function(Function function) {
  void* const found = find(function, true);
  if (!found) tell_missing(function);
  return found;
}

bool known_version() {
  static const bool known = [] {
    int major = 0;
    return forward(kGetProperty, MAJOR_VERSION, &major) == CUBLAS_STATUS_SUCCESS && major >= 11 &&
           major <= 13;
  }();
  return known;
}

}  // namespace mygemm::cublas

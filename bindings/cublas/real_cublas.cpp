// Finds cuBLAS: after this library in the program's own order of libraries; or loaded with a scope
// of its own, as by plugins and Python modules; or, where a program was linked to this library
// only, by loading it.
#include "real_cublas.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdio>

#include "dlsym.h"

namespace mygemm::cublas {
namespace {

constexpr const char* kSonames[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11"};

// The library that dlsym searches, or RTLD_NEXT; nullptr where there is no cuBLAS. One for all
// functions, also in a process that has loaded several.
void* find_library(bool load) {
  if (libc_dlsym(RTLD_NEXT, kFunctionNames[kCreate])) return RTLD_NEXT;
  for (const char* soname : kSonames) {
    if (void* library = dlopen(soname, RTLD_LAZY | (load ? 0 : RTLD_NOLOAD))) return library;
  }
  return nullptr;
}

// Threads may search at once, and find the same library. No static initialiser guards the dlopen,
// which runs constructors that may call this function.
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

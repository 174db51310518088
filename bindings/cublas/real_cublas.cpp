// Finds cuBLAS and cuBLASLt: after this library in the program's own order of libraries; or loaded
// with a scope of its own, as by plugins and Python modules; or, where a program was linked to this
// library only, by loading it.
#include "real_cublas.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdio>

#include "dlsym.h"

namespace mygemm::cublas {
namespace {

// One of the two libraries, of which each has its own search.
struct Library {
  const char* sonames[3];
  Function sought;  // that it is sure to have
  std::atomic<void*> known = nullptr;
};

Library& library_of(Function function) {
  static constinit Library cublas = {{"libcublas.so.13", "libcublas.so.12", "libcublas.so.11"},
                                     kCreate};
  static constinit Library lt = {{"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11"},
                                 kLtGetProperty};
  return is_of_lt(function) ? lt : cublas;
}

// The library that dlsym searches, or RTLD_NEXT; nullptr where there is none. One for all
// functions, also in a process that has loaded several.
void* find_library(const Library& library, bool load) {
  if (libc_dlsym(RTLD_NEXT, kFunctionNames[library.sought])) return RTLD_NEXT;
  for (const char* soname : library.sonames) {
    if (void* found = dlopen(soname, RTLD_LAZY | (load ? 0 : RTLD_NOLOAD))) return found;
  }
  return nullptr;
}

// Threads may search at once, and find the same library. No static initialiser guards the dlopen,
// which runs constructors that may call this function.
void* find_library_of(Function function, bool load) {
  Library& library = library_of(function);
  if (void* found = library.known.load(std::memory_order_acquire)) return found;
  void* found = find_library(library, false);
  if (!found && load) found = find_library(library, true);
  library.known.store(found, std::memory_order_release);
  return found;
}

void* find(Function function, bool load) {
  static std::array<std::atomic<void*>, kFunctionCount> addresses{};
  std::atomic<void*>& address = addresses[function];
  if (void* known = address.load(std::memory_order_acquire)) return known;
  void* const where = find_library_of(function, load);
  void* const found = where ? libc_dlsym(where, kFunctionNames[function]) : nullptr;
  address.store(found, std::memory_order_release);
  return found;
}

void tell_missing(Function function) {
  static std::atomic<bool> told = false;
  if (told.exchange(true)) return;
  const char* name = kFunctionNames[function];
  if (find_library_of(function, true)) {
    std::fprintf(stderr, "mygemm: this cuBLAS has no %s to forward a call to\n", name);
  } else {
    std::fprintf(stderr,
                 "mygemm: no %s, .12 or .11 was found to forward %s to; set LD_LIBRARY_PATH\n",
                 library_of(function).sonames[0], name);
  }
}

}  // namespace

void* find_real(Function function) { return find(function, false); }

void* real_function(Function function) {
  void* const found = find(function, true);
  if (!found) tell_missing(function);
  return found;
}

// Threads may ask at once, and get the same answer: no static initialiser guards forward(), which
// may load a library.
bool known_version(Function get_property) {
  enum : int { kNotAsked, kKnown, kUnknown };
  static std::array<std::atomic<int>, kFunctionCount> answers{};
  std::atomic<int>& answer = answers[get_property];
  if (answer.load(std::memory_order_relaxed) == kNotAsked) {
    int major = 0;
    const bool known = forward(get_property, MAJOR_VERSION, &major) == CUBLAS_STATUS_SUCCESS &&
                       major >= 11 && major <= 13;
    answer.store(known ? kKnown : kUnknown, std::memory_order_relaxed);
  }
  return answer.load(std::memory_order_relaxed) == kKnown;
}

}  // namespace mygemm::cublas

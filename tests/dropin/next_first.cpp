// The first of two libraries that both have `mark`; marked_next() calls the second's. Where dlsym
// forgets who asked, it is the first's.
#include <dlfcn.h>

extern "C" int mark() { return 1; }

int marked_next() {
  auto* const next = reinterpret_cast<int (*)()>(dlsym(RTLD_NEXT, "mark"));
  return next ? next() : 0;
}

// dlsym for the drop-in's twin, which is linked, not preloaded, and runs under sanitizers that look
// symbols up before anything else is there.
#include <dlfcn.h>

#include "dlsym.h"

namespace mygemm::cublas {

void* libc_dlsym(void* library, const char* name) { return ::dlsym(library, name); }

}  // namespace mygemm::cublas

// The C library's dlsym, which a program's calls of dlsym reach through ours.
#pragma once

namespace mygemm::cublas {

void* libc_dlsym(void* library, const char* name);

}  // namespace mygemm::cublas

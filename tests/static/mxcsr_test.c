/*
 * Static test: loading libmygemm.so leaves the floating-point environment of the process alone.
 * A library linked with -ffast-math makes subnormals vanish in everybody's code.
 *
 * Usage: mxcsr_test LIBRARY
 */
#include <dlfcn.h>
#include <float.h>
#include <stdio.h>

int main(int argc, char* argv[]) {
  if (argc != 2 || !dlopen(argv[1], RTLD_NOW)) {
    fprintf(stderr, "cannot load the library: %s\n", argc == 2 ? dlerror() : "not named");
    return 1;
  }
  volatile float smallest_normal = FLT_MIN, two = 2.0f;
  volatile float subnormal = smallest_normal / two; /* flush-to-zero makes this 0 */
  if (subnormal * two != smallest_normal) {         /* denormals-are-zero makes this 0 */
    fprintf(stderr, "%s switched subnormal numbers off\n", argv[1]);
    return 1;
  }
  puts("subnormal numbers survive");
  return 0;
}

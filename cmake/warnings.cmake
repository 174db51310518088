# mygemm_warnings: the warnings every target of the project is compiled with, and the sanitizers
# where MYGEMM_ASAN asks for them. Warnings are errors, but not for a project that has this one as
# a subdirectory: its compiler may know warnings that ours does not.
if(NOT DEFINED CMAKE_COMPILE_WARNING_AS_ERROR)
  set(CMAKE_COMPILE_WARNING_AS_ERROR ${PROJECT_IS_TOP_LEVEL})
endif()
add_library(mygemm_warnings INTERFACE)
# A kernel that spills registers, or keeps an array in local memory, is a warning and so an error,
# on every architecture that is compiled for.
set(MYGEMM_SPILL_WARNINGS -Xptxas=--warn-on-spills,--warn-on-local-memory-usage)
# Without optimisation all kernels spill, and compile in a quarter of the time.
if(MYGEMM_QUICK_KERNELS)
  set(kernel_flags --Ofast-compile=max)
else()
  set(kernel_flags ${MYGEMM_SPILL_WARNINGS})
endif()
set(warning_flags -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor)
target_compile_options(mygemm_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:${warning_flags}>
  $<$<COMPILE_LANGUAGE:C>:-Wall -Wextra -Wpedantic -Wstrict-prototypes>
  # nvcc's generated code is not pedantic.
  $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra ${kernel_flags}>)

if(MYGEMM_ASAN)
  # enum: unknown enumerators come through the ABI on purpose and are refused there.
  set(sanitizer_flags -fsanitize=address,undefined -fno-sanitize=enum -fno-omit-frame-pointer)
  add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:${sanitizer_flags}>")
  add_link_options(${sanitizer_flags})
endif()

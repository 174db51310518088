# mygemm_warnings: the warnings every target of the project is compiled with, as errors, and the
# sanitizers where MYGEMM_ASAN asks for them.
add_library(mygemm_warnings INTERFACE)
set(warning_flags -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Werror)
target_compile_options(mygemm_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:${warning_flags}>
  $<$<COMPILE_LANGUAGE:C>:-Wall -Wextra -Wpedantic -Wstrict-prototypes -Werror>
  # nvcc's generated code is not pedantic; its own warnings are errors too.
  $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra,-Werror --Werror=all-warnings>)
if(MYGEMM_ASAN)
  # enum: unknown enumerators come through the ABI on purpose and are refused there.
  set(sanitizer_flags -fsanitize=address,undefined -fno-sanitize=enum -fno-omit-frame-pointer)
  add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:${sanitizer_flags}>")
  add_link_options(${sanitizer_flags})
endif()

# Sources that read command lines with CLI11, and mygemm_command: those of them that the command and
# the benchmark share.
find_path(CLI11_INCLUDE_DIR CLI/CLI.hpp REQUIRED)
find_package(Threads REQUIRED)
# command_line_library(<name> <source> ...): objects of sources that include CLI11. Compiled one by
# one, its header takes five seconds of each, with -O1, and longer where it is precompiled: seven
# sources take 9 s together and 46 s apart. Their speed when they run is of no matter.
function(command_line_library name)
  add_library(${name} OBJECT ${ARGN})
  set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
  target_include_directories(${name} SYSTEM PUBLIC ${CLI11_INCLUDE_DIR})
  target_compile_options(${name} PRIVATE -O1)
  target_link_libraries(${name} PRIVATE mygemm_warnings)
endfunction()
command_line_library(mygemm_command
  ${CMAKE_CURRENT_LIST_DIR}/command_line.cpp
  ${CMAKE_CURRENT_LIST_DIR}/command_tree.cpp
  ${CMAKE_CURRENT_LIST_DIR}/completion.cpp
  ${CMAKE_CURRENT_LIST_DIR}/manual.cpp
  ${CMAKE_CURRENT_LIST_DIR}/progress.cpp)
target_include_directories(mygemm_command PUBLIC ${CMAKE_CURRENT_LIST_DIR})
target_link_libraries(mygemm_command PUBLIC Threads::Threads)

# mygemm_command: the sources that the command and the benchmark share, compiled once.
find_path(CLI11_INCLUDE_DIR CLI/CLI.hpp REQUIRED)
find_package(Threads REQUIRED)
# CLI11's header takes most of the time of a source that includes it, a third less with -O1. (It takes
# longer still where it is precompiled.) These sources read command lines: their speed is of no matter.
set(MYGEMM_COMMAND_OPTIONS -O1)
add_library(mygemm_command OBJECT
  ${CMAKE_CURRENT_LIST_DIR}/command_line.cpp
  ${CMAKE_CURRENT_LIST_DIR}/command_tree.cpp
  ${CMAKE_CURRENT_LIST_DIR}/completion.cpp
  ${CMAKE_CURRENT_LIST_DIR}/manual.cpp
  ${CMAKE_CURRENT_LIST_DIR}/progress.cpp)
target_include_directories(mygemm_command PUBLIC ${CMAKE_CURRENT_LIST_DIR})
target_include_directories(mygemm_command SYSTEM PUBLIC ${CLI11_INCLUDE_DIR})
target_compile_options(mygemm_command PRIVATE ${MYGEMM_COMMAND_OPTIONS})
target_link_libraries(mygemm_command PRIVATE mygemm_warnings PUBLIC Threads::Threads)

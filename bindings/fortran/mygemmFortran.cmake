# The target mygemm::fortran: the modules, compiled with the consumer's own compiler, since module
# files suit no other. Beside the sources, in the tree and where they are installed; needs the
# target mygemm::mygemm and a project with the language Fortran.
if(TARGET mygemm::fortran)
  return()
endif()
set(mygemm_fortran_modules ${CMAKE_CURRENT_BINARY_DIR}/mygemm_fortran)
set(mygemm_fortran_dir ${CMAKE_CURRENT_LIST_DIR})
add_library(mygemm_fortran STATIC EXCLUDE_FROM_ALL
  ${mygemm_fortran_dir}/mygemm_abi.f90 ${mygemm_fortran_dir}/mygemm_gemm.f90
  ${mygemm_fortran_dir}/mygemm_grouped.f90 ${mygemm_fortran_dir}/mygemm_cross_entropy.f90
  ${mygemm_fortran_dir}/mygemm_softmax.f90 ${mygemm_fortran_dir}/mygemm.f90)
foreach(part plans products rows)
  target_sources(mygemm_fortran PRIVATE ${mygemm_fortran_dir}/mygemm_${part}.f90)
  # CMake does not see what Fortran includes.
  set_source_files_properties(${mygemm_fortran_dir}/mygemm_${part}.f90 PROPERTIES
    OBJECT_DEPENDS ${mygemm_fortran_dir}/mygemm_${part}.inc)
endforeach()
add_library(mygemm::fortran ALIAS mygemm_fortran)
set_target_properties(mygemm_fortran PROPERTIES
  Fortran_MODULE_DIRECTORY ${mygemm_fortran_modules} POSITION_INDEPENDENT_CODE ON)
target_include_directories(mygemm_fortran INTERFACE ${mygemm_fortran_modules})
target_link_libraries(mygemm_fortran PUBLIC mygemm::mygemm)

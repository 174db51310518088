# The files of `cmake --install`, in four components that are also the Debian packages: runtime (the
# library), development (headers, CMake and pkg-config files), dropin (the drop-in libraries), tools
# (the programs and the documents).
# All files find each other by relative paths: the prefix can be moved.
include(CMakePackageConfigHelpers)

install(TARGETS mygemm EXPORT mygemm_targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE
        DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)
# The documents, in the tree that their links go through; `mygemm demo` reads them.
file(GLOB documents CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/*.md)
install(FILES ${documents} DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT tools)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT tools)
install(FILES ${PROJECT_SOURCE_DIR}/bench/experiments.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR}/bench COMPONENT tools)
install(FILES ${PROJECT_SOURCE_DIR}/bindings/python/README.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR}/bindings/python COMPONENT tools)
if(MYGEMM_DOCS)
  find_program(MYGEMM_SPHINX_PYTHON NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH REQUIRED)
  add_custom_target(mygemm_docs ALL VERBATIM COMMENT "Building the site of the documents"
    COMMAND ${MYGEMM_SPHINX_PYTHON} -B ${PROJECT_SOURCE_DIR}/site/build.py
            ${PROJECT_BINARY_DIR}/site)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/site/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/html
          COMPONENT tools PATTERN .doctrees EXCLUDE PATTERN .buildinfo EXCLUDE)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/mygemm
                  ${PROJECT_SOURCE_DIR}/bindings/cublas/include/mygemm
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development FILES_MATCHING PATTERN *.h)

# The drop-ins, with targets of their own: they may be left out. Preloads name libmygemm_cublas.so.
set(drop_ins)
foreach(target mygemm_blas mygemm_cublas)
  if(TARGET ${target})
    list(APPEND drop_ins ${target})
  endif()
endforeach()

# The modules for Fortran, as sources: compilers cannot read each other's module files.
set(MYGEMM_FORTRAN_DIR ${CMAKE_INSTALL_DATADIR}/mygemm/fortran)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/bindings/fortran/
        DESTINATION ${MYGEMM_FORTRAN_DIR} COMPONENT development)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/bindings/c/
        DESTINATION ${CMAKE_INSTALL_DATADIR}/mygemm/examples/c COMPONENT development)

# find_package(mygemm CONFIG).
set(cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/mygemm)
install(EXPORT mygemm_targets NAMESPACE mygemm:: FILE mygemmTargets.cmake
        DESTINATION ${cmake_dir} COMPONENT development)
if(drop_ins)
  install(TARGETS ${drop_ins} EXPORT mygemm_drop_in_targets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dropin)
  install(EXPORT mygemm_drop_in_targets NAMESPACE mygemm:: FILE mygemmDropInTargets.cmake
          DESTINATION ${cmake_dir} COMPONENT dropin)
endif()
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/mygemmConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/mygemmConfig.cmake
                              INSTALL_DESTINATION ${cmake_dir} PATH_VARS MYGEMM_FORTRAN_DIR)
# While the major version is 0, a new minor version may change the ABI.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/mygemmConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/mygemmConfig.cmake
              ${PROJECT_BINARY_DIR}/mygemmConfigVersion.cmake
        DESTINATION ${cmake_dir} COMPONENT development)

# pkg-config mygemm, with the prefix relative to the .pc file.
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH MYGEMM_PREFIX_FROM_PC /${pkgconfig_dir} /)
configure_file(${PROJECT_SOURCE_DIR}/cmake/mygemm.pc.in ${PROJECT_BINARY_DIR}/mygemm.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/mygemm.pc
        DESTINATION ${pkgconfig_dir} COMPONENT development)

if(TARGET mygemm_bench)
  install(TARGETS mygemm_bench RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
endif()

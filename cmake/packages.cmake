# Debian packages: `cpack -G DEB` makes libmygemm0, libmygemm-dev, mygemm-dropin and mygemm-tools out
# of the components of install.cmake.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "mygemm developers <mygemm@example.org>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL runtime development tools)
if(drop_ins)
  list(APPEND CPACK_COMPONENTS_ALL dropin)
endif()
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)

set(library_package libmygemm${PROJECT_VERSION_MAJOR})
set(same_version "${library_package} (= ${PROJECT_VERSION})")

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME ${library_package})
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SUGGESTS "libopenblas0-pthread | libblis4-pthread")
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "${PROJECT_DESCRIPTION} (library)
 FP32 matrix products, row softmax and matrix transposes on NVIDIA GPUs, and on the
 processor where there is none.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libmygemm-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${same_version}")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "${PROJECT_DESCRIPTION} (development files)
 The C header, and files for CMake and pkg-config.")

set(CPACK_DEBIAN_DROPIN_PACKAGE_NAME mygemm-dropin)
set(CPACK_DEBIAN_DROPIN_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_DROPIN_PACKAGE_DEPENDS "${same_version}")
set(CPACK_COMPONENT_DROPIN_DESCRIPTION "${PROJECT_DESCRIPTION} (drop-in libraries)
 Preloaded or linked before another library, they take its calls: libmygemm_blas.so those
 of a BLAS, libmygemm_cublas.so those of cuBLAS.")

set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME mygemm-tools)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_TOOLS_PACKAGE_DEPENDS "${same_version}")
set(CPACK_COMPONENT_TOOLS_DESCRIPTION "${PROJECT_DESCRIPTION} (commands)
 mygemm, which works on .npy files, and mygemm-bench.")

include(CPack)

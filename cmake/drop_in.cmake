# mygemm_drop_in(<target> <version script>): a library that stands before another one of the same
# functions. It finds libmygemm.so beside itself, and its names have no version: see the script.
function(mygemm_drop_in target symbols)
  set_target_properties(${target} PROPERTIES
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
    BUILD_RPATH "$ORIGIN" INSTALL_RPATH "$ORIGIN"
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    LINK_DEPENDS ${symbols})
  target_link_options(${target} PRIVATE
    -Wl,--version-script=${symbols} -Wl,--exclude-libs,ALL -Wl,-z,now -Wl,-z,defs
    -static-libgcc -static-libstdc++)
endfunction()

# mygemm_drop_in(<target> <name> <version script>): a library that stands before another one with the
# same functions, in find_package mygemm::<name>. It finds libmygemm.so beside itself. Its symbols
# have no version: a preloaded library with a version node of its own is passed over, in silence, by
# programs that were linked to the other library's.
function(mygemm_drop_in target name symbols)
  set_target_properties(${target} PROPERTIES
    EXPORT_NAME ${name}
    VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
    INSTALL_RPATH $ORIGIN BUILD_WITH_INSTALL_RPATH ON
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    LINK_DEPENDS ${symbols})
  target_link_options(${target} PRIVATE
    -Wl,--version-script=${symbols} -Wl,--exclude-libs,ALL -Wl,-z,now -Wl,-z,defs
    -Wl,-Bsymbolic-functions -static-libgcc -static-libstdc++)
endfunction()

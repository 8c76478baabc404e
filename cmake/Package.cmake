# Debian packages by `cpack -G DEB` (./dev package, docs/packages.md): nexusfix is the component tool, libnexusfix-dev the
# component develop, nexusfix-dbgsym the debug symbols of nfx. The libraries are static, so that programs need no package
# of them.
if(NOT nfx_library_type STREQUAL "STATIC_LIBRARY" OR NOT TARGET nfx)
  message(STATUS "packages: made of static libraries and nfx alone, so this build makes none")
  return()
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL tool develop)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_PACKAGE_NAME nexusfix)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
# The first line of each description; the components have the rest.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "low-latency FIX engine")
set(CPACK_PACKAGE_CONTACT "NexusFIX contributors <maintainers@nexusfix.invalid>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
# cpack moves the debug symbols of nfx to nexusfix-dbgsym; with CPACK_STRIP_FILES=ON there is no such package.
set(CPACK_STRIP_FILES OFF)
set(CPACK_DEBIAN_TOOL_DEBUGINFO_PACKAGE ON)
# Whatever the umask of the user who builds.
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_BINARY_DIR}/package/stage.cmake)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(package_scripts ${PROJECT_SOURCE_DIR}/packaging/debian)
set(CPACK_DEBIAN_TOOL_PACKAGE_NAME nexusfix)
set(CPACK_DEBIAN_TOOL_PACKAGE_SECTION net)
set(CPACK_DEBIAN_TOOL_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_TOOL_PACKAGE_DEPENDS "adduser")
set(CPACK_DEBIAN_TOOL_PACKAGE_RECOMMENDS "tzdata")
set(CPACK_DEBIAN_TOOL_PACKAGE_SUGGESTS "libfabric1")
set(CPACK_DEBIAN_TOOL_PACKAGE_CONTROL_EXTRA ${package_scripts}/postinst ${package_scripts}/prerm ${package_scripts}/postrm)
set(CPACK_COMPONENT_TOOL_DESCRIPTION "Runs, checks and monitors FIX sessions: nfx serve, nfx connect, nfx decode,
 nfx top and others, FIX dictionaries, a systemd unit, alert rules, a
 dashboard, documentation and examples.")

# What a program that is linked with the static libraries is also linked with.
set(package_libraries libabsl-dev libhwloc-dev libpugixml-dev libssl-dev libtomlplusplus-dev liburing-dev)
if(simdjson_FOUND)
  list(APPEND package_libraries libsimdjson-dev)
endif()
if(NFX_STATIC_NATS)
  list(APPEND package_libraries libnats-dev)
endif()
list(JOIN package_libraries ", " package_libraries)
set(CPACK_DEBIAN_DEVELOP_PACKAGE_NAME libnexusfix-dev)
set(CPACK_DEBIAN_DEVELOP_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOP_PACKAGE_DEPENDS "${package_libraries}")
# Of the same version: its CMake files name nfx and the dictionaries.
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
set(CPACK_COMPONENT_DEVELOP_DEPENDS tool)
set(CPACK_COMPONENT_DEVELOP_DESCRIPTION "For programs that are FIX engines: headers, static libraries, and files for
 CMake and pkg-config.")

# The unit as configured for the packages' prefix.
set(package_bindir ${CMAKE_INSTALL_FULL_BINDIR})
set(CMAKE_INSTALL_FULL_BINDIR /usr/bin)
configure_file(${PROJECT_SOURCE_DIR}/packaging/systemd/nexusfix.service.in ${PROJECT_BINARY_DIR}/package/nexusfix.service @ONLY)
set(CMAKE_INSTALL_FULL_BINDIR ${package_bindir})
configure_file(${package_scripts}/stage.cmake.in ${PROJECT_BINARY_DIR}/package/stage.cmake @ONLY)
include(CPack)

# Packages by `cpack -G DEB` and `cpack -G RPM` (./dev package, docs/packages.md). Debian: nexusfix is the component tool,
# libnexusfix-dev the component develop, nexusfix-dbgsym the debug symbols of nfx. RPM: nexusfix, nexusfix-devel,
# nexusfix-debuginfo. The libraries are static, so that programs need no package of them.
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
set(CPACK_PACKAGE_VENDOR "NexusFIX contributors")
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
if(NFX_STATIC_AF_XDP)
  list(APPEND package_libraries libbpf-dev liblwip-dev libxdp-dev)
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

# RPM finds out by itself which shared libraries nfx needs, and from the files of pkg-config what nexusfix-devel needs:
# pkgconfig(hwloc), whatever the distribution calls its package.
set(CPACK_RPM_COMPONENT_INSTALL ON)
set(CPACK_RPM_MAIN_COMPONENT tool)
set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_LICENSE MIT)
set(CPACK_RPM_PACKAGE_SUMMARY "Low-latency FIX engine")
set(CPACK_RPM_SPEC_MORE_DEFINE "%define _libdir /usr/${CMAKE_INSTALL_LIBDIR}\n%define _build_id_links none\n%define packager ${CPACK_PACKAGE_CONTACT}")
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION /usr/share/man /usr/share/man/man1 /usr/share/bash-completion
  /usr/share/bash-completion/completions /usr/share/fish /usr/share/fish/vendor_completions.d /usr/share/zsh
  /usr/share/zsh/site-functions /usr/share/licenses /usr/lib/systemd /usr/lib/systemd/system /usr/lib/debug
  /usr/lib/debug/.build-id /usr/${CMAKE_INSTALL_LIBDIR} /usr/${CMAKE_INSTALL_LIBDIR}/cmake /usr/${CMAKE_INSTALL_LIBDIR}/pkgconfig)
set(CPACK_RPM_TOOL_PACKAGE_NAME nexusfix)
set(CPACK_RPM_TOOL_PACKAGE_REQUIRES_POST "/usr/sbin/useradd")
set(CPACK_RPM_TOOL_PACKAGE_SUGGESTS "libfabric")
set(CPACK_RPM_TOOL_POST_INSTALL_SCRIPT_FILE ${PROJECT_SOURCE_DIR}/packaging/rpm/post)
set(CPACK_RPM_TOOL_PRE_UNINSTALL_SCRIPT_FILE ${PROJECT_SOURCE_DIR}/packaging/rpm/preun)
set(CPACK_RPM_TOOL_POST_UNINSTALL_SCRIPT_FILE ${PROJECT_SOURCE_DIR}/packaging/rpm/postun)
set(CPACK_RPM_DEVELOP_PACKAGE_NAME nexusfix-devel)
set(CPACK_RPM_DEVELOP_PACKAGE_REQUIRES "nexusfix = ${PROJECT_VERSION}")
set(CPACK_RPM_DEBUGINFO_PACKAGE_NAME nexusfix-debuginfo)
set(CPACK_RPM_DEBUGINFO_PACKAGE_REQUIRES "nexusfix = ${PROJECT_VERSION}")
set(CPACK_COMPONENT_DEBUGINFO_DESCRIPTION "Debug symbols of nfx, for debuggers and profilers.")
# The folder that stage.cmake writes the debug symbols to. Only packages of RPM have this component.
install(DIRECTORY DESTINATION lib/debug COMPONENT debuginfo EXCLUDE_FROM_ALL)
file(WRITE ${PROJECT_BINARY_DIR}/package/generator.cmake
  "if(CPACK_GENERATOR STREQUAL RPM AND NOT CPACK_STRIP_FILES)\n  list(APPEND CPACK_COMPONENTS_ALL debuginfo)\nendif()\n")
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_BINARY_DIR}/package/generator.cmake)

# The unit as configured for the packages' prefix.
set(package_bindir ${CMAKE_INSTALL_FULL_BINDIR})
set(CMAKE_INSTALL_FULL_BINDIR /usr/bin)
configure_file(${PROJECT_SOURCE_DIR}/packaging/systemd/nexusfix.service.in ${PROJECT_BINARY_DIR}/package/nexusfix.service @ONLY)
set(CMAKE_INSTALL_FULL_BINDIR ${package_bindir})
configure_file(${PROJECT_SOURCE_DIR}/packaging/stage.cmake.in ${PROJECT_BINARY_DIR}/package/stage.cmake @ONLY)
include(CPack)

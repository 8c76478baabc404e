# Components, which are packages in cmake/Package.cmake: tool, develop, license.
# What `cmake --install` gives: headers, one library per component, nfx, the dictionaries, and packages that
# find_package(NexusFIX COMPONENTS ...) and pkg-config (nexusfix-fix, nexusfix-engine, nexusfix-host, nexusfix-market,
# nexusfix-fabric, nexusfix-cluster, nexusfix-control, nexusfix-testing) find. The target `uninstall` removes what the last installation from this build wrote.
include(CMakePackageConfigHelpers)

get_property(nfx_libraries GLOBAL PROPERTY NFX_LIBRARIES)
list(TRANSFORM nfx_libraries PREPEND nexusfix_ OUTPUT_VARIABLE nfx_library_targets)

# Before 1.0 every minor version may change the binary interface, so it is part of a shared library's name.
set_target_properties(${nfx_library_targets} PROPERTIES
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
get_target_property(nfx_library_type nexusfix_engine TYPE)
if(nfx_library_type STREQUAL "SHARED_LIBRARY" AND TARGET nfx)
  # nfx finds the libraries it was installed with, wherever the prefix is moved to, and they find each other.
  file(RELATIVE_PATH nfx_bin_to_lib ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
  set_target_properties(nfx PROPERTIES INSTALL_RPATH "$ORIGIN/${nfx_bin_to_lib}")
  set_target_properties(${nfx_library_targets} PROPERTIES INSTALL_RPATH "$ORIGIN")
endif()

install(TARGETS ${nfx_library_targets} EXPORT nexusfixTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT develop
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT develop
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT develop)
install(DIRECTORY include/nexusfix DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT develop FILES_MATCHING PATTERN "*.hpp"
  PATTERN package_folder.hpp EXCLUDE)
# The installed one leads to the dictionaries beside it.
set(nfx_header_folder ${CMAKE_INSTALL_INCLUDEDIR}/nexusfix/dictionary)
file(RELATIVE_PATH nfx_header_to_dictionaries ${CMAKE_INSTALL_FULL_INCLUDEDIR}/nexusfix/dictionary/package_folder.hpp
  ${CMAKE_INSTALL_FULL_DATADIR}/nexusfix/dictionaries)
string(CONFIGURE [[
Every unit that includes it has the same.
inline const bool package_folder_is_set = set_package_folder(__FILE__ "/@nfx_header_to_dictionaries@");]]
  NFX_PACKAGE_FOLDER @ONLY)
configure_file(include/nexusfix/dictionary/package_folder.hpp ${PROJECT_BINARY_DIR}/package_folder.hpp @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/package_folder.hpp DESTINATION ${nfx_header_folder} COMPONENT develop)
install(DIRECTORY dictionaries DESTINATION ${CMAKE_INSTALL_DATADIR}/nexusfix COMPONENT tool FILES_MATCHING PATTERN "*.xml")
install(DIRECTORY monitoring DESTINATION ${CMAKE_INSTALL_DATADIR}/nexusfix COMPONENT tool)
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT tool)
install(FILES README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT tool)
install(FILES tests/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/tests COMPONENT tool)
install(FILES bench/README.md bench/RESULTS.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/bench COMPONENT tool)
install(FILES bench/engine/league/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/bench/engine/league COMPONENT tool)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT license)
# An engine as a service: docs/monitoring.md.
configure_file(packaging/systemd/nexusfix.service.in ${PROJECT_BINARY_DIR}/nexusfix.service @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/nexusfix.service DESTINATION lib/systemd/system COMPONENT tool)

# Whoever links the static library also links what it is made with; the shared library brings that itself.
if(nfx_library_type STREQUAL "STATIC_LIBRARY")
  set(NFX_STATIC TRUE)
  set(nfx_packages_of_fix "pugixml")
  set(nfx_packages_of_engine " tomlplusplus absl_time absl_flat_hash_map hwloc liburing libssl libcrypto")
  set(NFX_STATIC_AF_XDP FALSE)
  if(TARGET PkgConfig::af_xdp)
    string(APPEND nfx_packages_of_engine " libxdp libbpf lwip")
    set(NFX_STATIC_AF_XDP TRUE)
  endif()
  set(nfx_packages_of_market "")
  if(simdjson_FOUND)
    set(nfx_packages_of_market " simdjson")
  endif()
  set(nfx_packages_of_cluster "")
  set(NFX_STATIC_NATS FALSE)
  if(TARGET PkgConfig::libnats)
    set(nfx_packages_of_cluster " libnats")
    set(NFX_STATIC_NATS TRUE)
  endif()
else()
  set(NFX_STATIC FALSE)
  set(NFX_STATIC_AF_XDP FALSE)
  set(NFX_STATIC_NATS FALSE)
  set(nfx_packages_of_cluster "")
  set(nfx_packages_of_fix "")
  set(nfx_packages_of_engine "")
  set(nfx_packages_of_market "")
  set(nfx_packages_of_fabric "")
endif()

# One name for both spellings, NexusFIX and nexusfix.
set(nfx_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/nexusfix)
install(EXPORT nexusfixTargets NAMESPACE nexusfix:: DESTINATION ${nfx_package_dir} COMPONENT develop)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/nexusfix-config.cmake.in
  ${PROJECT_BINARY_DIR}/nexusfix-config.cmake INSTALL_DESTINATION ${nfx_package_dir}
  PATH_VARS CMAKE_INSTALL_DATADIR CMAKE_INSTALL_BINDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/nexusfix-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/nexusfix-config.cmake ${PROJECT_BINARY_DIR}/nexusfix-config-version.cmake
  ${CMAKE_CURRENT_LIST_DIR}/NexusfixGenerate.cmake
  DESTINATION ${nfx_package_dir} COMPONENT develop)

# A .pc file finds its prefix from where it is, so that an installed tree can be moved.
file(RELATIVE_PATH NFX_PC_TO_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
foreach(NFX_PC_LIBRARY IN LISTS nfx_libraries)
  if(NFX_PC_LIBRARY STREQUAL "fix")
    set(NFX_PC_REQUIRES "${nfx_packages_of_fix}")
  elseif(NFX_PC_LIBRARY STREQUAL "engine")
    set(NFX_PC_REQUIRES "nexusfix-fix = ${PROJECT_VERSION}${nfx_packages_of_engine}")
  else()
    set(NFX_PC_REQUIRES "nexusfix-engine = ${PROJECT_VERSION}${nfx_packages_of_${NFX_PC_LIBRARY}}")
  endif()
  configure_file(${CMAKE_CURRENT_LIST_DIR}/nexusfix.pc.in ${PROJECT_BINARY_DIR}/nexusfix-${NFX_PC_LIBRARY}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/nexusfix-${NFX_PC_LIBRARY}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT develop)
endforeach()

configure_file(${CMAKE_CURRENT_LIST_DIR}/uninstall.cmake.in ${PROJECT_BINARY_DIR}/uninstall.cmake @ONLY)
if(NOT TARGET uninstall)
  add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -P ${PROJECT_BINARY_DIR}/uninstall.cmake VERBATIM)
endif()
# Builds what is installed, and no tests or benchmarks.
if(NOT TARGET installable)
  add_custom_target(installable DEPENDS ${nfx_library_targets})
  foreach(target IN ITEMS nfx nfx_documents nexusfix_messages_files)
    if(TARGET ${target})
      add_dependencies(installable ${target})
    endif()
  endforeach()
endif()

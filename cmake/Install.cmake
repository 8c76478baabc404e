# What `cmake --install` gives: headers, libnexusfix, nfx, the dictionaries, and a package that
# find_package(nexusfix) and pkg-config find.
include(CMakePackageConfigHelpers)

# Before 1.0 every minor version may change the binary interface, so it is part of the shared library's name.
set_target_properties(nexusfix PROPERTIES
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
get_target_property(nfx_library_type nexusfix TYPE)
if(nfx_library_type STREQUAL "SHARED_LIBRARY" AND TARGET nfx)
  # nfx finds the library it was installed with, wherever the prefix is moved to.
  file(RELATIVE_PATH nfx_bin_to_lib ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
  set_target_properties(nfx PROPERTIES INSTALL_RPATH "$ORIGIN/${nfx_bin_to_lib}")
endif()

install(TARGETS nexusfix EXPORT nexusfixTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY include/nexusfix DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
install(DIRECTORY dictionaries DESTINATION ${CMAKE_INSTALL_DATADIR}/nexusfix FILES_MATCHING PATTERN "*.xml")
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# Whoever links the static library also links what it is made with; the shared library brings that itself.
if(nfx_library_type STREQUAL "STATIC_LIBRARY")
  set(NFX_STATIC TRUE)
  set(NFX_PC_REQUIRES "pugixml tomlplusplus absl_time absl_flat_hash_map hwloc liburing libssl")
else()
  set(NFX_STATIC FALSE)
  set(NFX_PC_REQUIRES "")
endif()

set(nfx_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/nexusfix)
install(EXPORT nexusfixTargets NAMESPACE nexusfix:: DESTINATION ${nfx_package_dir})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/nexusfixConfig.cmake.in
  ${PROJECT_BINARY_DIR}/nexusfixConfig.cmake INSTALL_DESTINATION ${nfx_package_dir}
  PATH_VARS CMAKE_INSTALL_DATADIR CMAKE_INSTALL_BINDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/nexusfixConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/nexusfixConfig.cmake ${PROJECT_BINARY_DIR}/nexusfixConfigVersion.cmake
  ${CMAKE_CURRENT_LIST_DIR}/NexusfixGenerate.cmake
  DESTINATION ${nfx_package_dir})

# The .pc file finds its prefix from where it lies, so that an installed tree can be moved.
file(RELATIVE_PATH NFX_PC_TO_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(${CMAKE_CURRENT_LIST_DIR}/nexusfix.pc.in ${PROJECT_BINARY_DIR}/nexusfix.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/nexusfix.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# Turns layers.txt into targets: one object library per module, and one library for users per product, which is the name in
# front of the slash (nexusfix::fix, nexusfix::engine, nexusfix::market, nexusfix::fabric, nexusfix::cluster,
# nexusfix::control, nexusfix::host, nexusfix::testing).

# The flags that every target of this build gets.
macro(nfx_common_options)
  add_compile_options(-Wall -Wextra -Wconversion -Wshadow)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # g++ 12 sees an overlap in every optimised `"literal" + std::string`.
    add_compile_options(-Wno-restrict)
    # What it finds inside its own headers is reported as an error of ours when they are precompiled.
    add_compile_options(-Wno-stringop-overflow -Wno-stringop-overread -Wno-array-bounds)
  endif()
  if(NFX_WERROR)
    add_compile_options(-Werror)
  endif()
  if(NFX_SANITIZE)
    add_compile_options(-fsanitize=${NFX_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${NFX_SANITIZE})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
      # With sanitizers g++ 12 takes members of its own <regex> for uninitialised.
      add_compile_options(-Wno-maybe-uninitialized)
      # Its checks for null are made in constant expressions too, and there the address of an inline variable is one that
      # may be null. clang++ has these checks, and the address sanitizer finds what dereferences a null pointer.
      add_compile_options(-fno-sanitize=null,nonnull-attribute,returns-nonnull-attribute)
    endif()
  endif()
  if(NFX_HARDENING AND NOT NFX_SANITIZE)
    nfx_hardening_options()
  endif()
  if(NFX_BUILD_FUZZ)
    # Coverage for the whole library; the fuzz targets add the fuzzer's main.
    add_compile_options(-fsanitize=fuzzer-no-link)
    add_link_options(-fsanitize=fuzzer-no-link)
  endif()
  if(NFX_PROFILE)
    nfx_profile_options()
  endif()
  # A faster linker where one is installed; the compiler's own otherwise.
  if(NOT CMAKE_CROSSCOMPILING AND NOT NFX_BUILD_FUZZ)
    find_program(NFX_LINKER NAMES mold ld.gold)
    mark_as_advanced(NFX_LINKER)
    if(NFX_LINKER MATCHES "mold$")
      add_link_options(-fuse-ld=mold)
    elseif(NFX_LINKER)
      add_link_options(-fuse-ld=gold)
    endif()
  endif()
endmacro()

# A profile belongs to the object file of each source, by its path in the build folder.
macro(nfx_profile_options)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    message(FATAL_ERROR "NFX_PROFILE needs g++: its options are not those of ${CMAKE_CXX_COMPILER_ID}")
  endif()
  add_compile_options(-fprofile-prefix-path=${CMAKE_BINARY_DIR})
  if(NFX_TRAIN)
    add_compile_options(-fprofile-generate=${NFX_PROFILE} -fprofile-update=prefer-atomic)
    add_link_options(-fprofile-generate)
  else()
    # What the training does not run is compiled as without a profile, not for size.
    add_compile_options(-fprofile-use=${NFX_PROFILE} -fprofile-partial-training -Wno-missing-profile)
  endif()
endmacro()

# Code that runs once, or that only waits: commands, configuration, tests. In release builds it is compiled with less
# effort, which takes half the time.
function(nfx_cold target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  set_target_properties(${target} PROPERTIES NFX_COLD TRUE)
endfunction()

# Compiles files of a target some at a time, because half of the time is spent on what they include and instantiate alike.
# Names in anonymous namespaces have to differ within such a batch; what others have is excluded as below. A build without
# precompiled headers (presets lint and fuzz) compiles each file alone, which proves that it includes what it uses.
function(nfx_batched target files)
  if(NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${files})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # A struct of a .cpp file with a member of an anonymous namespace, which the batch includes.
      target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
    endif()
  endif()
endfunction()

# Files of the given ones that are compiled alone: another file has their names, or they take as long as a batch.
macro(nfx_not_batched)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endmacro()

# What Debian and Fedora build their own packages with: stack protector, checked copies into buffers of known size, probes
# of large stack frames, branch targets marked for CET or BTI, and symbols bound before main() into read-only memory.
macro(nfx_hardening_options)
  add_compile_options($<$<CONFIG:Release>:-fstack-protector-strong> $<$<CONFIG:Release>:-fstack-clash-protection>
    $<$<CONFIG:Release>:-U_FORTIFY_SOURCE> $<$<CONFIG:Release>:-D_FORTIFY_SOURCE=2>)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
    add_compile_options($<$<CONFIG:Release>:-fcf-protection=full>)
  elseif(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
    add_compile_options($<$<CONFIG:Release>:-mbranch-protection=standard>)
  endif()
  add_link_options($<$<CONFIG:Release>:LINKER:-z,relro,-z,now,-z,noexecstack>)
endmacro()

# The headers of the standard library that most files use, compiled once for all targets with the same flags. Each
# file still includes what it uses: a build with CMAKE_DISABLE_PRECOMPILE_HEADERS proves it.
set(NFX_STANDARD_HEADERS
  <algorithm> <array> <atomic> <charconv> <chrono> <cstddef> <cstdint> <cstring> <expected> <filesystem> <functional>
  <map> <memory> <mutex> <optional> <set> <span> <sstream> <stdexcept> <string> <string_view> <thread> <utility>
  <variant> <vector>)

# Each kind of target (library, program, test; each cold or not) has one precompiled header: a compiler takes it only
# where the flags are equal, and g++ 12 fails where the level of optimisation differs. A target of its own makes it, for
# who uses the header of another target waits for all of that. Call it after nfx_cold().
function(nfx_precompiled_headers target kind)
  set(owner nfx_headers_${kind})
  get_target_property(cold ${target} NFX_COLD)
  if(cold)
    string(APPEND owner _cold)
  endif()
  if(NOT TARGET ${owner})
    set(empty ${PROJECT_BINARY_DIR}/empty.cpp)
    file(CONFIGURE OUTPUT ${empty} CONTENT "")
    add_library(${owner} OBJECT ${empty})
    if(cold)
      nfx_cold(${owner})
    endif()
    if(NOT kind STREQUAL "library")
      set_target_properties(${owner} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
      target_compile_options(${owner} PRIVATE ${CMAKE_CXX_COMPILE_OPTIONS_PIE})
    endif()
    if(kind STREQUAL "test")
      target_link_libraries(${owner} PRIVATE GTest::gtest)
    endif()
    target_precompile_headers(${owner} PRIVATE ${NFX_STANDARD_HEADERS} ${ARGN})
  endif()
  target_precompile_headers(${target} REUSE_FROM ${owner})
endfunction()

# The libraries and programs that the folders of a directory make and that have none yet. What has flags of its own, or
# another standard, is compiled without.
function(nfx_precompiled_headers_below directory)
  get_property(folders DIRECTORY ${directory} PROPERTY SUBDIRECTORIES)
  foreach(folder IN LISTS folders)
    get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
    get_property(usual DIRECTORY ${folder} PROPERTY COMPILE_OPTIONS)
    foreach(target IN LISTS targets)
      get_target_property(type ${target} TYPE)
      get_target_property(standard ${target} CXX_STANDARD)
      get_target_property(options ${target} COMPILE_OPTIONS)
      get_target_property(cold ${target} NFX_COLD)
      get_target_property(owner ${target} PRECOMPILE_HEADERS_REUSE_FROM)
      if(owner OR NOT standard EQUAL 23 OR NOT (cold OR options STREQUAL usual))
        continue()
      endif()
      if("cold" IN_LIST ARGN AND NOT cold)
        nfx_cold(${target})
      endif()
      if(type STREQUAL "EXECUTABLE")
        nfx_precompiled_headers(${target} program)
      elseif(type MATCHES "^(STATIC|OBJECT)_LIBRARY$")
        nfx_precompiled_headers(${target} library)
      endif()
    endforeach()
  endforeach()
endfunction()

# Each vector kernel is one file with the flags of its instruction set, which nothing else gets: those of its row in
# kernel_rows.hpp. On other architectures the file is empty.
function(nfx_kernel_flags)
  set(kernels ${PROJECT_SOURCE_DIR}/src/fix/wire/kernels)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${kernels}/kernel_rows.hpp)
  string(REPLACE AMD64 x86_64 processor ${CMAKE_SYSTEM_PROCESSOR})
  file(READ ${kernels}/kernel_rows.hpp text)
  string(REGEX MATCHALL "row\\([a-z0-9_]+, [a-z0-9_]+, \"[^\"]*\"" rows "${text}")
  foreach(row IN LISTS rows)
    string(REGEX MATCH "row\\(([a-z0-9_]+), ([a-z0-9_]+), \"([^\"]*)\"" matched "${row}")
    set(architecture ${CMAKE_MATCH_1})
    set(file ${kernels}/${CMAKE_MATCH_2}.cpp)
    nfx_not_batched(${file})
    separate_arguments(options UNIX_COMMAND "${CMAKE_MATCH_3}")
    if(architecture STREQUAL processor AND options)
      if(options MATCHES "avx512" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
        # Its own headers build "undefined" vectors from uninitialised variables.
        list(APPEND options -Wno-uninitialized -Wno-maybe-uninitialized)
      endif()
      set_source_files_properties(${file} PROPERTIES COMPILE_OPTIONS "${options}" SKIP_PRECOMPILE_HEADERS ON)
    endif()
  endforeach()
endfunction()

# The outside libraries, each seen by the one module that uses it. Header-only ones are not linked.
set(NFX_PACKAGES_dictionary pugixml::pugixml)
set(NFX_PACKAGES_placement PkgConfig::hwloc)
set(NFX_HEADERS_placement nlohmann_json::nlohmann_json)
set(NFX_PACKAGES_transport PkgConfig::liburing OpenSSL::SSL OpenSSL::Crypto)
set(NFX_PACKAGES_config tomlplusplus::tomlplusplus absl::time)
set(NFX_PACKAGES_engine absl::flat_hash_map Threads::Threads)
set(NFX_HEADERS_engine nlohmann_json::nlohmann_json)
set(NFX_HEADERS_host nlohmann_json::nlohmann_json)
set(NFX_HEADERS_nats nlohmann_json::nlohmann_json)
set(NFX_PACKAGES_nats PkgConfig::libnats OpenSSL::Crypto)
set(NFX_HEADERS_control nlohmann_json::nlohmann_json)
set(NFX_PACKAGES_control OpenSSL::SSL OpenSSL::Crypto)

# Modules that run before the first message, beside the engine, or in tests; and those of their files that messages pass.
set(NFX_COLD_MODULES dictionary placement config host nats control testing)
set(NFX_HOT_FILES
  src/fix/dictionary/dictionary.cpp src/fix/dictionary/field_type.cpp src/fix/dictionary/validation_policy.cpp
  src/fix/dictionary/validator.cpp)

# Files that have names of others.
set(NFX_ALONE engine/config/quickfix_tls.cpp host/host/apply/report.cpp host/host/boot/kernel.cpp host/host/boot/network.cpp
  host/host/noise/noise_json.cpp host/host/topology/topology_json.cpp host/host/topology/topology_svg.cpp
  host/host/topology/topology_text.cpp market/market/itch_generator.cpp engine/transport/tls_facts.cpp)

function(nfx_add_library library)
  add_library(nexusfix_${library})
  add_library(nexusfix::${library} ALIAS nexusfix_${library})
  set_target_properties(nexusfix_${library} PROPERTIES EXPORT_NAME ${library})
  target_include_directories(nexusfix_${library} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(nexusfix_${library} PUBLIC cxx_std_23)
  target_link_libraries(nexusfix_${library} PUBLIC Threads::Threads)
  if(library STREQUAL "engine")
    target_link_libraries(nexusfix_engine PUBLIC nexusfix_fix)
  elseif(TARGET nexusfix_engine)
    target_link_libraries(nexusfix_${library} PUBLIC nexusfix_engine)
  elseif(NOT library STREQUAL "fix")  # a build of some modules, none of which is the engine's
    target_link_libraries(nexusfix_${library} PUBLIC nexusfix_fix)
  endif()
  set_property(GLOBAL APPEND PROPERTY NFX_LIBRARIES ${library})
endfunction()

function(nfx_add_module library module)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${library}/${module}/*.cpp)
  if(NOT sources)
    return()
  endif()
  if(NOT TARGET nexusfix_${library})
    nfx_add_library(${library})
  endif()
  add_library(nfx_${module} OBJECT ${sources})
  target_include_directories(nfx_${module} PRIVATE ${PROJECT_SOURCE_DIR}/include ${NFX_PRIVATE_FOLDERS})
  target_sources(nexusfix_${library} PRIVATE $<TARGET_OBJECTS:nfx_${module}>)
  if(module IN_LIST NFX_COLD_MODULES)
    nfx_cold(nfx_${module})
  endif()
  nfx_batched(nfx_${module} 4)
  nfx_precompiled_headers(nfx_${module} library)
  foreach(package IN LISTS NFX_PACKAGES_${module} NFX_HEADERS_${module})
    if(TARGET ${package})
      target_link_libraries(nfx_${module} PRIVATE ${package})
      if(package IN_LIST NFX_PACKAGES_${module})
        target_link_libraries(nexusfix_${library} PRIVATE ${package})
      endif()
    endif()
  endforeach()
endfunction()

# Sets `variable` to the folders of the products in src or tests: a header of src/PRODUCT/MODULE is included as
# "MODULE/name.hpp".
function(nfx_folders_of_products parent variable)
  file(STRINGS ${PROJECT_SOURCE_DIR}/layers.txt lines REGEX "^[a-z]+/[a-z]+:")
  list(TRANSFORM lines REPLACE "^([a-z]+)/.*" "${PROJECT_SOURCE_DIR}/${parent}/\\1")
  list(REMOVE_DUPLICATES lines)
  set(${variable} ${lines} PARENT_SCOPE)
endfunction()

function(nfx_add_modules layers_file)
  file(GLOB doctor_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/host/host/doctor/*.cpp)
  list(TRANSFORM NFX_ALONE PREPEND ${PROJECT_SOURCE_DIR}/src/ OUTPUT_VARIABLE alone)
  nfx_not_batched(${doctor_files} ${alone})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${layers_file})
  file(STRINGS ${layers_file} lines REGEX "^[a-z]+/[a-z]+:")
  foreach(line IN LISTS lines)
    string(REGEX MATCH "^([a-z]+)/([a-z]+):" matched ${line})
    if(NOT NFX_MODULES OR CMAKE_MATCH_2 IN_LIST NFX_MODULES)
      nfx_add_module(${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
    endif()
  endforeach()
  nfx_kernel_flags()
  foreach(file IN LISTS NFX_HOT_FILES)
    set_source_files_properties(${PROJECT_SOURCE_DIR}/${file} PROPERTIES
      COMPILE_OPTIONS $<$<CONFIG:Release>:-O3> SKIP_PRECOMPILE_HEADERS ON)
  endforeach()
  # Where an installed program or library finds the dictionaries, wherever the prefix is moved to.
  set(installed ${CMAKE_INSTALL_FULL_DATADIR}/nexusfix/dictionaries)
  file(RELATIVE_PATH from_programs ${CMAKE_INSTALL_FULL_BINDIR} ${installed})
  file(RELATIVE_PATH from_libraries ${CMAKE_INSTALL_FULL_LIBDIR} ${installed})
  # Of these files alone: a precompiled header is used only where the macros it was made with are defined.
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/fix/dictionary/load.cpp PROPERTIES COMPILE_DEFINITIONS
    "NFX_DICTIONARY_PATH=\"${PROJECT_SOURCE_DIR}/dictionaries:${installed}\";NFX_RELATIVE_DICTIONARY_PATH=\"${from_programs}:${from_libraries}\"")
  if(TARGET simdjson::simdjson AND TARGET nexusfix_market)
    set_source_files_properties(${PROJECT_SOURCE_DIR}/src/market/market/json_reader.cpp PROPERTIES
      COMPILE_DEFINITIONS NFX_WITH_SIMDJSON SKIP_PRECOMPILE_HEADERS ON
      INCLUDE_DIRECTORIES $<TARGET_PROPERTY:simdjson::simdjson,INTERFACE_INCLUDE_DIRECTORIES>)
    target_link_libraries(nexusfix_market PRIVATE simdjson::simdjson)
  endif()
  if(TARGET PkgConfig::libfabric AND TARGET nexusfix_fabric)
    set_source_files_properties(
      ${PROJECT_SOURCE_DIR}/src/fabric/fabric/libfabric_rail.cpp ${PROJECT_SOURCE_DIR}/src/fabric/fabric/libfabric_rail_absent.cpp PROPERTIES
      COMPILE_DEFINITIONS NFX_WITH_LIBFABRIC SKIP_PRECOMPILE_HEADERS ON
      INCLUDE_DIRECTORIES "${libfabric_INCLUDE_DIRS}")  # not linked: loaded when it is used
    target_link_libraries(nexusfix_fabric PRIVATE ${CMAKE_DL_LIBS})
  endif()
  if(TARGET PkgConfig::af_xdp AND TARGET nexusfix_engine)
    set_source_files_properties(${PROJECT_SOURCE_DIR}/src/engine/transport/xdp_socket.cpp
      ${PROJECT_SOURCE_DIR}/src/engine/transport/xdp_stack.cpp
      ${PROJECT_SOURCE_DIR}/src/engine/transport/xdp_transport.cpp
      ${PROJECT_SOURCE_DIR}/src/engine/engine/poll_thread_af_xdp.cpp PROPERTIES
      COMPILE_DEFINITIONS NFX_WITH_AF_XDP SKIP_PRECOMPILE_HEADERS ON INCLUDE_DIRECTORIES "${af_xdp_INCLUDE_DIRS}")
    target_link_libraries(nexusfix_engine PRIVATE PkgConfig::af_xdp)
  endif()
  if(TARGET PkgConfig::libnats AND TARGET nexusfix_cluster)
    set_source_files_properties(${PROJECT_SOURCE_DIR}/src/cluster/nats/checked_input.cpp
      ${PROJECT_SOURCE_DIR}/src/cluster/nats/connection.cpp ${PROJECT_SOURCE_DIR}/src/cluster/nats/link.cpp
      ${PROJECT_SOURCE_DIR}/src/cluster/nats/nats_operator.cpp ${PROJECT_SOURCE_DIR}/src/cluster/nats/nats_stream.cpp
      ${PROJECT_SOURCE_DIR}/src/cluster/nats/nats_stream_absent.cpp PROPERTIES COMPILE_DEFINITIONS NFX_WITH_NATS SKIP_PRECOMPILE_HEADERS ON)
    target_link_libraries(nexusfix_cluster PRIVATE ${CMAKE_DL_LIBS})
  endif()
  if(NFX_BEAST_INCLUDE_DIR AND TARGET nexusfix_control)
    set(beast NFX_WITH_BEAST)
    if(NFX_SANITIZE STREQUAL "thread")
      # The thread sanitizer knows no fences, and g++ refuses them there. The queue of asio has a mutex besides.
      list(APPEND beast BOOST_ASIO_DISABLE_FENCED_BLOCK)
    endif()
    set_source_files_properties(
      ${PROJECT_SOURCE_DIR}/src/control/control/http_server.cpp
      ${PROJECT_SOURCE_DIR}/src/control/control/client.cpp PROPERTIES
      COMPILE_DEFINITIONS "${beast}" SKIP_PRECOMPILE_HEADERS ON)
  endif()
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/engine/engine/run.cpp
    ${PROJECT_SOURCE_DIR}/src/control/control/engine_target.cpp PROPERTIES COMPILE_DEFINITIONS NFX_VERSION="${PROJECT_VERSION}")
endfunction()

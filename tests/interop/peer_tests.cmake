# Test programs against a counterparty: a program of its own that takes the commands and tells the events of
# quickfix_peer.cpp. What the test programs share is compiled once.
set(NFX_INTEROP_DIR ${CMAKE_CURRENT_LIST_DIR})

if(NOT TARGET nfx_interop)
  add_library(nfx_interop OBJECT
    ${NFX_INTEROP_DIR}/engine_rig.cpp ${NFX_INTEROP_DIR}/trading_application.cpp ${NFX_INTEROP_DIR}/peer_process.cpp)
  add_library(nfx_any_peer OBJECT ${NFX_INTEROP_DIR}/any_peer_test.cpp)
  foreach(part nfx_interop nfx_any_peer)
    target_include_directories(${part} PUBLIC ${NFX_INTEROP_DIR} ${NFX_TEST_FOLDERS})
    target_link_libraries(${part} PUBLIC nexusfix::engine GTest::gtest)
    target_compile_definitions(${part} PRIVATE NFX_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    nfx_cold(${part})
  endforeach()
endif()

# nfx_interop_program(<target> PROGRAM <path> DICTIONARIES <folder> VERSIONS <two> PLAIN_DATA <0|1>
#   [SOURCES <tests>...])
# PLAIN_DATA 1: the counterparty misreads SOH in a data field, or a field after a nested group; rich orders then have
# neither.
function(nfx_interop_program target)
  cmake_parse_arguments(peer "" "PROGRAM;DICTIONARIES;PLAIN_DATA" "VERSIONS;SOURCES" ${ARGN})
  add_executable(${target} ${peer_SOURCES} ${NFX_INTEROP_DIR}/peer_program.cpp)
  set_source_files_properties(${NFX_INTEROP_DIR}/peer_program.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  list(JOIN peer_VERSIONS "\",\"" versions)
  target_compile_definitions(${target} PRIVATE NFX_PEER_PROGRAM="${peer_PROGRAM}"
    NFX_PEER_DICTIONARIES="${peer_DICTIONARIES}" "NFX_PEER_VERSIONS=\"${versions}\""
    NFX_PEER_PLAIN_DATA=${peer_PLAIN_DATA})
  nfx_test_program(${target} nfx_interop)
endfunction()

# nfx_add_any_peer_tests(<name> PROGRAM <path> ...)
#
# What has to hold with every counterparty, as test_any_peer_<name>. The program and the counterparty's own dictionaries
# need not exist before the tests run: the fixture interop.<name> makes them.
function(nfx_add_any_peer_tests name)
  set(target test_any_peer_${name})
  nfx_interop_program(${target} ${ARGN})
  target_link_libraries(${target} PRIVATE nfx_any_peer)
  gtest_discover_tests(${target} DISCOVERY_TIMEOUT 600 TEST_PREFIX "interop.${name}."
    PROPERTIES LABELS interop FIXTURES_REQUIRED interop.${name})
endfunction()

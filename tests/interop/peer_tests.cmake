# nfx_add_any_peer_tests(<name> PROGRAM <path> DICTIONARIES <folder> PLAIN_DATA <0|1> [SOURCES <tests of its own>...])
#
# Builds any_peer_test.cpp as test_any_peer_<name> against a counterparty's program that takes the commands and tells the
# events of quickfix_peer.cpp. The program and the counterparty's own dictionaries need not exist before the tests run:
# the fixture interop.<name> makes them. PLAIN_DATA 1: it misreads SOH in a data field, or a field
# behind a nested group; rich orders then have neither.
set(NFX_INTEROP_DIR ${CMAKE_CURRENT_LIST_DIR})

function(nfx_add_any_peer_tests name)
  cmake_parse_arguments(peer "" "PROGRAM;DICTIONARIES;PLAIN_DATA" SOURCES ${ARGN})
  set(target test_any_peer_${name})
  add_executable(${target} ${peer_SOURCES})
  target_include_directories(${target} PRIVATE ${NFX_INTEROP_DIR})
  foreach(source any_peer_test engine_rig trading_application peer_process)
    target_sources(${target} PRIVATE ${NFX_INTEROP_DIR}/${source}.cpp)
  endforeach()
  target_compile_definitions(${target} PRIVATE
    NFX_QUICKFIX_PEER="${peer_PROGRAM}"
    NFX_PEER_DICTIONARIES="${peer_DICTIONARIES}" NFX_PEER_PLAIN_DATA=${peer_PLAIN_DATA})
  nfx_test_program(${target} nexusfix::core)
  gtest_discover_tests(${target} TEST_PREFIX "interop.${name}."
    PROPERTIES LABELS interop TIMEOUT 180 FIXTURES_REQUIRED interop.${name})
endfunction()

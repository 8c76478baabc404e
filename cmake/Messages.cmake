# Typed messages of each shipped dictionary, for programs that include <nexusfix/fix44.hpp> and so on: in this build by
# linking nexusfix_messages, installed beside the other headers.
include(NexusfixGenerate)

set(nfx_messages_dir ${PROJECT_BINARY_DIR}/messages)
add_custom_target(nexusfix_messages_files ALL)
add_library(nexusfix_messages INTERFACE)
add_dependencies(nexusfix_messages nexusfix_messages_files)
target_include_directories(nexusfix_messages INTERFACE ${nfx_messages_dir})
foreach(dictionary IN ITEMS FIX40 FIX41 FIX42 FIX43 FIX44 FIX50 FIX50SP1 FIX50SP2)
  string(TOLOWER ${dictionary} name)
  set(transport)
  if(dictionary MATCHES "^FIX50")
    set(transport TRANSPORT ${PROJECT_SOURCE_DIR}/dictionaries/FIXT11.xml)
  endif()
  nexusfix_generate(TARGET nexusfix_${name} NAMESPACE ${name} INCLUDE_DIR ${nfx_messages_dir}/nexusfix
    DICTIONARY ${PROJECT_SOURCE_DIR}/dictionaries/${dictionary}.xml ${transport})
  add_dependencies(nexusfix_messages_files nexusfix_${name}_files)
  set(header ${nfx_messages_dir}/nexusfix/${name}.hpp)
  file(CONFIGURE OUTPUT ${header} @ONLY CONTENT [[
// All messages of @dictionary@, in nfx::@name@, and their dispatch. A header that only names them is
// nexusfix/@name@/forward.hpp; docs/codegen.md describes the classes.
#pragma once

#include "nexusfix/@name@/messages.hpp"
]])
  install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/nexusfix COMPONENT develop)
  install(DIRECTORY ${nfx_messages_dir}/nexusfix/${name} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/nexusfix
    COMPONENT develop FILES_MATCHING PATTERN "*.hpp")
endforeach()

# Typed messages from a dictionary, written while building.
#
#   nexusfix_generate(TARGET venue_messages DICTIONARY FIX44.xml
#                     [TRANSPORT FIXT11.xml] [OVERLAYS venue.xml ...] [MESSAGES D 8 ...] [NAMESPACE fix44]
#                     [INCLUDE_DIR folder])
#   target_link_libraries(desk PRIVATE venue_messages)
#
#   #include "fix44/new_order_single.hpp"   // nfx::fix44::NewOrderSingle
#
# makes an INTERFACE library. Dictionaries are files, seen from the current source folder, or shipped ones by their
# names; MESSAGES are types or names (all). NAMESPACE is the target's name unless given, and its last part is the
# folder that headers are included from. INCLUDE_DIR is the folder above it: the target's in the build folder unless
# given. Whoever links the library is compiled again when the dictionary has changed what is generated.
include_guard(GLOBAL)

set(NEXUSFIX_GENERATE_SHIPPED "${CMAKE_CURRENT_LIST_DIR}/../dictionaries" CACHE INTERNAL "")

# The path of a dictionary file, or the name of a shipped one where its path is not known.
function(nexusfix_find_dictionary name result)
  get_filename_component(path "${name}" ABSOLUTE BASE_DIR ${CMAKE_CURRENT_SOURCE_DIR})
  if(NOT EXISTS "${path}")
    foreach(folder IN ITEMS "${nexusfix_DICTIONARIES_DIR}" "${NEXUSFIX_GENERATE_SHIPPED}")
      if(folder AND EXISTS "${folder}/${name}")
        set(path "${folder}/${name}")
        break()
      endif()
    endforeach()
  endif()
  if(NOT EXISTS "${path}")
    message(FATAL_ERROR "nexusfix_generate: there is no dictionary '${name}', neither here nor among the shipped ones")
  endif()
  get_filename_component(path "${path}" ABSOLUTE)
  set(${result} "${path}" PARENT_SCOPE)
endfunction()

# What to run: the installed program, or that of the build NexusFIX is a part of, where its target may come later.
function(nexusfix_find_nfx result)
  if(nexusfix_NFX_EXECUTABLE)
    set(${result} "${nexusfix_NFX_EXECUTABLE}" PARENT_SCOPE)
  elseif(nexusfix_SOURCE_DIR)
    set(${result} nfx PARENT_SCOPE)
  else()
    find_program(NEXUSFIX_NFX nfx)
    if(NOT NEXUSFIX_NFX)
      message(FATAL_ERROR "nexusfix_generate: the program nfx is not installed; set NEXUSFIX_NFX to its path")
    endif()
    set(${result} "${NEXUSFIX_NFX}" PARENT_SCOPE)
  endif()
endfunction()

function(nexusfix_generate)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "TARGET;DICTIONARY;TRANSPORT;NAMESPACE;INCLUDE_DIR" "OVERLAYS;MESSAGES")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "nexusfix_generate: unknown argument '${arg_UNPARSED_ARGUMENTS}'")
  endif()
  if(NOT arg_TARGET OR NOT arg_DICTIONARY)
    message(FATAL_ERROR "nexusfix_generate: TARGET and DICTIONARY are required")
  endif()
  if(NOT arg_NAMESPACE)
    set(arg_NAMESPACE ${arg_TARGET})
  endif()
  string(REGEX REPLACE ".*::" "" folder ${arg_NAMESPACE})
  set(include_dir ${CMAKE_CURRENT_BINARY_DIR}/${arg_TARGET})
  if(arg_INCLUDE_DIR)
    set(include_dir ${arg_INCLUDE_DIR})
  endif()
  set(out ${include_dir}/${folder})

  nexusfix_find_dictionary(${arg_DICTIONARY} dictionary)
  set(inputs ${dictionary})
  set(arguments ${dictionary} --out ${out} --namespace ${arg_NAMESPACE})
  if(arg_TRANSPORT)
    nexusfix_find_dictionary(${arg_TRANSPORT} transport)
    list(APPEND inputs ${transport})
    list(APPEND arguments --transport ${transport})
  endif()
  foreach(overlay IN LISTS arg_OVERLAYS)
    get_filename_component(overlay ${overlay} ABSOLUTE BASE_DIR ${CMAKE_CURRENT_SOURCE_DIR})
    list(APPEND inputs ${overlay})
    list(APPEND arguments --overlay ${overlay})
  endforeach()
  if(arg_MESSAGES)
    list(JOIN arg_MESSAGES "," messages)
    list(APPEND arguments --messages ${messages})
  endif()

  nexusfix_find_nfx(nfx_program)
  # The generator leaves files alone that are right already. fields.hpp, which every other header includes, changes
  # when any of them does, so it is the one that the build has to watch.
  set(stamp ${include_dir}/${folder}.stamp)
  add_custom_command(OUTPUT ${stamp} BYPRODUCTS ${out}/fields.hpp
    COMMAND ${nfx_program} codegen ${arguments}
    COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
    DEPENDS ${inputs} ${nfx_program}
    COMMENT "Generating ${arg_NAMESPACE} from ${arg_DICTIONARY}" VERBATIM)
  add_custom_target(${arg_TARGET}_files DEPENDS ${stamp})

  add_library(${arg_TARGET} INTERFACE)
  add_dependencies(${arg_TARGET} ${arg_TARGET}_files)
  target_include_directories(${arg_TARGET} INTERFACE ${include_dir})
  target_link_libraries(${arg_TARGET} INTERFACE nexusfix::fix)
endfunction()

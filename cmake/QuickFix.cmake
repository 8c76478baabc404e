# QuickFIX, which programs are compared and tested with where it is installed (package libquickfix-dev).
#   nfx_find_quickfix(found)              whether it is there
#   nfx_quickfix_target(target)           lets a target use it
#   nfx_quickfix_part(program source absent [compile options...])
#     Adds to a program what needs QuickFIX, as a library of its own, or else the file that stands in for it.

function(nfx_find_quickfix found)
  find_path(QUICKFIX_INCLUDE_DIR quickfix/Session.h)
  find_library(QUICKFIX_LIBRARY quickfix)
  mark_as_advanced(QUICKFIX_INCLUDE_DIR QUICKFIX_LIBRARY)
  set(there FALSE)
  if(QUICKFIX_INCLUDE_DIR AND QUICKFIX_LIBRARY)
    set(there TRUE)
  endif()
  set(${found} ${there} PARENT_SCOPE)
endfunction()

function(nfx_quickfix_target target)
  # It declares exceptions with throw(...), which C++17 took out of the language.
  set_target_properties(${target} PROPERTIES CXX_STANDARD 14)
  target_include_directories(${target} SYSTEM PRIVATE ${QUICKFIX_INCLUDE_DIR})
  target_link_libraries(${target} PRIVATE ${QUICKFIX_LIBRARY} Threads::Threads)
endfunction()

function(nfx_quickfix_part program source absent)
  nfx_find_quickfix(found)
  if(found)
    add_library(${program}_quickfix STATIC ${source})
    nfx_quickfix_target(${program}_quickfix)
    target_include_directories(${program}_quickfix PRIVATE ${NFX_BENCH_FOLDERS})
    target_compile_options(${program}_quickfix PRIVATE ${ARGN})
    target_link_libraries(${program} PRIVATE ${program}_quickfix)
  else()
    message(STATUS "${program}: QuickFIX is missing (package libquickfix-dev), so its rows are left out")
    target_sources(${program} PRIVATE ${absent})
  endif()
endfunction()

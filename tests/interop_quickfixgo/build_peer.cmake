# Builds the QuickFIX/Go peer: cmake -D GO=... -D PROGRAM=... -D DICTIONARIES=... -P build_peer.cmake
# Go itself knows what is out of date. The network is asked only when the module cache lacks something.
cmake_minimum_required(VERSION 3.25)

# No other Go is fetched, and go.mod and go.sum stay as they are. The program needs no C compiler.
set(go ${CMAKE_COMMAND} -E env GOTOOLCHAIN=local GOFLAGS=-mod=readonly CGO_ENABLED=0)

function(run_go result output limit)
  execute_process(COMMAND ${go} ${ARGN} WORKING_DIRECTORY ${CMAKE_CURRENT_LIST_DIR} TIMEOUT ${limit}
    RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out OUTPUT_STRIP_TRAILING_WHITESPACE)
  set(${result} "${status}" PARENT_SCOPE)
  set(${output} "${out}" PARENT_SCOPE)
endfunction()

set(network_trouble
  "dial tcp|no such host|timeout|Timeout|connection (refused|reset)|unreachable|proxyconnect|TLS handshake|40[37] |50[0-9] |disabled by GOPROXY")

run_go(status said 240 GOPROXY=off ${GO} mod download)
if(NOT status EQUAL 0)
  run_go(status said 300 ${GO} mod download)
  if(NOT status EQUAL 0)
    if(said MATCHES "${network_trouble}" OR status MATCHES "timeout")
      execute_process(COMMAND ${CMAKE_COMMAND} -E echo
        "SKIPPED: QuickFIX/Go is not in Go's module cache and the module proxy is out of reach; connect to the network, or set GOPROXY, and run again: ${said}")
      return()
    endif()
    message(FATAL_ERROR "go mod download failed: ${said}")
  endif()
endif()

run_go(status said 540 GOPROXY=off ${GO} build -trimpath -o ${PROGRAM} .)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "go build failed: ${said}")
endif()
run_go(status folder 60 GOPROXY=off ${GO} list -m -f {{.Dir}} github.com/quickfixgo/quickfix)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "go list failed: ${folder}")
endif()
# In the module cache they cannot be written, nor would their copies be.
file(COPY ${folder}/spec/ DESTINATION ${DICTIONARIES} NO_SOURCE_PERMISSIONS FILES_MATCHING PATTERN "*.xml")

# Builds the QuickFIX/J peer: cmake -D JAVA=... -D JAVAC=... -D MVN=... -D PROGRAM=... -D DICTIONARIES=...
#   -P build_peer.cmake
# PROGRAM becomes a script that turns into the Java process; what it runs lies beside it. Nothing is done when nothing
# has changed, and the network is asked only when Maven's local repository lacks something.
cmake_minimum_required(VERSION 3.25)

get_filename_component(build ${PROGRAM} DIRECTORY)
set(jars ${build}/jars)
set(classes ${build}/classes)

file(GLOB sources ${CMAKE_CURRENT_LIST_DIR}/*.java)
set(inputs "${JAVA} ${JAVAC}")
foreach(file IN LISTS sources ITEMS ${CMAKE_CURRENT_LIST_DIR}/pom.xml ${CMAKE_CURRENT_LIST_FILE})
  file(SHA256 ${file} hash)
  string(APPEND inputs " ${hash}")
endforeach()
set(stamp ${build}/quickfixj_peer.inputs)
if(EXISTS ${stamp} AND EXISTS ${PROGRAM})
  file(READ ${stamp} built_from)
  if(built_from STREQUAL inputs)
    return()
  endif()
endif()
file(REMOVE ${PROGRAM} ${stamp})
file(REMOVE_RECURSE ${jars} ${classes} ${DICTIONARIES})
file(MAKE_DIRECTORY ${jars} ${classes} ${DICTIONARIES})

# A virtual machine that starts fast and stays small: it runs for a few seconds, many times.
set(small -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1)

function(copy_jars result output limit)
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E env "MAVEN_OPTS=-Xmx256m $ENV{MAVEN_OPTS}"
      ${MVN} -B -q -Dstyle.color=never ${ARGN} -f ${CMAKE_CURRENT_LIST_DIR}/pom.xml
      org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies -DoutputDirectory=${jars}
    WORKING_DIRECTORY ${build} TIMEOUT ${limit} RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
  set(${result} "${status}" PARENT_SCOPE)
  set(${output} "${out}" PARENT_SCOPE)
endfunction()

copy_jars(status said 120 -o)
if(NOT status EQUAL 0)
  copy_jars(status said 600)
  if(NOT status EQUAL 0)
    if(said MATCHES "Could not transfer|Unknown host|timed out|refused|unreachable" OR status MATCHES "timeout")
      execute_process(COMMAND ${CMAKE_COMMAND} -E echo
        "SKIPPED: QuickFIX/J is not in Maven's local repository and Maven Central is out of reach; connect to the network, or configure a mirror, and run again: ${said}")
      return()
    endif()
    message(FATAL_ERROR "Maven failed: ${said}")
  endif()
endif()

execute_process(COMMAND ${JAVAC} -J-Xmx256m --release 17 -Xlint:all -Werror -d ${classes} -cp ${jars}/* ${sources}
  TIMEOUT 180 RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "javac failed: ${said}")
endif()

# QuickFIX/J's own dictionaries, as files.
foreach(version FIX44 FIX50SP2 FIXT11)
  string(TOLOWER ${version} messages)
  file(GLOB jar ${jars}/quickfixj-messages-${messages}-*.jar)
  file(ARCHIVE_EXTRACT INPUT ${jar} DESTINATION ${DICTIONARIES} PATTERNS ${version}.xml)
endforeach()

string(JOIN " " options ${small})
file(WRITE ${PROGRAM} "#!/bin/sh\nexec '${JAVA}' ${options} -cp '${classes}:${jars}/*' QuickfixjPeer \"$@\"\n")
file(CHMOD ${PROGRAM} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
file(WRITE ${stamp} "${inputs}")

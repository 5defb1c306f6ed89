# SPDX-License-Identifier: Apache-2.0
# cmake -DTREE=... -DRELEASE=0.1.0 [-DVERSION=...] [-DOUTPUT=version.cpp] -P version.cmake
# Says on stdout which version this tree is, or writes it as a source file if it is another than before: what VERSION says, else
# what git describes, else RELEASE.
cmake_minimum_required(VERSION 3.25)
if(NOT VERSION AND EXISTS ${TREE}/.git)
  # Another build may be asking, and somebody may commit: no lock is taken. The tree may belong to another user than root.
  set(ENV{GIT_OPTIONAL_LOCKS} 0)
  set(git git -c safe.directory=* -C ${TREE})
  execute_process(COMMAND ${git} describe --tags --match "v[0-9]*" --abbrev=8 --dirty=.dirty
    OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(described MATCHES "^v(.*)-([0-9]+)-(g[0-9a-f]+(\\.dirty)?)$")
    set(VERSION "${CMAKE_MATCH_1}+${CMAKE_MATCH_2}.${CMAKE_MATCH_3}")
  elseif(described MATCHES "^v(.*)$")
    set(VERSION ${CMAKE_MATCH_1})
  else()  # no tag yet
    execute_process(COMMAND ${git} rev-list --count HEAD OUTPUT_VARIABLE count OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    execute_process(COMMAND ${git} describe --always --exclude "*" --abbrev=8 --dirty=.dirty
      OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(commit)
      set(VERSION "${RELEASE}~${count}.g${commit}")
    endif()
  endif()
endif()
if(NOT VERSION)
  set(VERSION ${RELEASE})
endif()
if(NOT OUTPUT)
  execute_process(COMMAND ${CMAKE_COMMAND} -E echo ${VERSION})
  return()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT "// Written by cmake/version.cmake.
#include \"core/text/version.hpp\"

namespace loom {

std::string_view build_version() { return \"@VERSION@\"; }

}  // namespace loom
")

# SPDX-License-Identifier: Apache-2.0
# loom_room(NAME [PRECOMPILED TARGET] SOURCES ... LINKS ...): a room's library, with the warnings and flags that all of Lightloom
# shares.
# loom_test(NAME [ALONE] [SLOW] SOURCES ... LINKS ...): a Catch2 test program whose cases CTest sees one by one. ALONE: nothing
# else runs beside it; SLOW: labelled slow, and left out of the suite (./dev test -L slow).
add_library(loom_flags INTERFACE)
# Sentences are built with libfmt (core/text/format_text.hpp), and its header is precompiled: whoever reads that must have the
# same definitions, so all link it.
find_package(fmt 9 REQUIRED)
target_link_libraries(loom_flags INTERFACE fmt::fmt)
target_compile_options(loom_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor -Woverloaded-virtual -Werror
  -ffp-contract=off  # the same bytes from g++ and clang++
  -fno-semantic-interposition)  # position-independent, and yet nobody replaces our functions: they may be inlined
if(CMAKE_CXX_COMPILER_ID STREQUAL Clang)
  # libstdc++ 12's stable_sort uses what it deprecates itself; g++ keeps watch over our own calls.
  target_compile_options(loom_flags INTERFACE -Wno-deprecated-declarations)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_FLAGS_DEBUG MATCHES "-fsanitize")
  # g++ 12 sees uninitialised members in a moved variant where a sanitizer instruments it, and there are none.
  target_compile_options(loom_flags INTERFACE -Wno-maybe-uninitialized)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND LOOM_PCH)
  # What g++ 12's optimiser suspects of std::string's own memcpy (GCC bugs 105651, 105329) it keeps to itself in a system header,
  # but not in one that was precompiled. -DLOOM_PCH=OFF hears all of it.
  target_compile_options(loom_flags INTERFACE -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread
    -Wno-maybe-uninitialized)
endif()
# Of a file only its path in the tree enters a binary, wherever the tree lies: as it was named, or relative to the build folder,
# as ccache has it. The map that stands last is asked first.
file(RELATIVE_PATH loom_up ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR})
set(loom_path_maps
  -ffile-prefix-map=${CMAKE_SOURCE_DIR}=. -ffile-prefix-map=${CMAKE_SOURCE_DIR}/= -ffile-prefix-map=${CMAKE_BINARY_DIR}=build
  -ffile-prefix-map=${CMAKE_BINARY_DIR}/= -ffile-prefix-map=${loom_up}=)
target_compile_options(loom_flags INTERFACE ${loom_path_maps})
# For what has none of our flags otherwise: generated code, and a library that knows older C++ alone.
add_library(loom_paths INTERFACE)
target_compile_options(loom_paths INTERFACE ${loom_path_maps})
target_link_options(loom_flags INTERFACE -Wl,-z,relro,-z,now)

# Which version a program is: asked of git with every build, since every commit has another (cmake/version.cmake). Only programs
# are linked anew for that; what is no program says the release (core/text/version.cpp).
set(LOOM_VERSION "" CACHE STRING "Version of the programs, instead of what git describes")
add_custom_target(loom_ask_version
  COMMAND ${CMAKE_COMMAND} -DTREE=${CMAKE_SOURCE_DIR} -DRELEASE=${PROJECT_VERSION} -DVERSION=${LOOM_VERSION}
    -DOUTPUT=${CMAKE_BINARY_DIR}/version.cpp -P ${CMAKE_SOURCE_DIR}/cmake/version.cmake
  BYPRODUCTS ${CMAKE_BINARY_DIR}/version.cpp VERBATIM)
add_library(loom_build_version OBJECT ${CMAKE_BINARY_DIR}/version.cpp)
target_link_libraries(loom_build_version PRIVATE loom_flags)
add_dependencies(loom_build_version loom_ask_version)
target_include_directories(loom_flags INTERFACE ${CMAKE_SOURCE_DIR})

find_program(LOOM_MOLD mold)
if(LOOM_MOLD)
  target_link_options(loom_flags INTERFACE -fuse-ld=mold)
endif()

# Precompiled: the standard library for rooms and programs; Catch2 as well for tests, and what commands include for the command
# line (cli/CMakeLists.txt). Two compilers' worth of headers are most of a build: with this an average file costs a third less.
if(LOOM_PCH)
  file(WRITE ${CMAKE_BINARY_DIR}/empty.cpp "")
  add_library(loom_std_pch OBJECT ${CMAKE_BINARY_DIR}/empty.cpp)
  target_link_libraries(loom_std_pch PRIVATE loom_flags)
  target_precompile_headers(loom_std_pch PRIVATE ${CMAKE_SOURCE_DIR}/cmake/std_pch.hpp)
endif()

# Most of a compilation is what its headers instantiate, and files of one library share most of that: in folders that call this,
# some files are compiled as one. Their names without linkage must differ then; -DLOOM_UNITY=OFF compiles each by itself.
macro(loom_several_at_a_time)
  set(CMAKE_UNITY_BUILD ${LOOM_UNITY})
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 6)
  if(LOOM_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    add_compile_options(-Wno-subobject-linkage)  # of a file's own type, which is a header's to g++ once the file is included
  endif()
endmacro()

# Files of one folder call their own things alike (`kColumns`): here each group takes them from everywhere.
function(loom_mixed_groups name)
  get_target_property(sources ${name} SOURCES)
  list(LENGTH sources count)
  math(EXPR groups "(${count} + 5) / 6")
  set(group 0)
  foreach(source ${sources})
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP "mixed_${group}")
    math(EXPR group "(${group} + 1) % ${groups}")
  endforeach()
  set_target_properties(${name} PROPERTIES UNITY_BUILD_MODE GROUP)
endfunction()

# Sources that share names with their neighbours, and are compiled alone.
macro(loom_apart)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endmacro()

# A test's own file is run once for each time that it is compiled, and a command's own file once for each command; what they
# call is a room, optimised as ever.
add_library(loom_quick_flags INTERFACE)
target_compile_options(loom_quick_flags INTERFACE $<$<CONFIG:Release>:-O1>)

function(loom_precompiled name pch)
  if(LOOM_PCH)
    target_precompile_headers(${name} REUSE_FROM ${pch})
  endif()
endfunction()

function(loom_room name)
  cmake_parse_arguments(ROOM "" "PRECOMPILED" "SOURCES;LINKS" ${ARGN})
  if(NOT ROOM_PRECOMPILED)
    set(ROOM_PRECOMPILED loom_std_pch)
  endif()
  add_library(${name} STATIC ${ROOM_SOURCES})
  target_link_libraries(${name} PUBLIC loom_flags ${ROOM_LINKS})
  loom_precompiled(${name} ${ROOM_PRECOMPILED})
endfunction()

function(loom_program name)
  cmake_parse_arguments(PROGRAM "" "" "SOURCES;LINKS" ${ARGN})
  add_executable(${name} ${PROGRAM_SOURCES})
  target_link_libraries(${name} PRIVATE loom_flags loom_build_version ${PROGRAM_LINKS})
  loom_precompiled(${name} loom_std_pch)
  if(CMAKE_BUILD_TYPE STREQUAL Release AND CMAKE_OBJCOPY AND CMAKE_STRIP)
    # Nine tenths of a program are debug information: beside it, in .debug/, where gdb looks.
    add_custom_command(TARGET ${name} POST_BUILD
      COMMAND ${CMAKE_COMMAND} -E make_directory .debug
      COMMAND ${CMAKE_OBJCOPY} --only-keep-debug --compress-debug-sections $<TARGET_FILE_NAME:${name}> .debug/${name}.debug
      COMMAND ${CMAKE_STRIP} --strip-debug $<TARGET_FILE_NAME:${name}>
      COMMAND ${CMAKE_OBJCOPY} --add-gnu-debuglink=.debug/${name}.debug $<TARGET_FILE_NAME:${name}>
      WORKING_DIRECTORY $<TARGET_FILE_DIR:${name}> VERBATIM)
  endif()
endfunction()

function(loom_test name)
  cmake_parse_arguments(TEST "ALONE;SLOW" "" "SOURCES;LINKS" ${ARGN})
  set(labels "")
  if(TEST_SLOW)
    set(labels LABELS slow)
  endif()
  add_executable(${name} ${TEST_SOURCES})
  target_link_libraries(${name} PRIVATE loom_flags loom_catch_main loom_quick_flags ${TEST_LINKS})
  loom_precompiled(${name} loom_test_pch)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  catch_discover_tests(${name} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} TEST_PREFIX "${name}: "
    PROPERTIES TIMEOUT 300 RUN_SERIAL "${TEST_ALONE}" SKIP_RETURN_CODE 77 ${labels})  # tests/skip.hpp
endfunction()

# SPDX-License-Identifier: Apache-2.0
# What the pages say is run (docs/testing.md). The interpreter is Debian's own, as for the strangers.
find_program(LOOM_DOCS_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
if(LOOM_DOCS_PYTHON)
  foreach(which quick slow)
    set(flag "")
    set(labels docs)
    if(which STREQUAL slow)
      set(flag --slow)
      list(APPEND labels slow)
    endif()
    add_test(NAME docs_${which} COMMAND ${LOOM_DOCS_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/commands.py $<TARGET_FILE_DIR:loom> ${flag})
    set_tests_properties(docs_${which} PROPERTIES LABELS "${labels}" RUN_SERIAL TRUE SKIP_RETURN_CODE 77)
  endforeach()
  # Generated pages and schemas are what the programs say, and commands end as is promised.
  set(check_reference --check)
  foreach(which reference manners)
    add_test(NAME docs_${which} COMMAND ${LOOM_DOCS_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/${which}.py $<TARGET_FILE_DIR:loom> ${check_${which}})
    set_tests_properties(docs_${which} PROPERTIES LABELS docs SKIP_RETURN_CODE 77 RUN_SERIAL TRUE TIMEOUT 120)
  endforeach()
  set_tests_properties(docs_quick PROPERTIES TIMEOUT 600)
  set_tests_properties(docs_slow PROPERTIES TIMEOUT 3600)
endif()
# What find_package(Lightloom) gives to others (cmake/library.cmake): the example is linked with that archive, and run.
add_executable(iteration_time_example ${CMAKE_SOURCE_DIR}/docs/examples/find_package/iteration_time.cpp)
target_link_libraries(iteration_time_example PRIVATE Lightloom::lightloom)
set_target_properties(iteration_time_example PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
add_test(NAME find_package_example COMMAND iteration_time_example)
set_tests_properties(find_package_example PROPERTIES PASS_REGULAR_EXPRESSION "ideal-switch +[0-9.]+ ms")
# The code of the tutorials is compiled and run.
loom_test(examples_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/examples_test.cpp ${CMAKE_SOURCE_DIR}/docs/examples/first_fit.cpp ${CMAKE_SOURCE_DIR}/docs/examples/line_meter.cpp
  LINKS loom_plan loom_architectures loom_drivers)

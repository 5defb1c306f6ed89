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
# The code of the tutorials is compiled and run.
loom_test(examples_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/examples_test.cpp ${CMAKE_SOURCE_DIR}/docs/examples/first_fit.cpp ${CMAKE_SOURCE_DIR}/docs/examples/line_meter.cpp
  LINKS loom_plan loom_architectures loom_drivers)

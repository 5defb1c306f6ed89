loom_test(runtime_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/host_test.cpp
  LINKS loom_runtime)

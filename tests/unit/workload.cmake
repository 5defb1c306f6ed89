loom_test(workload_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/workload_zoo_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/workload_flows_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/workload_import_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/workload_faults_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/workload_real_traces_test.cpp
  LINKS loom_workload)
target_compile_definitions(workload_test PRIVATE LOOM_SOURCE_DIR="${CMAKE_SOURCE_DIR}")

# SPDX-License-Identifier: Apache-2.0
find_package(rapidcheck REQUIRED)
loom_test(workload_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/workload_zoo_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/model_operators_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/workload_flows_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/workload_import_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/workload_faults_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/workload_real_traces_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/workload_task_graph_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/workload_rounds_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/workload_models_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/workload_parallel_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/workload_recent_models_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/workload_job_graph_test.cpp
  LINKS loom_workload rapidcheck)
target_sources(workload_test PRIVATE ${CMAKE_CURRENT_LIST_DIR}/topoopt_graph_test.cpp)
target_sources(workload_test PRIVATE ${CMAKE_CURRENT_LIST_DIR}/workload_op_graph_test.cpp)
target_sources(workload_test PRIVATE ${CMAKE_CURRENT_LIST_DIR}/workload_files_test.cpp)

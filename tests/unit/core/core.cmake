# SPDX-License-Identifier: Apache-2.0
find_package(nlohmann_json REQUIRED)
loom_test(core_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/commit_trace_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/contact_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/core_units_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/core_values_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/core_fabric_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/core_steering_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/dark_time_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/fabric_identity_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/forwarding_table_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/host_port_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/node_plans_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/schedule_part_test.cpp
  LINKS loom_architectures loom_core nlohmann_json::nlohmann_json)

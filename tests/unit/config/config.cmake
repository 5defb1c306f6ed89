# SPDX-License-Identifier: Apache-2.0
find_package(nlohmann_json REQUIRED)
loom_test(config_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/config_quantity_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/config_safety_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/config_yaml_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/config_fabric_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/config_inventory_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/config_hosts_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/config_scenario_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/config_schema_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/config_faults_test.cpp
  LINKS loom_arena loom_architectures loom_config nlohmann_json::nlohmann_json)

# SPDX-License-Identifier: Apache-2.0
loom_test(predict_unit_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/node_lane_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/predict_engine_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/predict_network_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/predict_reconfiguration_test.cpp
  LINKS loom_closed_form loom_architectures loom_predict nlohmann_json::nlohmann_json)

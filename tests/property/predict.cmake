# SPDX-License-Identifier: Apache-2.0
loom_test(predict_property_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/objective_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/predict_again_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/predict_engine_random_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/predict_fluid_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/predict_in_step_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/predict_max_min_test.cpp
  LINKS loom_architectures loom_config loom_plan loom_predict)

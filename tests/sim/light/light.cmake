# SPDX-License-Identifier: Apache-2.0
loom_test(light_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/light_model_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/light_against_recomputation_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/light_leaks_test.cpp
  LINKS loom_architectures loom_light)

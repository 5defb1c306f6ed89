# SPDX-License-Identifier: Apache-2.0
loom_test(calibrate_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/drive_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/peak_lock_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/peak_search_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/bank_sweep_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/campaign_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/fibre_check_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/laser_survey_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/ring_ways_test.cpp
  LINKS loom_calibrate loom_architectures loom_agents)

# SPDX-License-Identifier: Apache-2.0
loom_test(predict_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/predict_closed_form_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/predict_overlap_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/predict_schedule_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/replay_test.cpp
  LINKS loom_closed_form loom_architectures loom_predict)

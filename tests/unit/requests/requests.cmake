# SPDX-License-Identifier: Apache-2.0
loom_test(requests_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/controller_steering_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/audit_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/request_attend_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/request_calibrate_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/request_journal_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/request_latch_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/request_orders_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/request_schedule_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/request_states_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/request_answers_test.cpp
  LINKS loom_architectures loom_control)

# SPDX-License-Identifier: Apache-2.0
loom_test(control_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/pulse_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/session_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/alarm_board_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/session_rows_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/controller_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/controller_bad_agents_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/controller_claims_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/controller_hosts_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/controller_restart_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/controller_metrics_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/commit_runner_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/commit_runner_ends_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/commit_runner_reach_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/verify_journal_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/answer_times_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/commit_stages_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/jobs_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/job_rows_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/light_watch_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/uncertain_state_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/unusable_watch_test.cpp
  LINKS loom_architectures loom_control)
loom_test(demand_watch_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/demand_watch_test.cpp LINKS loom_control)

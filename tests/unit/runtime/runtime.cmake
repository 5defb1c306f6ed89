# SPDX-License-Identifier: Apache-2.0
loom_test(runtime_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/append_lane_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/clock_watch_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/contact_watch_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/host_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/journal_copy_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/journal_snapshot_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/journal_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/lanes_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/loop_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/metrics_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/planner_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/program_page_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/realtime_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/timer_queue_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/service_notifier_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/tape_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/watched_vfs.cpp
  LINKS loom_runtime)
loom_test(key_bundle_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/key_bundle_test.cpp LINKS loom_architectures loom_state_folder)
loom_test(relay_process_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/relay_process_test.cpp LINKS loom_architectures loom_state_folder)
loom_test(inspector_feed_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/inspector_feed_test.cpp LINKS loom_runtime)
loom_test(journal_offsets_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/journal_offsets_test.cpp LINKS loom_runtime)
loom_test(training_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/training_test.cpp LINKS loom_agents loom_runtime)

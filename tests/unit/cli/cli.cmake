# SPDX-License-Identifier: Apache-2.0
loom_test(cli_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/cli_test.cpp ${CMAKE_CURRENT_LIST_DIR}/cli_rows_test.cpp ${CMAKE_CURRENT_LIST_DIR}/cli_requests_test.cpp ${CMAKE_CURRENT_LIST_DIR}/cli_audit_test.cpp ${CMAKE_CURRENT_LIST_DIR}/naming_test.cpp ${CMAKE_CURRENT_LIST_DIR}/plot_test.cpp ${CMAKE_CURRENT_LIST_DIR}/arena_pictures_test.cpp ${CMAKE_CURRENT_LIST_DIR}/light_log_test.cpp ${CMAKE_CURRENT_LIST_DIR}/output_file_test.cpp LINKS loom_architectures loom_cli loom_light_log)
loom_test(plan_command_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/plan_command_test.cpp ${CMAKE_CURRENT_LIST_DIR}/plan_search_test.cpp ${CMAKE_CURRENT_LIST_DIR}/occupancy_test.cpp
  LINKS loom_architectures loom_cli)
loom_test(lab_manifest_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/lab_manifest_test.cpp ${CMAKE_CURRENT_LIST_DIR}/lab_processes_test.cpp
  LINKS loom_cli)
loom_test(bundle_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/bundle_test.cpp LINKS loom_architectures loom_cli)
loom_test(reference_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/reference_test.cpp LINKS loom_architectures loom_cli)

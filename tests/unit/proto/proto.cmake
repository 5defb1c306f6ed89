# SPDX-License-Identifier: Apache-2.0
loom_test(proto_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/journal_state_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/plan_change_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/proto_codec_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/proto_equal.cpp
    ${CMAKE_CURRENT_LIST_DIR}/proto_forwarding_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/proto_limits_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/proto_random.cpp
    ${CMAKE_CURRENT_LIST_DIR}/proto_random_operator.cpp
    ${CMAKE_CURRENT_LIST_DIR}/proto_rules_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/proto_rows_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/proto_version_test.cpp
  LINKS loom_proto loom_wire)

# SPDX-License-Identifier: Apache-2.0
loom_test(agents_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/agents_parts_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/agent_claims_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/agent_commit_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/agent_interlock_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/agent_metrics_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/agent_prepare_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/agent_reading_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/agent_reset_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/agent_session_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/agent_safety_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/agent_steering_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/agent_chaos_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/pass_barrier_test.cpp
  LINKS loom_architectures loom_agents)
loom_test(traffic_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/traffic_test.cpp LINKS loom_agents)
loom_test(grant_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/grant_arbiter_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/grant_arbiter_borders_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/grant_codec_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/grant_sender_test.cpp
  LINKS loom_agents loom_proto)
loom_test(grant_plane_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/grant_executor_test.cpp ${CMAKE_CURRENT_LIST_DIR}/grant_plane_test.cpp
  LINKS loom_architectures loom_agents)
loom_test(grant_allocation_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/grant_allocation_test.cpp LINKS loom_agents)

# SPDX-License-Identifier: Apache-2.0
loom_test(schedule_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/schedule_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/oddl_slow_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/oddl_map_sequence_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/oddl_variants_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/sip_schedule_test.cpp
  LINKS loom_plan loom_architectures)
loom_test(topoopt_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/topoopt_rings_test.cpp ${CMAKE_CURRENT_LIST_DIR}/topoopt_finder_test.cpp ${CMAKE_CURRENT_LIST_DIR}/sip_placement_test.cpp
  LINKS loom_arena)
loom_test(topoopt_road_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/topoopt_schedule_test.cpp LINKS loom_plan loom_architectures loom_predict)
loom_test(architecture_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/architecture_test.cpp
  LINKS loom_arena loom_plan loom_config nlohmann_json::nlohmann_json)
loom_test(arena_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/arena_test.cpp ${CMAKE_CURRENT_LIST_DIR}/cluster_graph_test.cpp LINKS loom_arena)
loom_test(reproduction_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/reproduction_test.cpp LINKS loom_arena loom_config)
target_compile_definitions(reproduction_test PRIVATE LOOM_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
target_sources(topoopt_test PRIVATE ${CMAKE_CURRENT_LIST_DIR}/topoopt_search_test.cpp)
loom_test(sip_ml_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/ring_oracle_test.cpp ${CMAKE_CURRENT_LIST_DIR}/sip_ocs_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/sip_strategy_test.cpp ${CMAKE_CURRENT_LIST_DIR}/sip_profile_file_test.cpp ${CMAKE_CURRENT_LIST_DIR}/sip_episode_test.cpp ${CMAKE_CURRENT_LIST_DIR}/mordia_test.cpp
  LINKS loom_arena loom_ring_oracle)
loom_test(cluster_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/cluster_study_test.cpp ${CMAKE_CURRENT_LIST_DIR}/cluster_file_test.cpp ${CMAKE_CURRENT_LIST_DIR}/cost_test.cpp
  LINKS loom_arena loom_config)

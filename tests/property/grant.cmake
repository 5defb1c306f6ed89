# SPDX-License-Identifier: Apache-2.0
add_library(grant_world STATIC ${CMAKE_CURRENT_LIST_DIR}/grant_world.cpp ${CMAKE_CURRENT_LIST_DIR}/grant_world_laid.cpp)
target_link_libraries(grant_world PUBLIC loom_flags loom_agents)
loom_test(grant_explore_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/grant_explore_test.cpp LINKS grant_world)
loom_test(grant_random_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/grant_random_test.cpp LINKS grant_world rapidcheck)

# SPDX-License-Identifier: Apache-2.0
loom_test(plan_property_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/plan_accepts_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/plan_again_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/plan_corruptions_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/plan_leaks_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/make_before_break_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/plan_worlds.cpp
  LINKS loom_plan loom_architectures)
loom_test(topoopt_property_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/topoopt_walk_test.cpp LINKS loom_plan loom_architectures)
loom_test(oddl_slow_property_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/oddl_jobs_test.cpp
  LINKS loom_plan loom_architectures)

# SPDX-License-Identifier: Apache-2.0
loom_test(plan_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/plan_grants_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/plan_iterations_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/plan_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/plan_steering_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/steering_borders_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/certificate_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/plan_loops_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/adoption_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/light_state_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/admission_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/unusable_test.cpp
  LINKS loom_plan loom_architectures)
loom_test(light_monitors_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/light_monitors_test.cpp LINKS loom_plan loom_architectures)
loom_test(reconcile_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/reconcile_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/reconcile_borders_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/light_scope_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/reconcile_scope_test.cpp
  LINKS loom_plan loom_architectures)
loom_test(verify_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/level_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/verify_setpoints_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/verify_light_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/verify_power_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/verify_elements_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/verify_change_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/verify_grants_test.cpp
  LINKS loom_plan loom_architectures)

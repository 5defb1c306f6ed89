loom_test(schedule_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/schedule_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/plan_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/plan_loops_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/sip_schedule_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/adoption_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/reconcile_test.cpp
  LINKS loom_plan)

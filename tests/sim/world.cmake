loom_test(sim_seams_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/virtual_loop_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/sim_network_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/sim_disk_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/light_checker_test.cpp
  LINKS loom_sim_seams)
loom_test(world_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/world_test.cpp LINKS loom_sim_world)

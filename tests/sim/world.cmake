# SPDX-License-Identifier: Apache-2.0
loom_test(sim_seams_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/virtual_loop_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/sim_network_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/sim_disk_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/light/light_checker_test.cpp
  LINKS loom_architectures loom_sim_seams)
loom_test(all_devices_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/all_devices_test.cpp LINKS loom_architectures loom_sim_seams loom_agents loom_drivers)
loom_test(world_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/world_test.cpp ${CMAKE_CURRENT_LIST_DIR}/oddl_slow_world_test.cpp
  LINKS loom_sim_world)
loom_test(interlock_world_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/interlock_world_test.cpp LINKS loom_sim_world)
loom_test(run_account_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/light/job_light_test.cpp ${CMAKE_CURRENT_LIST_DIR}/run_account_test.cpp
          ${CMAKE_CURRENT_LIST_DIR}/snapshot_news_test.cpp
  LINKS loom_sim_world)
loom_test(journal_world_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/journal_world_test.cpp LINKS loom_sim_world)
loom_test(live_demand_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/live_demand_test.cpp LINKS loom_sim_world)
loom_test(grants_world_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/grants_world_test.cpp
  LINKS loom_sim_world loom_predict loom_workload)
loom_test(iterations_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/iterations/iterations_world_test.cpp LINKS loom_sim_world)
loom_test(fabrics_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/fabrics_test.cpp LINKS loom_sim_world loom_predict loom_workload)
loom_test(topoopt_sim_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/topoopt_road_test.cpp LINKS loom_sim_world)
loom_test(drift_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/drift_test.cpp ${CMAKE_CURRENT_LIST_DIR}/adopt_test.cpp
          ${CMAKE_CURRENT_LIST_DIR}/agent_life_test.cpp
  LINKS loom_sim_world)
loom_test(edges_world_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/light/edges_world_test.cpp LINKS loom_sim_world)
loom_test(make_before_break_world_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/light/make_before_break_world_test.cpp
  LINKS loom_sim_world)
loom_test(levelling_world_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/light/levelling_world_test.cpp LINKS loom_sim_world)
loom_test(monitors_world_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/light/monitors_world_test.cpp LINKS loom_sim_world)
loom_test(replay_light_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/light/replay_light_test.cpp LINKS loom_sim_world loom_predict loom_workload)

find_package(nlohmann_json REQUIRED)
# Real processes in real time: nothing else runs beside them.
loom_test(lab_test ALONE SOURCES ${CMAKE_CURRENT_LIST_DIR}/labs/lab_test.cpp LINKS loom_sim_world loom_light_log loom_runtime nlohmann_json::nlohmann_json)
target_compile_definitions(lab_test PRIVATE LOOM_PROGRAM="$<TARGET_FILE:loom>")
add_dependencies(lab_test loom lightloomd lightloom-agent lightloom-emulate)
loom_test(lab_scenario_test ALONE SOURCES ${CMAKE_CURRENT_LIST_DIR}/labs/lab_scenario_test.cpp LINKS loom_sim_world loom_light_log loom_runtime nlohmann_json::nlohmann_json)
target_compile_definitions(lab_scenario_test PRIVATE LOOM_PROGRAM="$<TARGET_FILE:loom>")
add_dependencies(lab_scenario_test loom lightloomd lightloom-agent lightloom-emulate)
loom_test(live_demand_lab_test ALONE SOURCES ${CMAKE_CURRENT_LIST_DIR}/labs/live_demand_lab_test.cpp LINKS loom_sim_world loom_light_log loom_runtime nlohmann_json::nlohmann_json)
target_compile_definitions(live_demand_lab_test PRIVATE LOOM_PROGRAM="$<TARGET_FILE:loom>")
add_dependencies(live_demand_lab_test loom lightloomd lightloom-agent lightloom-emulate)
loom_test(lab_kill_test ALONE SOURCES ${CMAKE_CURRENT_LIST_DIR}/labs/lab_kill_test.cpp LINKS loom_architectures loom_cli nlohmann_json::nlohmann_json)
target_compile_definitions(lab_kill_test PRIVATE LOOM_PROGRAM="$<TARGET_FILE:loom>" LOOM_CONTROLLER="$<TARGET_FILE:lightloomd>"
  LOOM_AGENT="$<TARGET_FILE:lightloom-agent>")
add_dependencies(lab_kill_test loom lightloomd lightloom-agent lightloom-emulate)
loom_test(interlock_lab_test ALONE SOURCES ${CMAKE_CURRENT_LIST_DIR}/labs/interlock_lab_test.cpp LINKS loom_architectures loom_cli nlohmann_json::nlohmann_json)
target_compile_definitions(interlock_lab_test PRIVATE LOOM_PROGRAM="$<TARGET_FILE:loom>" LOOM_CONTROLLER="$<TARGET_FILE:lightloomd>"
  LOOM_AGENT="$<TARGET_FILE:lightloom-agent>" LOOM_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
add_dependencies(interlock_lab_test loom lightloomd lightloom-agent lightloom-emulate)

loom_test(lab_state_test ALONE SOURCES ${CMAKE_CURRENT_LIST_DIR}/labs/lab_state_test.cpp LINKS loom_architectures loom_cli nlohmann_json::nlohmann_json)
target_compile_definitions(lab_state_test PRIVATE LOOM_PROGRAM="$<TARGET_FILE:loom>" LOOM_CONTROLLER="$<TARGET_FILE:lightloomd>"
  LOOM_AGENT="$<TARGET_FILE:lightloom-agent>")
add_dependencies(lab_state_test loom lightloomd lightloom-agent lightloom-emulate)
loom_test(metrics_lab_test ALONE SOURCES ${CMAKE_CURRENT_LIST_DIR}/labs/metrics_lab_test.cpp
  LINKS loom_sim_world loom_light_log loom_runtime nlohmann_json::nlohmann_json)
target_compile_definitions(metrics_lab_test PRIVATE LOOM_PROGRAM="$<TARGET_FILE:loom>")
add_dependencies(metrics_lab_test loom lightloomd lightloom-agent lightloom-emulate)
loom_test(lab_interrupt_test ALONE SOURCES ${CMAKE_CURRENT_LIST_DIR}/labs/lab_interrupt_test.cpp
  LINKS loom_sim_world loom_light_log loom_runtime nlohmann_json::nlohmann_json)
target_compile_definitions(lab_interrupt_test PRIVATE LOOM_PROGRAM="$<TARGET_FILE:loom>")
add_dependencies(lab_interrupt_test loom lightloomd lightloom-agent lightloom-emulate)

loom_test(kill_points_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/kill_points_test.cpp LINKS loom_sim_world)
loom_test(swarm_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/swarm_test.cpp LINKS loom_sim_world)
loom_test(shrink_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/shrink_test.cpp LINKS loom_sim_world)
loom_test(detection_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/light/detection_test.cpp LINKS loom_architectures loom_config loom_sim_world)
loom_test(fault_kinds_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/fault_kinds_test.cpp LINKS loom_sim_world)
loom_test(fault_files_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/fault_files_test.cpp LINKS loom_sim_world)

# Every shipped scenario in every mode that it names.
loom_test(shipped_scenarios_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/labs/shipped_scenarios_test.cpp LINKS loom_sim_world)
loom_test(shipped_scenarios_slow_test ALONE SLOW SOURCES ${CMAKE_CURRENT_LIST_DIR}/labs/shipped_scenarios_test.cpp LINKS loom_sim_world)
target_compile_definitions(shipped_scenarios_slow_test PRIVATE LOOM_SLOW)
foreach(pace "" _slow)
  string(TOUPPER "${pace}" label)
  string(REPLACE _ "" label "${label}")
  loom_test(shipped_labs${pace}_test ALONE ${label} SOURCES ${CMAKE_CURRENT_LIST_DIR}/labs/shipped_labs_test.cpp
    LINKS loom_sim_world loom_light_log loom_runtime nlohmann_json::nlohmann_json)
  target_compile_definitions(shipped_labs${pace}_test PRIVATE LOOM_PROGRAM="$<TARGET_FILE:loom>")
  add_dependencies(shipped_labs${pace}_test loom lightloomd lightloom-agent lightloom-emulate)
endforeach()
target_compile_definitions(shipped_labs_slow_test PRIVATE LOOM_SLOW)
loom_test(steering_world_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/steering_world_test.cpp LINKS loom_sim_world)
loom_test(keys_lab_test ALONE SOURCES ${CMAKE_CURRENT_LIST_DIR}/labs/keys_lab_test.cpp LINKS loom_architectures loom_cli nlohmann_json::nlohmann_json)
target_compile_definitions(keys_lab_test PRIVATE LOOM_PROGRAM="$<TARGET_FILE:loom>" LOOM_CONTROLLER="$<TARGET_FILE:lightloomd>"
  LOOM_AGENT="$<TARGET_FILE:lightloom-agent>")
add_dependencies(keys_lab_test loom lightloomd lightloom-agent lightloom-emulate)
loom_test(calibration_world_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/calibrate/calibration_world_test.cpp
          ${CMAKE_CURRENT_LIST_DIR}/calibrate/ring_lock_world_test.cpp
          ${CMAKE_CURRENT_LIST_DIR}/calibrate/fibre_check_world_test.cpp
          ${CMAKE_CURRENT_LIST_DIR}/calibrate/laser_survey_world_test.cpp
  LINKS loom_sim_world)
loom_test(calibration_lab_test ALONE SOURCES ${CMAKE_CURRENT_LIST_DIR}/labs/calibration_lab_test.cpp
  LINKS loom_sim_world loom_light_log loom_runtime nlohmann_json::nlohmann_json)
target_compile_definitions(calibration_lab_test PRIVATE LOOM_PROGRAM="$<TARGET_FILE:loom>" LOOM_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
add_dependencies(calibration_lab_test loom lightloomd lightloom-agent lightloom-emulate)

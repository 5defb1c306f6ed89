# SPDX-License-Identifier: Apache-2.0
loom_test(bus_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/baud_search_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/endpoint_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/module_bus_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/modbus_rtu_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/serial_bus_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/tcp_bus_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/waveshaper/http_bus_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/waveshaper/http_text_test.cpp
  LINKS loom_bus)

loom_test(trigger_output_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/lasers/trigger_output_test.cpp LINKS loom_bus loom_config loom_runtime)
loom_test(contact_input_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/contact_input_test.cpp LINKS loom_bus loom_config)
target_compile_definitions(contact_input_test PRIVATE LOOM_SOURCE_DIR="${CMAKE_SOURCE_DIR}")

loom_test(heater_board_peer_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/heaters/heater_board_peer_test.cpp
  LINKS loom_architectures loom_bus loom_drivers loom_sim_devices)
target_compile_definitions(heater_board_peer_test PRIVATE LOOM_SOURCE_DIR="${CMAKE_SOURCE_DIR}")

if(TARGET lightloom-emulate)
  loom_test(switch_emulator_test
    SOURCES
      ${CMAKE_CURRENT_LIST_DIR}/switch_emulator_test.cpp
    LINKS loom_architectures loom_bus loom_drivers loom_sim_devices)
  add_dependencies(switch_emulator_test lightloom-emulate)
  target_compile_definitions(switch_emulator_test PRIVATE LOOM_EMULATE_PROGRAM="$<TARGET_FILE:lightloom-emulate>")
  loom_test(meter_emulator_test
    SOURCES
      ${CMAKE_CURRENT_LIST_DIR}/monitors/meter_emulator_test.cpp
    LINKS loom_bus loom_drivers loom_light_log)
  add_dependencies(meter_emulator_test lightloom-emulate)
  target_compile_definitions(meter_emulator_test PRIVATE LOOM_EMULATE_PROGRAM="$<TARGET_FILE:lightloom-emulate>")
  loom_test(ocs_emulator_test
    SOURCES
      ${CMAKE_CURRENT_LIST_DIR}/ocs/ocs_emulator_test.cpp
    LINKS loom_architectures loom_bus loom_drivers loom_sim_devices)
  add_dependencies(ocs_emulator_test lightloom-emulate)
  target_compile_definitions(ocs_emulator_test PRIVATE LOOM_EMULATE_PROGRAM="$<TARGET_FILE:lightloom-emulate>")
  loom_test(waveshaper_emulator_test
    SOURCES
      ${CMAKE_CURRENT_LIST_DIR}/waveshaper/waveshaper_emulator_test.cpp
    LINKS loom_architectures loom_bus loom_drivers loom_sim_devices)
  add_dependencies(waveshaper_emulator_test lightloom-emulate)
  target_compile_definitions(waveshaper_emulator_test PRIVATE LOOM_EMULATE_PROGRAM="$<TARGET_FILE:lightloom-emulate>")
  loom_test(modbus_bus_test
    SOURCES
      ${CMAKE_CURRENT_LIST_DIR}/modbus_bus_test.cpp
    LINKS loom_bus loom_runtime)
  add_dependencies(modbus_bus_test lightloom-emulate)
  target_compile_definitions(modbus_bus_test PRIVATE LOOM_EMULATE_PROGRAM="$<TARGET_FILE:lightloom-emulate>")
  loom_test(module_file_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/module_file_test.cpp LINKS loom_bus loom_drivers)
  add_dependencies(module_file_test lightloom-emulate)
  target_compile_definitions(module_file_test PRIVATE LOOM_EMULATE_PROGRAM="$<TARGET_FILE:lightloom-emulate>")
endif()

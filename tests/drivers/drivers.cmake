# SPDX-License-Identifier: Apache-2.0
# Drivers against device models, and the models by themselves.
loom_test(drivers_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/lasers/itla_frame_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/lasers/itla_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/lasers/itla_module_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/lasers/dark_tuning_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/heaters/heater_bank_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/heaters/heater_board_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/heaters/line_heaters_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/gain/gain_stage_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/flexgrid_dialect_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/lcos_wss_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/ocs/scpi_dialect_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/ocs/scpi_ocs_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/ocs/ocs_sharing_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/ocs/tl1_ocs_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/lasers/table_laser_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/pluggable/cmis_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/pluggable/sff8690_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/driver_faults_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/driver_manners_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/device_model_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/identified_driver_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/registry_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/fault_catalogue_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/waveshaper/waveshaper_profile_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/waveshaper/waveshaper_test.cpp
  LINKS loom_architectures loom_drivers loom_sim_devices)
loom_test(monitor_drivers_test
  SOURCES ${CMAKE_CURRENT_LIST_DIR}/monitors/monitor_drivers_test.cpp
  LINKS loom_architectures loom_drivers loom_sim_devices)
loom_test(driver_codecs_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/driver_codecs_test.cpp
    ${CMAKE_SOURCE_DIR}/tests/fuzz/driver_codecs.cpp
    ${CMAKE_CURRENT_LIST_DIR}/waveshaper/waveshaper_codecs_test.cpp
    ${CMAKE_SOURCE_DIR}/tests/fuzz/heater_codecs.cpp
    ${CMAKE_SOURCE_DIR}/tests/fuzz/meter_codecs.cpp
    ${CMAKE_SOURCE_DIR}/tests/fuzz/waveshaper_codecs.cpp
  LINKS loom_bus loom_drivers loom_sim_devices)

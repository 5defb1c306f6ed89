# Drivers against device models, and the models by themselves.
loom_test(drivers_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/lasers/itla_frame_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/lasers/itla_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/heater_bank_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/flexgrid_dialect_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/lcos_wss_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/scpi_dialect_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/scpi_ocs_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/lasers/table_laser_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/pluggable/cmis_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/pluggable/sff8690_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/driver_faults_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/driver_manners_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/device_model_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/registry_test.cpp
  LINKS loom_architectures loom_drivers loom_sim_devices)
loom_test(driver_codecs_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/driver_codecs_test.cpp
    ${CMAKE_SOURCE_DIR}/tests/fuzz/driver_codecs.cpp
  LINKS loom_drivers loom_sim_devices)

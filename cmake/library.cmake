# SPDX-License-Identifier: Apache-2.0
# Lightloom::lightloom for others (find_package(Lightloom), the package liblightloom-dev): one archive of the rooms that are values
# alone, from workloads to plans, with their headers. Built where it is asked for: by ./dev package and by its test.
set(loom_library_rooms loom_core loom_config loom_drivers loom_workload loom_predict loom_general_matching loom_schedule
  loom_graph_profile loom_architectures loom_arena loom_plan)
foreach(room ${loom_library_rooms})
  list(APPEND loom_library_objects $<TARGET_OBJECTS:${room}>)
endforeach()
add_library(lightloom STATIC EXCLUDE_FROM_ALL ${loom_library_objects})
add_library(Lightloom::lightloom ALIAS lightloom)
set_target_properties(lightloom PROPERTIES LINKER_LANGUAGE CXX)
target_compile_features(lightloom INTERFACE cxx_std_23)
target_include_directories(lightloom INTERFACE $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}> $<INSTALL_INTERFACE:include/lightloom>)
# By the names of their libraries, so that whoever links this needs no package of CMake's for each.
target_link_libraries(lightloom INTERFACE fmt yaml-cpp archive protobuf lemon)

if(LOOM_DEBIAN)
  set(loom_library_cmake ${CMAKE_INSTALL_LIBDIR}/cmake/Lightloom)
  install(TARGETS lightloom EXPORT lightloom ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
  install(EXPORT lightloom NAMESPACE Lightloom:: FILE LightloomConfig.cmake DESTINATION ${loom_library_cmake} COMPONENT dev)
  include(CMakePackageConfigHelpers)
  write_basic_package_version_file(${CMAKE_BINARY_DIR}/LightloomConfigVersion.cmake VERSION ${PROJECT_VERSION}
    COMPATIBILITY SameMinorVersion)
  install(FILES ${CMAKE_BINARY_DIR}/LightloomConfigVersion.cmake DESTINATION ${loom_library_cmake} COMPONENT dev)
  install(DIRECTORY core controller drivers DESTINATION include/lightloom COMPONENT dev FILES_MATCHING PATTERN "*.hpp"
    PATTERN controller/control EXCLUDE PATTERN drivers/bus EXCLUDE)
  install(DIRECTORY docs/examples/find_package/ DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/liblightloom-dev/examples COMPONENT dev)
  # Neither debug information nor who compiled it; deterministic, as ar made it.
  install(CODE "execute_process(COMMAND ${CMAKE_STRIP} -D --strip-debug --remove-section=.comment --remove-section=.note
    \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/liblightloom.a\" COMMAND_ERROR_IS_FATAL ANY)" COMPONENT dev)
endif()

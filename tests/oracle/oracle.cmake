# SPDX-License-Identifier: Apache-2.0
# Exact answers for small cases, by integer programming (CBC, ADR 0017). Tests and benchmarks link it, nothing else does.
find_package(PkgConfig REQUIRED)
pkg_check_modules(cbc REQUIRED IMPORTED_TARGET cbc)
loom_room(loom_ring_oracle SOURCES ${CMAKE_CURRENT_LIST_DIR}/ring_oracle.cpp ${CMAKE_CURRENT_LIST_DIR}/switch_oracle.cpp LINKS loom_arena)
target_link_libraries(loom_ring_oracle PRIVATE PkgConfig::cbc)
# Closed forms of an iteration, beside the engine and schedules.
loom_room(loom_closed_form SOURCES ${CMAKE_CURRENT_LIST_DIR}/closed_form.cpp ${CMAKE_CURRENT_LIST_DIR}/wavelength_map.cpp LINKS loom_architectures loom_predict)

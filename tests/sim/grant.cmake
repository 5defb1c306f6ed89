# SPDX-License-Identifier: Apache-2.0
loom_test(grant_lab_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/grant_lab_test.cpp LINKS loom_grant_lab)
loom_test(grant_figures_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/grant_figures_test.cpp LINKS loom_architectures loom_granted)

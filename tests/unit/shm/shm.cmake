# SPDX-License-Identifier: Apache-2.0
loom_test(shm_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/ring_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/shared_link_test.cpp
  LINKS loom_shm)

# SPDX-License-Identifier: Apache-2.0
loom_test(tidy_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/tidy_test.cpp ${CMAKE_CURRENT_LIST_DIR}/pages_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/methods_test.cpp)

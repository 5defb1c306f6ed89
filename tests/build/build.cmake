# SPDX-License-Identifier: Apache-2.0
# What builds, judged from outside: ./dev's arguments, what `cmake --install` leaves.
find_program(LOOM_BUILD_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
if(LOOM_BUILD_PYTHON)
  add_test(NAME dev_arguments COMMAND ${LOOM_BUILD_PYTHON} ${CMAKE_SOURCE_DIR}/tests/build/dev_test.py $<TARGET_FILE_DIR:loom>)
  add_test(NAME install COMMAND ${LOOM_BUILD_PYTHON} ${CMAKE_SOURCE_DIR}/tests/build/install_test.py ${CMAKE_BINARY_DIR})
  add_test(NAME notify COMMAND ${LOOM_BUILD_PYTHON} ${CMAKE_SOURCE_DIR}/tests/build/notify_test.py $<TARGET_FILE_DIR:loom>)
  add_test(NAME versions COMMAND ${LOOM_BUILD_PYTHON} ${CMAKE_SOURCE_DIR}/tests/build/version_test.py $<TARGET_FILE_DIR:loom>)
  add_test(NAME licences COMMAND ${LOOM_BUILD_PYTHON} ${CMAKE_SOURCE_DIR}/tests/tidy/spdx.py)
  set_tests_properties(versions PROPERTIES SKIP_RETURN_CODE 77)
  add_test(NAME units COMMAND ${LOOM_BUILD_PYTHON} ${CMAKE_SOURCE_DIR}/tests/build/units_test.py $<TARGET_FILE_DIR:loom>)
  set_tests_properties(units PROPERTIES SKIP_RETURN_CODE 77)
endif()

# SPDX-License-Identifier: Apache-2.0
loom_test(zmq_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/intake_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/keyring_file_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/keys_live_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/relay_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/zmq_agents_client_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/zmq_identity_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/zmq_intake_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/zmq_keys_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/zmq_peer_links_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/zmq_shared_peers_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/zmq_transport_test.cpp
  LINKS loom_zmq)
loom_test(viewer_flood_test SOURCES ${CMAKE_CURRENT_LIST_DIR}/viewer_flood_test.cpp LINKS loom_architectures loom_control loom_runtime loom_zmq)

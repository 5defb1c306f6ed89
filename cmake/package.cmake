# SPDX-License-Identifier: Apache-2.0
# cpack in a build folder (./dev package): one .deb a component. What is built and how is the business of the other files; here is
# what Debian wants to know of each package. Of a tree without python/ no package is made of it.
set(LOOM_PACKAGE_VERSION "${PROJECT_VERSION}" CACHE STRING "Version of the packages, as Debian orders versions")
set(LOOM_MAINTAINER "Lightloom maintainers <maintainers@lightloom.invalid>" CACHE STRING "Who answers for the packages")

set(CPACK_GENERATOR DEB)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_VERSION ${LOOM_PACKAGE_VERSION})
set(CPACK_PACKAGE_CONTACT "${LOOM_MAINTAINER}")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_NAME lightloom)
set(CPACK_DEBIAN_PACKAGE_SOURCE lightloom)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_VERBATIM_VARIABLES ON)

set(CPACK_COMPONENTS_ALL "")
set(loom_same "(= ${LOOM_PACKAGE_VERSION}-1)")

# loom_package(COMPONENT PACKAGE SECTION x SUMMARY one line TEXT paragraph [DEPENDS ...] [RECOMMENDS ...] [ALL] [NO_LIBRARIES]).
# Its maintainer scripts are the files packaging/debian/PACKAGE.*.
function(loom_package component package)
  cmake_parse_arguments(P "ALL;NO_LIBRARIES" "SECTION;SUMMARY" "TEXT;DEPENDS;RECOMMENDS" ${ARGN})
  list(APPEND CPACK_COMPONENTS_ALL ${component})
  set(CPACK_COMPONENTS_ALL "${CPACK_COMPONENTS_ALL}" PARENT_SCOPE)
  string(TOUPPER ${component} C)
  list(JOIN P_TEXT "\n" text)
  list(JOIN P_DEPENDS ", " depends)
  list(JOIN P_RECOMMENDS ", " recommends)
  foreach(field NAME:${package} SECTION:${P_SECTION})
    string(REPLACE ":" ";" parts ${field})
    list(GET parts 0 key)
    list(GET parts 1 value)
    set(CPACK_DEBIAN_${C}_PACKAGE_${key} ${value} PARENT_SCOPE)
  endforeach()
  set(CPACK_DEBIAN_${C}_DESCRIPTION "${P_SUMMARY}\n${text}" PARENT_SCOPE)
  set(CPACK_COMPONENT_${C}_DESCRIPTION "${P_SUMMARY}\n${text}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${C}_PACKAGE_DEPENDS "${depends}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${C}_PACKAGE_RECOMMENDS "${recommends}" PARENT_SCOPE)
  if(P_ALL)
    set(CPACK_DEBIAN_${C}_PACKAGE_ARCHITECTURE all PARENT_SCOPE)
  endif()
  if(P_ALL OR P_NO_LIBRARIES)
    set(CPACK_DEBIAN_${C}_PACKAGE_SHLIBDEPS OFF PARENT_SCOPE)
  else()
    set(CPACK_DEBIAN_${C}_PACKAGE_SHLIBDEPS ON PARENT_SCOPE)
  endif()
  set(scripts "")
  foreach(script preinst postinst prerm postrm)
    # CPack takes a script's name from the file's.
    if(EXISTS ${CMAKE_SOURCE_DIR}/packaging/debian/${package}.${script})
      configure_file(packaging/debian/${package}.${script} ${CMAKE_BINARY_DIR}/packaging/${package}/${script}
        COPYONLY FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
      list(APPEND scripts ${CMAKE_BINARY_DIR}/packaging/${package}/${script})
    endif()
  endforeach()
  set(CPACK_DEBIAN_${C}_PACKAGE_CONTROL_EXTRA "${scripts}" PARENT_SCOPE)
  install(FILES packaging/debian/lintian-overrides DESTINATION share/lintian/overrides RENAME ${package} COMPONENT ${component})
  set(doc ${CMAKE_INSTALL_DATADIR}/doc/${package})
  install(FILES packaging/debian/copyright DESTINATION ${doc} COMPONENT ${component})
  install(FILES ${CMAKE_BINARY_DIR}/packaging/changelog.Debian.gz ${CMAKE_BINARY_DIR}/packaging/changelog.gz
    DESTINATION ${doc} COMPONENT ${component})
endfunction()

# The history of Lightloom is CHANGELOG.md; that of the packages has the version that is packed and the instant of its commit, so
# that the same commit makes the same bytes.
function(loom_changelogs)
  set(folder ${CMAKE_BINARY_DIR}/packaging)
  file(MAKE_DIRECTORY ${folder})
  set(when "$ENV{SOURCE_DATE_EPOCH}")
  if(NOT when)
    message(FATAL_ERROR "LOOM_DEBIAN: SOURCE_DATE_EPOCH is not set; ./dev package sets it to the commit's")
  endif()
  # As dpkg-parsechangelog reads it, whatever the user's language is: strftime of LC_ALL=C.
  execute_process(COMMAND ${CMAKE_COMMAND} -E env LC_ALL=C TZ=UTC date -u -R -d @${when} OUTPUT_VARIABLE date
    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  file(WRITE ${folder}/changelog.Debian "lightloom (${LOOM_PACKAGE_VERSION}-1) unstable; urgency=medium\n\n"
    "  * Version ${LOOM_PACKAGE_VERSION}; changelog.gz says what is new.\n\n -- ${LOOM_MAINTAINER}  ${date}\n")
  configure_file(CHANGELOG.md ${folder}/changelog COPYONLY)
  foreach(file changelog.Debian changelog)
    execute_process(COMMAND gzip -9nc ${folder}/${file} OUTPUT_FILE ${folder}/${file}.gz COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
endfunction()
loom_changelogs()

set(loom_what "Lightloom controls an optical network that trains neural networks: it turns"
  "jobs and their traffic into circuits, proves that their light is lawful and"
  "safe, and switches lasers, filters and switches of all nodes at one instant."
  ".")
loom_package(common lightloom-common ALL SECTION net
  SUMMARY "control plane of optical testbeds that train neural networks: configurations"
  TEXT ${loom_what}
    "This package has scenarios, fabrics, inventories and schemas to begin from,"
    "and the user that the daemons run as."
  DEPENDS "systemd | systemd-standalone-sysusers | systemd-sysusers")
loom_package(controller lightloom-controller SECTION net
  SUMMARY "control plane of optical testbeds that train neural networks: controller"
  TEXT ${loom_what}
    "This package has the controller, lightloomd, of which a testbed has one."
  DEPENDS "lightloom-common ${loom_same}" RECOMMENDS "lightloom-cli ${loom_same}")
loom_package(agent lightloom-agent SECTION net
  SUMMARY "control plane of optical testbeds that train neural networks: agents"
  TEXT ${loom_what}
    "This package has the agents, lightloom-agent, that drive the devices of a host,"
    "and the rules by which they may open them."
  DEPENDS "lightloom-common ${loom_same}")
loom_package(cli lightloom-cli SECTION net
  SUMMARY "control plane of optical testbeds that train neural networks: operator's tool"
  TEXT ${loom_what}
    "This package has loom, the operator's tool. With the controller and the agents"
    "it also starts whole labs on one host, with simulated devices."
  DEPENDS "lightloom-common ${loom_same}"
  RECOMMENDS "lightloom-controller ${loom_same}" "lightloom-agent ${loom_same}" "lightloom-emulators ${loom_same}")
loom_package(emulators lightloom-emulators SECTION net
  SUMMARY "control plane of optical testbeds that train neural networks: device emulators"
  TEXT ${loom_what}
    "This package has lightloom-emulate: lasers, heaters, switches, modules and"
    "monitors that are not there, behind the protocols of real ones."
  DEPENDS "lightloom-common ${loom_same}" RECOMMENDS fuse3)
if(EXISTS ${CMAKE_SOURCE_DIR}/python/CMakeLists.txt)
  loom_package(python python3-lightloom SECTION python
    SUMMARY "control plane of optical testbeds that train neural networks: Python module"
    TEXT ${loom_what}
      "This package has the module lightloom for Python 3: fabrics as graphs, demands"
      "as arrays, comparisons as tables, and an asyncio client of a live controller."
    DEPENDS "python3 (>= 3.11)" "python3 (<< 3.12)"
    RECOMMENDS "lightloom-common ${loom_same}" "lightloom-cli ${loom_same}" python3-numpy python3-pandas python3-networkx python3-xarray)
endif()
loom_package(dev liblightloom-dev NO_LIBRARIES SECTION libdevel
  SUMMARY "control plane of optical testbeds that train neural networks: C++ library"
  TEXT ${loom_what}
    "This package has headers and a static library for programs in C++ that predict,"
    "compare and plan: workloads, architectures, schedules, plans and their proof."
  DEPENDS libfmt-dev libyaml-cpp-dev libarchive-dev libprotobuf-dev liblemon-dev nlohmann-json3-dev)

include(CPack)

# Everything that is packed, and nothing else.
add_custom_target(package_contents DEPENDS lightloom loom lightloomd lightloom-agent lightloom-emulate)
if(EXISTS ${CMAKE_SOURCE_DIR}/python/CMakeLists.txt)
  # Whatever its module is called.
  get_property(loom_python_targets DIRECTORY ${CMAKE_SOURCE_DIR}/python PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target ${loom_python_targets})
    add_dependencies(package_contents ${target})
  endforeach()
endif()

# SPDX-License-Identifier: Apache-2.0
# cmake --install build/release --prefix /usr/local (./dev install): the programs with their manual pages, what completes them in
# a shell, units, rules and configs. Each belongs to a component, which is a package of Debian (cmake/package.cmake).
include(GNUInstallDirs)

install(TARGETS lightloomd RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT controller)
install(TARGETS lightloom-agent RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT agent)
install(TARGETS loom RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT cli)
install(TARGETS lightloom-emulate RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT emulators)
# Scenarios name their fabrics and faults by relative paths, so the folders stay beside each other. What is systemd's and udev's
# is installed where they look for it.
install(DIRECTORY configs/ DESTINATION ${CMAKE_INSTALL_DATADIR}/lightloom USE_SOURCE_PERMISSIONS COMPONENT common
  PATTERN systemd EXCLUDE PATTERN udev EXCLUDE)
install(FILES configs/systemd/lightloom.sysusers DESTINATION lib/sysusers.d RENAME lightloom.conf COMPONENT common)
# Below lib, not etc, since they are the vendor's: an administrator's stand before them.
option(LOOM_DEBIAN "Files of systemd, udev and zsh where a package of Debian has them" OFF)
if(LOOM_DEBIAN)
  set(loom_system_lib /lib)
  set(loom_zsh zsh/vendor-completions)
else()
  set(loom_system_lib lib)
  set(loom_zsh zsh/site-functions)
endif()
install(FILES configs/udev/70-lightloom.rules DESTINATION ${loom_system_lib}/udev/rules.d COMPONENT agent)
install(FILES configs/systemd/lightloom-agent.modules DESTINATION lib/modules-load.d RENAME lightloom-agent.conf COMPONENT agent)

# Into a folder that may not exist yet, for what a command writes on stdout.
set(loom_write_file "
  function(write_file file)
    set(file \"\$ENV{DESTDIR}\${file}\")
    cmake_path(GET file PARENT_PATH folder)
    file(MAKE_DIRECTORY \"\${folder}\")
    execute_process(\${ARGN} OUTPUT_FILE \"\${file}\" COMMAND_ERROR_IS_FATAL ANY)
    file(CHMOD \"\${file}\" PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
    message(STATUS \"Installing: \${file}\")
  endfunction()")

# Units start nothing by themselves: a site enables them once its scenario and keys are there (docs/bring_up.md).
# They name the programs where these were installed.
foreach(each controller:lightloomd.service agent:lightloom-agent@.service agent:lightloom-relay@.service)
  string(REPLACE ":" ";" parts ${each})
  list(GET parts 0 component)
  list(GET parts 1 unit)
  install(CODE "
    file(READ \"${CMAKE_SOURCE_DIR}/configs/systemd/${unit}\" text)
    string(REPLACE \"=/usr/bin/\" \"=\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/\" text \"\${text}\")
    set(lib \"${loom_system_lib}\")
    cmake_path(ABSOLUTE_PATH lib BASE_DIRECTORY \"\${CMAKE_INSTALL_PREFIX}\")
    set(file \"\$ENV{DESTDIR}\${lib}/systemd/system/${unit}\")
    file(WRITE \"\${file}\" \"\${text}\")
    message(STATUS \"Installing: \${file}\")" COMPONENT ${component})
endforeach()

# A program itself knows its commands, so what completes them, and the manual page, are asked of it.
foreach(completion bash:bash-completion/completions/loom zsh:${loom_zsh}/_loom fish:fish/vendor_completions.d/loom.fish)
  string(REPLACE ":" ";" parts ${completion})
  list(GET parts 0 shell)
  list(GET parts 1 file)
  install(CODE "${loom_write_file}
    write_file(\"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/${file}\" COMMAND $<TARGET_FILE:loom> completion ${shell})"
    COMPONENT cli)
endforeach()
foreach(page cli:loom:1 controller:lightloomd:8 agent:lightloom-agent:8 emulators:lightloom-emulate:1)
  string(REPLACE ":" ";" parts ${page})
  list(GET parts 0 component)
  list(GET parts 1 program)
  list(GET parts 2 section)
  install(CODE "${loom_write_file}
    write_file(\"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_MANDIR}/man${section}/${program}.${section}.gz\"
      COMMAND $<TARGET_FILE:${program}> --man-page COMMAND gzip -9n)" COMPONENT ${component})
endforeach()

# cmake --install build/release --prefix /usr/local (./dev install): the programs, what completes them in a shell, and the configs.
include(GNUInstallDirs)

install(TARGETS loom lightloomd lightloom-agent lightloom-emulate RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
# Scenarios name their fabrics and faults by relative paths, so the folders stay beside each other.
install(DIRECTORY configs/ DESTINATION ${CMAKE_INSTALL_DATADIR}/lightloom USE_SOURCE_PERMISSIONS)
# Units start nothing by themselves: a site enables them once its scenario and keys are there (docs/bring_up.md).
# They name the programs where these were installed.
foreach(unit lightloomd.service lightloom-agent@.service)
  install(CODE "
    file(READ \"${CMAKE_SOURCE_DIR}/configs/systemd/${unit}\" text)
    string(REPLACE \"=/usr/bin/\" \"=\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/\" text \"\${text}\")
    set(file \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/lib/systemd/system/${unit}\")
    file(WRITE \"\${file}\" \"\${text}\")
    message(STATUS \"Installing: \${file}\")")
endforeach()
install(FILES configs/systemd/lightloom.sysusers DESTINATION lib/sysusers.d RENAME lightloom.conf)
install(FILES configs/udev/70-lightloom.rules DESTINATION lib/udev/rules.d)
# The program itself knows its commands, so what completes them is asked of the one that was installed.
foreach(completion bash:bash-completion/completions/loom zsh:zsh/site-functions/_loom fish:fish/vendor_completions.d/loom.fish)
  string(REPLACE ":" ";" parts ${completion})
  list(GET parts 0 shell)
  list(GET parts 1 file)
  install(CODE "
    set(file \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/${file}\")
    cmake_path(GET file PARENT_PATH folder)
    file(MAKE_DIRECTORY \"\${folder}\")
    execute_process(COMMAND \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/loom\" completion ${shell}
      OUTPUT_FILE \"\${file}\" COMMAND_ERROR_IS_FATAL ANY)
    message(STATUS \"Installing: \${file}\")")
endforeach()

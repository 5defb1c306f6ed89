# The simulated seams depend on the seams' contract and the device models; the world links the machines that run over them.
loom_room(loom_sim_seams
  SOURCES
    virtual_loop.cpp
    sim_network.cpp
    sim_disk.cpp
    sim_bus.cpp
    light_checker.cpp
  LINKS loom_core loom_light)

# Ground truth on disk, for processes that host simulated devices and for whoever replays their light.
loom_room(loom_light_log SOURCES light_log.cpp LINKS loom_core loom_sim_devices)

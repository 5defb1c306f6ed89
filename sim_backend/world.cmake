# The simulated seams need the seams' contract, the device models and light; the world links the machines that run over them.
loom_room(loom_sim_seams
  SOURCES
    virtual_loop.cpp
    sim_network.cpp
    sim_disk.cpp
    sim_bus.cpp
    light_checker.cpp
    snapshot_news.cpp
    fault_excuse.cpp
    fault_model.cpp
  LINKS loom_core loom_config loom_sim_devices loom_light)
loom_room(loom_sim_world
  SOURCES
    operator_script.cpp
    time_spans.cpp
    plan_history.cpp
    job_light.cpp
    job_account.cpp
    job_account_text.cpp
    json_text.cpp
    run_account.cpp
    planned_light.cpp
    world.cpp
    world_faults.cpp
    world_interlocks.cpp
    world_crash.cpp
    world_machines.cpp
    troubled_host.cpp
    kill_points.cpp
    fault_notices.cpp
    swarm.cpp
    swarm_fabric.cpp
    shrink.cpp
    simulation.cpp
    simulation_text.cpp
    tape_replay.cpp
    lab_judge.cpp
    traffic_source.cpp
    outsider.cpp
    drift_experiment.cpp
  LINKS loom_sim_seams loom_config loom_architectures loom_predict loom_workload loom_plan loom_control loom_agents loom_drivers loom_runtime)

# Ground truth on disk, for processes that host simulated devices and for whoever replays their light.
loom_room(loom_light_log SOURCES light_log.cpp LINKS loom_core loom_sim_devices)

# The fast plane at scale needs the grant machines only, and no world.
loom_room(loom_grant_lab SOURCES grant_lab.cpp LINKS loom_core loom_agents)
# T14, and jobs over the same machines.
loom_room(loom_granted SOURCES granted_iteration.cpp grant_figures.cpp LINKS loom_grant_lab loom_arena loom_predict loom_workload loom_core)

// SPDX-License-Identifier: Apache-2.0
// Words for CLI11.
#include "sim_backend/emulate/options.hpp"

#include <CLI/CLI.hpp>

namespace loom {

void add_common_options(CLI::App& app, EmulatorOptions& options, std::uint16_t usual_port) {
  options.port = usual_port;
  auto* port = app.add_option("--port", options.port, "TCP port; 0 takes any free one")->capture_default_str();
  auto* bind = app.add_option("--bind", options.bind,
                              "IP address to listen on: 127.0.0.1, ::1, or :: for every interface of both families")
                   ->capture_default_str();
  auto* pty = app.add_flag("--pty", options.pty, "a pseudo terminal instead of TCP, as a serial line would be");
  pty->excludes(port)->excludes(bind);
  app.add_option("--link", options.link, "a symbolic link that is made to the terminal and goes with it")->needs(pty);
  add_device_options(app, options);
}

void add_device_options(CLI::App& app, EmulatorOptions& options) {
  app.add_option("--boot-ms", options.boot_ms, "ms from a power cycle until it can be reached again")
      ->check(CLI::Range(0, 600'000))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "seed of settling times and misbehaviour")->capture_default_str();
  app.add_option("--light-log", options.light_log, "file that gets one line for each change of its light");
  auto* light_id = app.add_option("--light-id", options.light_id, "the device's id in that file")->capture_default_str();
  app.add_option("--serial", options.serial, "the serial number that it says");
  auto* scenario = app.add_option("--scenario", options.scenario,
                                  "stands for devices of this scenario: their sizes, times, profiles and ids are the file's")
                       ->excludes(light_id);
  app.add_option("--bus", options.buses, "which bus of the scenario; several times: several buses behind one place")
      ->needs(scenario);
  app.add_option("--faults-of", options.faults_of,
                 "state folder of a lab: once its run begins, the scenario's device_faults happen to these devices")
      ->needs(scenario);
  app.add_option("--fault", options.faults, "NAME[=VALUE][,times=N][,after=DURATION][,lasts=DURATION]; several times");
}

}  // namespace loom

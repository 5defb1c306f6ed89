// SPDX-License-Identifier: Apache-2.0
// Ports and slowness.
#include "sim_backend/emulate/switches/switch_options.hpp"

#include <CLI/CLI.hpp>

namespace loom {

void add_switch_options(CLI::App& app, SwitchOptions& options, std::uint16_t usual_port) {
  add_common_options(app, options.common, usual_port);
  app.add_option("--inputs", options.inputs, "input ports")->check(CLI::Range(1, 1024))->capture_default_str();
  app.add_option("--outputs", options.outputs, "output ports")->check(CLI::Range(1, 1024))->capture_default_str();
  app.add_option("--settle-us", options.settle_us, "worst settling time, us; each change takes 60 to 100 percent of it")
      ->check(CLI::Range(0, 60'000'000))
      ->capture_default_str();
}

Element switch_element(const SwitchOptions& options) {
  Element element;
  element.name = "switch";
  element.inputs = options.inputs;
  element.outputs = options.outputs;
  return element;
}

}  // namespace loom

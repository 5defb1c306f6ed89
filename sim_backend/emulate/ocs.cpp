// lightloom-emulate ocs: an optical circuit switch that speaks SCPI.
#include <CLI/CLI.hpp>
#include <memory>

#include "sim_backend/emulate/emulators.hpp"
#include "sim_backend/emulate/fault_words.hpp"
#include "sim_backend/emulate/server.hpp"
#include "sim_backend/emulate/switch_options.hpp"

namespace loom {
namespace {

constexpr const char* kWords =
    "\nLines end in \\n. Ports 1..N are ingress, N+1..N+M egress; commands succeed in silence, errors are queued.\n"
    "  *idn?  *opc?  *cls  *RST  :oxc:swit:size?\n"
    "  :oxc:swit:conn:add (@1,2),(@17,18)   :sub (@1),(@17) or (@1,2),(@)   :only (@..),(@..)   :oxc:swit:disc:all\n"
    "  :oxc:swit:conn:stat?   :oxc:swit:conn:port? 2   :syst:err?   :syst:err:all?\n"
    "Long forms, any case, several commands in a line with ';'. Ports under way are missing from :stat?.\n"
    "SIGHUP is a power cycle: cross-connects and connections are lost.\n"
    "\nWhen it can be reached it prints 'port N' or 'pty PATH' on stdout.\n";

int serve(const SwitchOptions& options) {
  OpticalCircuitSwitch kind;
  kind.settle_max = std::chrono::microseconds{options.settle_us};
  Element element = switch_element(options);
  element.kind = kind;
  const EmulatorOptions& common = options.common;
  return run_emulator(common.scenario.empty() ? lone_devices({{DeviceRole::circuit_switch, "ocs", {element}}}, common)
                                              : devices_of_scenario(common, {"ocs"}),
                      {}, {[](const EmulatorOptions&) { return make_line_framing(); }}, common);
}

}  // namespace

const EmulatorProgram kOcsEmulator{"ocs", "an optical circuit switch, Polatis' SCPI over TCP or a pseudo terminal",
                                   [](CLI::App& app) -> std::function<int()> {
                                     const auto options = std::make_shared<SwitchOptions>();
                                     options->inputs = 16;
                                     options->outputs = 16;
                                     options->settle_us = 25'000;
                                     add_switch_options(app, *options, 5'025);
                                     app.footer(kWords + fault_help(DeviceRole::circuit_switch));
                                     return [options] { return serve(*options); };
                                   }};

}  // namespace loom

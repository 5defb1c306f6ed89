// SPDX-License-Identifier: Apache-2.0
// lightloom-emulate: protocol-exact stand-ins for devices, each a process of its own. Words on stderr, its place on stdout.
#include <CLI/CLI.hpp>
#include <array>
#include <functional>
#include <utility>
#include <vector>

#include "runtime/process_limits.hpp"
#include "runtime/program/program_page.hpp"
#include "sim_backend/emulate/emulators.hpp"

namespace {

constexpr std::array kEmulators{
    &loom::kCmisEmulator,       &loom::kHeaterEmulator,     &loom::kItlaEmulator,       &loom::kOcsEmulator,
    &loom::kPhotodiodeEmulator, &loom::kPowerMeterEmulator, &loom::kWaveShaperEmulator, &loom::kSffEmulator,
    &loom::kTableLaserEmulator, &loom::kWssEmulator,        &loom::kGainLinesEmulator,  &loom::kGainRegistersEmulator,
};

/// What the manual page says besides the options.
loom::ProgramPage emulator_page() {
  loom::ProgramPage page;
  page.name = "lightloom-emulate";
  page.summary = "optical devices that are not there, behind their real protocols";
  page.description = {
      "Each command is one kind of device, served by one process until it is told to end (SIGINT, SIGTERM): over TCP, over a "
      "pseudo-terminal that stands for a serial line, or as files of a pluggable module. What the drivers of lightloom-agent "
      "read "
      "and write of the device is what the device would say, at the pace of its data sheet, and with the faults that it is "
      "told "
      "to have.",
      "Where the device is reached is printed as one line on stdout as soon as it can be reached; everything else is said on "
      "stderr.",
      "loom lab up starts the emulators that a scenario needs; by hand they serve tests of other software as well."};
  page.sections = {
      {"EXIT STATUS", {}, {{"0", "it was told to end"}, {"1", "it could not serve"}, {"2", "the command line is wrong"}}}};
  page.see_also = {"loom(1)", "lightloom-agent(8)"};
  return page;
}

}  // namespace

int main(int argc, char** argv) {
  loom::keep_files_private();
  CLI::App app{"Device emulators that speak the devices' real protocols.", "lightloom-emulate"};
  loom::add_program_page(app, emulator_page());
  app.require_subcommand(1);
  std::vector<std::pair<CLI::App*, std::function<int()>>> emulators;
  for (const loom::EmulatorProgram* program : kEmulators) {
    CLI::App* subcommand = app.add_subcommand(program->name, program->summary);
    emulators.emplace_back(subcommand, program->add(*subcommand));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  for (const auto& [subcommand, run] : emulators) {
    if (subcommand->parsed()) {
      return run();
    }
  }
  return 2;
}

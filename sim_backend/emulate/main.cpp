// lightloom-emulate: protocol-exact stand-ins for devices, each a process of its own. Words on stderr, its place on stdout.
#include <CLI/CLI.hpp>
#include <array>
#include <functional>
#include <utility>
#include <vector>

#include "runtime/process_limits.hpp"
#include "sim_backend/emulate/emulators.hpp"

namespace {

constexpr std::array kEmulators{
    &loom::kCmisEmulator,       &loom::kHeaterEmulator,     &loom::kItlaEmulator,       &loom::kOcsEmulator,
    &loom::kPhotodiodeEmulator, &loom::kPowerMeterEmulator, &loom::kWaveShaperEmulator, &loom::kSffEmulator,
    &loom::kTableLaserEmulator, &loom::kWssEmulator,
};

}  // namespace

int main(int argc, char** argv) {
  loom::keep_files_private();
  CLI::App app{"Device emulators that speak the devices' real protocols.", "lightloom-emulate"};
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

// lightloom-emulate: protocol-exact stand-ins for devices, each a process of its own. Words on stderr, the port on stdout.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

#include "sim_backend/emulate/heater_server.hpp"

namespace {

constexpr const char* kHeaterMap =
    "\nRegister map (holding registers; functions 03h, 06h, 10h), as of a Waveshare Modbus analog output 8CH (B):\n"
    "  0x0000..  channel 1..  output, mV, 0..10000\n"
    "  0x2000    UART         high byte parity 0 N, 1 E, 2 O; low byte baud 0 4800 .. 7 256000\n"
    "  0x4000    address      1..255\n"
    "  0x8000    version      0x0064 is 1.00; read only\n"
    "Exceptions: 1 function, 2 address, 3 value, 6 busy, 11 no such unit behind this port.\n"
    "\nWhen it listens it prints 'port N' on stdout.\n";

int serve_heater(const loom::HeaterServerOptions& options) {
  auto server = loom::HeaterServer::open(options);
  if (!server) {
    std::fprintf(stderr, "lightloom-emulate: %s\n", server.error().message.c_str());
    return 1;
  }
  std::printf("port %u\n", static_cast<unsigned>(server->port()));
  std::fflush(stdout);
  const loom::Result<void> ended = server->serve();
  std::fprintf(stderr, "lightloom-emulate: %s\n", ended.error().message.c_str());
  return 1;
}

void add_heater_options(CLI::App& heater, loom::HeaterServerOptions& options, std::int64_t& late_ms) {
  heater.add_option("--port", options.port, "TCP port; 0 takes any free one")->capture_default_str();
  heater.add_option("--bind", options.bind, "IPv4 address to listen on")->capture_default_str();
  heater.add_option("--bank-channels", options.bank_channels, "outputs of a bank")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  heater.add_option("--unit", options.units, "Modbus unit of a bank; give several for several banks")
      ->check(CLI::Range(1, 247));
  heater.add_option("--busy", options.busy, "probability that a request is answered 'busy'")->check(CLI::Range(0.0, 1.0));
  heater.add_option("--late", late_ms, "ms by which replies come late")->check(CLI::Range(0, 60'000));
  heater.add_option("--late-count", options.late_count, "only the first so many replies are late; 0 means all");
  heater.add_flag("--silent", options.silent, "take requests, answer nothing");
  heater.add_option("--seed", options.seed, "seed of the misbehaviour")->capture_default_str();
  heater.footer(kHeaterMap);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Device emulators that speak the devices' real protocols.", "lightloom-emulate"};
  app.require_subcommand(1);
  loom::HeaterServerOptions options;
  std::int64_t late_ms = 0;
  CLI::App& heater = *app.add_subcommand("heater", "banks of ring heaters behind Modbus/TCP");
  add_heater_options(heater, options, late_ms);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  options.late = std::chrono::milliseconds{late_ms};
  return serve_heater(options);
}

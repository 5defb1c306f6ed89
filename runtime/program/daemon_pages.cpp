// SPDX-License-Identifier: Apache-2.0
// Sentences for operators of a host; the state folder's files are those of runtime/state/state_folder.hpp.
#include "runtime/program/daemon_pages.hpp"

namespace loom {
namespace {

ManSection exit_status() {
  return {"EXIT STATUS",
          {},
          {{"0", "it was told to end, and did"},
           {"1", "it cannot start; stderr says what is wrong, and what to type next"},
           {"others", "the command line is wrong"}}};
}

ManSection environment() {
  return {
      "ENVIRONMENT",
      {},
      {{"NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID",
        "Set by a service manager: it is told when the daemon serves (READY=1), what it does (STATUS=), that its loop turns "
        "(WATCHDOG=1, twice within the time that the manager gives it) and that it ends (STOPPING=1). See sd_notify(3)."}}};
}

}  // namespace

ProgramPage controller_page() {
  ProgramPage page;
  page.name = "lightloomd";
  page.section = 8;
  page.summary = "the controller of an optical network that trains neural networks";
  page.description = {
      "Computes from jobs and their traffic which circuits are lit when, proves that their light is lawful and safe, and has "
      "every node's lightloom-agent switch at one instant. Each decision is in its journal before anybody acts on it, so it "
      "may "
      "be killed at any moment; agents keep their light without it.",
      "Operators speak to it by loom(1), over connections that are encrypted and authenticated by the keys of its state "
      "folder."};
  page.sections = {
      {"SIGNALS", {}, {{"SIGTERM, SIGINT", "Ends it. What is lit stays lit."}, {"SIGHUP", "It reads the keyring again."}}},
      {"FILES",
       {},
       {{"/etc/lightloom/site.yaml", "The scenario of the systemd unit: fabric, hosts, timings."},
        {"/var/lib/lightloom", "The state folder of the systemd unit."},
        {"STATE/keys/", "Keys of the controller, of operators and agents, and the keyring of who may do what."},
        {"STATE/controller.db", "The journal."},
        {"STATE/controller.address", "Where it listens, while it does."},
        {"STATE/controller.tape", "With --record: everything that it received, for loom sim replay."},
        {"/usr/share/lightloom", "Scenarios, fabrics and workloads to begin from."}}},
      environment(),
      exit_status()};
  page.see_also = {"loom(1)", "lightloom-agent(8)", "lightloom-emulate(1)", "systemd.service(5)"};
  return page;
}

ProgramPage agent_page() {
  ProgramPage page;
  page.name = "lightloom-agent";
  page.section = 8;
  page.summary = "agents of optical nodes: drives lasers, filters and switches as the plan says";
  page.description = {
      "One process hosts the agents of the nodes of one host. Each checks its part of a plan, prepares it, switches at the "
      "instant that all have agreed upon, and reads back what its devices then do. Light that nobody vouches for is put out: "
      "without its controller an agent keeps what was confirmed, and darkens what was not.",
      "Devices are reached over serial lines, networks, I2C and GPIO, as the scenario's inventory says; devices that "
      "it "
      "does not name are simulated."};
  page.sections = {{"SIGNALS",
                    {},
                    {{"SIGTERM, SIGINT", "Ends it. What is lit stays lit."},
                     {"SIGHUP", "It reads its keys, and the bundle of --keys, again."}}},
                   {"FILES",
                    {},
                    {{"/etc/lightloom/site.yaml", "The scenario of the systemd unit, the same on every host."},
                     {"/etc/lightloom/HOST.keys.tar", "The keys of this host, from loom keys bundle HOST."},
                     {"/var/lib/lightloom-agent", "The state folder of the systemd unit."},
                     {"STATE/agents-N.db", "The journal of process N."},
                     {"STATE/agents-N.light", "With simulated devices: what became of their light."},
                     {"/usr/lib/udev/rules.d/70-lightloom.rules", "Which device files the group lightloom may open."}}},
                   environment(),
                   exit_status()};
  page.see_also = {"loom(1)", "lightloomd(8)", "lightloom-emulate(1)", "systemd.service(5)"};
  return page;
}

}  // namespace loom

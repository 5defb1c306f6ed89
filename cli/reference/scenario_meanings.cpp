// SPDX-License-Identifier: Apache-2.0
// What the keys of scenarios, fault files and inventories mean.
#include "cli/reference/config_keys.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

constexpr const char* kWorkload =
    "what it trains: a name of the zoo (`loom workload list`), or with a `/` in it a trace or "
    "demand file, relative to this file";
constexpr const char* kSettings = "of the workload, as `--set` has them (`loom workload show NAME`)";

std::vector<KeyMeaning> with_header(std::vector<KeyMeaning> keys) {
  std::vector<KeyMeaning> all = header_meanings();
  all.insert(all.end(), keys.begin(), keys.end());
  return all;
}

std::vector<KeyMeaning> top_keys() {
  return with_header({
      {"name", "what the run is called in reports"},
      {"mode",
       "sim: everything in virtual time; soft: real processes, simulated devices; mixed: some devices are real or "
       "emulated; hard: all are"},
      {"modes", "all modes that it may be run in, its own `mode` among them", "its own mode, and sim",
       "a list of sim, soft, mixed, hard"},
      {"fabric", "the fabric file, relative to this file"},
      {"algorithm", "the scheduler (`loom fabric list`)", "the fabric's architecture"},
      {"seed", "of everything that is drawn: two runs in mode sim with one seed are the same"},
      {"duration", "of the run; without it the run ends when every job has ended"},
      {"inventory",
       "where buses are in this installation: a file of kind inventory, or a map of bus names to endpoints",
       {},
       "a file, or a map of bus names to endpoints"},
      {"devices", "single devices of this installation, by name", {}, "a map of device names to their keys"},
      {"triggers",
       "lines of a host whose edge fires devices at the instant itself; an inventory may have them too",
       {},
       "a map of names of lines to their keys"},
      {"agents", "how agents are hosted on one host", {}, "a map"},
      {"hosts",
       "hosts of their own for agents, instead of `agents`; every node is on one",
       {},
       "a map of 1 to 4096 names of hosts to their keys"},
      {"relays",
       "tcp://HOST:PORT of each relay; agent process (or host) k reaches the controller through relay k modulo their number",
       "none: agents reach the controller themselves", "a list of 1 to 64 endpoints, at most one for each agent process"},
      {"controller", "periods and deadlines of the controller", {}, "a map"},
      {"reconcile", "what is done about devices that are not what is desired of them", {}, "a map"},
      {"adaptation", "when light follows measured demand", {}, "a map"},
      {"training", "how the stand-ins of training processes behave (jobs that are `paced_by: training`)", {}, "a map"},
      {"simulated_rings", "how far simulated ring filters are from what the fabric says of them", {}, "a map"},
      {"jobs", "what is submitted, and when"},
      {"churn", "a generator of jobs that come and go", {}, "a map"},
      {"faults", "a fault file whose faults happen too, relative to this file", "none"},
      {"network", "what the simulated network does to messages", {}, "a map"},
      {"device_faults", "what goes wrong with devices"},
      {"machine_faults", "what goes wrong with the controller or with agents"},
      {"fibre_faults", "what is cut, dirty or plugged wrongly (mode sim)"},
      {"actions", "what an operator types while it runs"},
      {"expect", "what shall become of every job that has no expectation of its own", {}, "a map"},
  });
}

std::vector<KeyMeaning> controller_keys() {
  return {
      {"listen", "tcp://HOST:PORT at which agents of other hosts find the controller; hosts need it",
       "a free port of loopback"},
      {"debounce", "changes of intent within it become one plan"},
      {"retry_interval", "an unanswered request is repeated this often"},
      {"stage_deadline", "a stage of a commit that lasts longer, beyond its devices' own times, has failed"},
      {"lead_margin", "is added to the lead that is measured for the instant of a change"},
      {"clock_error", "between the clocks of the controller and of any agent, at worst"},
      {"beat_interval", "of heartbeats, both ways"},
      {"suspect_after", "an agent that is silent for so long is suspected; more than beat_interval"},
      {"dead_after", "an agent that is silent for so long is taken for dead; more than suspect_after"},
      {"report_interval", "of an agent's periodic observations"},
      {"late_attempts", "a commit for which an agent was too late is tried again so often, then its new jobs are refused"},
      {"attend_lease", "a launcher that is silent for longer no longer attends its job"},
      {"probe_lease", "light that is sent to be measured goes out when nobody has asked for it again for so long"},
      {"quiesce_deadline", "an attended job that is not quiet by then goes dark as it is"},
      {"plan_steps", "of a scheduler in one plan; a demand that takes more is refused"},
      {"plan_deadline", "a plan that takes longer is given up, and the jobs that wanted it are refused; not in virtual time"},
  };
}

std::vector<KeyMeaning> reconcile_keys() {
  return {
      {"audit_round", "in it an agent reads each of its devices once; less than stale_after"},
      {"interval", "how often desired and observed are compared"},
      {"stale_after", "an observation that is older is stale"},
      {"attempts", "repairs of one device, then it is left to people, with an alarm"},
      {"backoff", "between the repairs of one device; doubled by each"},
      {"quiet", "a device that was sound for so long may be repaired anew"},
      {"missing", "light or a route that is wanted and is not there"},
      {"foreign", "light, heat or a route that nobody asked for; adopt: it becomes what is desired"},
      {"detuned", "light beside its frequency"},
      {"dim", "light that is weaker than it should be; adopt: its power becomes what is desired"},
  };
}

std::vector<KeyMeaning> job_keys() {
  return {
      {"name", "unique in the scenario"},
      {"workload", kWorkload},
      {"nodes", "how many it trains on"},
      {"settings", kSettings},
      {"at", "when it is submitted, from the start of the run"},
      {"after", "an earlier job: this one is submitted once that has ended, if that is later than `at`", "none"},
      {"runs_for", "it is cancelled so long after its submission"},
      {"iterations", "it is cancelled when its light has carried so many; fewer fail the run", "not limited"},
      {"transmit", "slots: light follows the plan's timeslots; grants: nodes grant each other's light"},
      {"adapt", "its light follows its measured demand"},
      {"paced_by", "who says that a node is ready for the next iteration: its model's compute time, or training processes"},
      {"traffic", "what it really moves, as its simulated nodes report it (mode sim and no other)"},
      {"changes", "an earlier job: no job of its own, that one moves this workload from `at` on", "none"},
      {"expect", "what shall become of it; without one, a job that is refused, dark or short of its iterations fails the run",
       "the scenario's", "a map"},
  };
}

std::vector<KeyMeaning> expect_keys() {
  return {
      {"state", "the job's last state in the controller's word, such as refused", "any but refused"},
      {"why", "part of the reason of that state; needs `state`", "any"},
      {"dark",
       "windows of the run in each of which the job is dark without a commit of its own",
       {},
       "a map, or a list of at most 64"},
      {"dark_at_most", "so much darkness outside those windows fails nothing", "0 s"},
      {"iterations", "its light carries at least so many, though more were asked for", "all that were asked for"},
  };
}

std::vector<KeyMeaning> action_keys() {
  const auto node = [](std::string_view key, std::string_view meaning) {
    return KeyMeaning{key, meaning, "none", "a node's name or number"};
  };
  const auto one = [](std::string_view key, std::string_view meaning) { return KeyMeaning{key, meaning, "none"}; };
  return {
      {"at", "from the start of the run; what is about a job waits until the job is there"},
      {"force", "of drain and maintain: as `--force`"},
      {"refused", "it is expected to be refused, with this in the reason", "it is expected to be done"},
      node("drain", "no new jobs; running ones move"),
      node("undrain", "it may get jobs again"),
      node("maintain", "maintenance on: drained, dark and latched"),
      node("release", "maintenance off; it stays drained"),
      one("cancel", "a job of this scenario: it ends"),
      one("resize", "a job of this scenario: it gets `nodes`"),
      one("lasers", "everything dark and latched, or light again"),
      one("reset", "a device: it is read back and set again"),
      one("darken", "a laser: set dark by hand"),
      one("clear", "a device: the plan decides again"),
      one("schedule", "pin: what is lit is applied as an operator's own schedule; rollback: back to the one that had others"),
      {"nodes", "of resize: how many from then on", "required with resize", "a whole number"},
  };
}

std::vector<KeyMeaning> network_keys() {
  return {
      {"delay_min", "of a message, at least"},
      {"delay_max", "of a message, at most", "200 us, or delay_min"},
      {"loss", "probability that a message is lost"},
      {"duplicate", "probability that it arrives twice"},
      {"reorder", "probability that it waits once more between delay_min and delay_max"},
      {"until", "only the delay remains after it, from the start of the run"},
  };
}

std::vector<KeyMeaning> device_fault_keys() {
  return {
      {"at", "when it begins, from the start of the run"},
      {"device", "its name in the fabric file"},
      {"kind", "what is wrong with it: a name that a device of its role can have"},
      {"lasts", "until it is sound again"},
      {"offset", "of a drifting or detuned device: how far its light is from where it should be",
       "required, but of a mode hop 50 GHz"},
      {"loss", "of laser-dim: how much weaker its light is"},
      {"delay", "of late: how late it answers; of reboot-mid-command: how long it is away",
       "required with late; 500 ms with reboot-mid-command"},
      {"factor", "of slow: everything that settles takes so many times as long"},
      {"percent", "of silent, damaged, bus-crc and refusing: so many of a hundred exchanges"},
      {"channel", "of heater-open: of the ring"},
  };
}

std::vector<KeyMeaning> machine_fault_keys() {
  return {
      {"at", "when it begins, from the start of the run"},
      {"machine", "controller, or the node whose agent it is"},
      {"kind",
       "crash, as kill -9; partition: nobody hears it; disk_full; slow: a busy host; clock_step, clock_drift: of an "
       "agent; takeover: a second controller; interlock_open: a contact of an agent. With real processes only crash"},
      {"lasts", "until it is sound again, or starts again"},
      {"delay", "of slow: so much later it hears what it is told"},
      {"offset", "of clock_step: how far its clock is off"},
      {"drift_ppm", "of clock_drift: its clock runs so many millionths too fast"},
  };
}

std::vector<KeyMeaning> fibre_fault_keys() {
  return {
      {"at", "when it begins, from the start of the run"},
      {"kind", "fibre-swap: the far ends of two fibres are exchanged; fibre-cut: no light leaves it; fibre-dirty: less does"},
      {"lasts", "until all is as planned"},
      {"ends", "inputs, ELEMENT (port 0) or ELEMENT:PORT, at which the fibres end: two of fibre-swap, one of the others"},
      {"loss", "of fibre-dirty: so much more than the fibre's own"},
  };
}

const std::string kFile = "zzz: 1";

/// The file, and how its installation is run.
std::vector<ConfigSection> run_sections(const std::string& kind) {
  return {
      {kind, "", "", "one run: fabric, mode, jobs, faults, and what shall come of it", {kFile}, top_keys()},
      {kind,
       "agents",
       "",
       "how agents are hosted on one host",
       {"agents: {zzz: 1}"},
       {{"processes", "agent processes that share the nodes evenly (not in mode sim, which has one process)"}}},
      {kind,
       "hosts.NAME",
       "",
       "one host of several, with one agent process",
       {"hosts: {x: {zzz: 1}}"},
       {{"address", "IPv4 or IPv6 address, or name, by which the other hosts reach it"},
        {"port", "TCP: its agents listen there for those of other hosts, and for operators"},
        {"nodes", "whose agents run there: a number, a range such as 0-3, or a list of both", "required",
         "a number, a range, or a list"}}},
      {kind, "devices.NAME", "", "a device of this installation", {"devices: {x: {zzz: 1}}"}, device_meanings()},
      trigger_section(kind),
      {kind, "controller", "", "periods and deadlines of the controller", {"controller: {zzz: 1}"}, controller_keys()},
      {kind,
       "reconcile",
       "",
       "what is done about devices that are not what is desired of them",
       {"reconcile: {zzz: 1}"},
       reconcile_keys()},
      {kind,
       "adaptation",
       "",
       "when the light of a job that adapts follows its measured demand",
       {"adaptation: {zzz: 1}"},
       {{"tolerance", "two demands are the same if they differ in at most this part of the larger one's bytes"},
        {"margin", "a new plan must be predicted faster than the present light by this part"},
        {"hold_times", "light is held for so many dark times of a change, and demand must be as steady"},
        {"restless", "so many changes of demand within so many holds are an alarm"},
        {"fresh", "a node that has said nothing of its traffic for longer is not believed"}}},
      {kind,
       "training",
       "",
       "how the stand-ins of training processes behave",
       {"training: {zzz: 1}"},
       {{"jitter", "each iteration computes for the model's time x (1 - jitter .. 1 + jitter)"},
        {"slow", "probability of an iteration that computes for `slow_by` longer"},
        {"slow_by", "how much longer"},
        {"lost", "probability that what a process says is not heard; it says it again"},
        {"doubled", "probability that a process says it twice"}}},
      {kind,
       "simulated_rings",
       "",
       "how far simulated ring filters are from what the fabric says of them, each drawn once by the seed",
       {"simulated_rings: {zzz: 1}"},
       {{"resistance", "part by which a heater's resistance differs at most, either way"},
        {"cold", "by which a cold resonance differs at most, either way; 1 nm is 125 GHz"},
        {"crosstalk", "part of a heater's effect that the next ring of its bank feels; e times less each ring further"},
        {"substrate", "part of the heat that comes late, with the chip"},
        {"substrate_time", "the chip's time constant"}}},
  };
}

/// What is done in it.
std::vector<ConfigSection> work_sections(const std::string& kind) {
  const std::string verbs =
      "drain: 1, undrain: 1, maintain: 1, release: 1, cancel: a, resize: a, lasers: off, reset: a, "
      "darken: a, clear: a, schedule: pin";
  return {
      {kind, "jobs[]", "", "one job", {"jobs: [{zzz: 1}]"}, job_keys()},
      {kind,
       "jobs[].traffic[]",
       "",
       "what a job really moves from then on, where that is not what it declares",
       {"jobs: [{nodes: 65536, traffic: [{zzz: 1, workload: vgg19}]}]"},
       {{"at", "since the job's submission; ascending"},
        {"workload", kWorkload, "the job's"},
        {"settings", kSettings, "the job's, where the workload is"},
        {"groups", "equal parts of its ranks, each of which runs the workload by itself"},
        {"every", "one iteration"}}},
      {kind,
       "expect",
       "",
       "what its author says will become of a job (also `jobs[].expect`); what does not happen fails the run as well",
       {"expect: {zzz: 1, dark_at_most: 1 s, iterations: 1}"},
       expect_keys()},
      {kind,
       "expect.dark",
       "",
       "a window of the run in which the job is dark",
       {"expect: {dark: {zzz: 1}}"},
       {{"from", "from the start of the run"}, {"to", "from the start of the run; without it to the end"}}},
      {kind,
       "churn",
       "",
       "change k is at start + k x period: the next job is submitted, or the oldest is cancelled",
       {"churn: {zzz: 1}"},
       {{"revisions", "how many changes"},
        {"job_nodes", "sizes of the jobs, in turn"},
        {"live_jobs", "at once, at most"},
        {"workload", kWorkload},
        {"settings", kSettings},
        {"start", "of the first change, from the start of the run"},
        {"period", "between changes"}}},
      {kind,
       "actions[]",
       "",
       "one verb of `loom` and its object, ordered again until it is answered; a refusal fails the run",
       {format_text("actions: [{{zzz: 1, {}}}]", verbs)},
       action_keys()},
  };
}

}  // namespace

std::vector<KeyMeaning> header_meanings() {
  return {{"schema_version", "of the keys", {}, "1"}, {"kind", "which kind of file it is"}};
}

ConfigSection trigger_section(const std::string& kind) {
  return {kind,
          "triggers.NAME",
          "",
          "a line of a host whose edge fires devices",
          {"triggers: {x: {zzz: 1}}"},
          {{"endpoint", "an output of a GPIO chip, a periodic output of a PTP clock, or the simulation's (docs/hosts.md)",
            "required", "gpio:///dev/gpiochip0/LINE?pulse=10us, phc:///dev/ptp0?channel=0&pin=0 or sim?skew=100ns"},
           {"devices", "those that the line is wired to: of one node, each with trigger: true in its profile", "required",
            "a list of device names"}}};
}

std::vector<KeyMeaning> device_meanings() {
  return {
      {"kind", "its model (`loom device models`), of the role that it has in the fabric", "the usual one of its role",
       "a model's name"},
      {"bus_address", "its unit or address on the bus"},
      {"serial", "the serial number that it must say; without one, whoever answers is taken for it", "none"},
      {"profile", "what its model must be told of it (`loom device models MODEL`)", {}, "a map of the model's keys"},
  };
}

std::vector<ConfigSection> fault_sections(const std::string& kind) {
  const auto list = [&](const std::string& key, const std::string& given) {
    return format_text("{}: [{{zzz: 1, {}}}]", key, given);
  };
  std::vector<std::string> devices;
  for (const char* each : {"drifting", "laser-dim", "late", "slow", "silent", "heater-open"}) {
    devices.push_back(list("device_faults", format_text("kind: {}", each)));
  }
  std::vector<std::string> machines;
  for (const char* each : {"slow", "clock_step", "clock_drift"}) {
    machines.push_back(list("machine_faults", format_text("kind: {}", each)));
  }
  return {
      {kind,
       "network",
       "",
       "what the simulated network does to each message, independently",
       {"network: {zzz: 1}"},
       network_keys()},
      {kind, "device_faults[]", "", "one fault of one device; it takes one value beside its times, by its kind", devices,
       device_fault_keys()},
      {kind, "machine_faults[]", "", "one fault of the controller or of one agent", machines, machine_fault_keys()},
      {kind,
       "fibre_faults[]",
       "",
       "a fibre that is cut or dirty, or two that somebody plugged wrongly",
       {list("fibre_faults", "lasts: 1 s, kind: fibre-swap"), list("fibre_faults", "lasts: 1 s, kind: fibre-dirty")},
       fibre_fault_keys()},
  };
}

std::vector<ConfigSection> scenario_sections() {
  const std::string kind = "scenario";
  std::vector<ConfigSection> all = run_sections(kind);
  for (const auto& more : {work_sections(kind), fault_sections(kind)}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

}  // namespace loom::cli

// SPDX-License-Identifier: Apache-2.0
// lightloom-agent: a process that hosts the agents of many nodes over real time and ZeroMQ. Their devices are simulated, or
// lie behind real buses where the inventory says so. Wires step machines to the seams and does nothing else.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agents/agent.hpp"
#include "agents/agent_command_line.hpp"
#include "agents/agent_metrics.hpp"
#include "controller/architectures/registry.hpp"
#include "core/config/endpoints/contact_endpoint.hpp"
#include "core/config/scenario/scenario_file.hpp"
#include "core/text/clock_text.hpp"
#include "core/text/format_text.hpp"
#include "core/text/host_port.hpp"
#include "core/text/version.hpp"
#include "drivers/bus/contact_input.hpp"
#include "drivers/registry.hpp"
#include "runtime/clock.hpp"
#include "runtime/clock_watch.hpp"
#include "runtime/contact_watch.hpp"
#include "runtime/host.hpp"
#include "runtime/journal/sqlite_store.hpp"
#include "runtime/lanes.hpp"
#include "runtime/log.hpp"
#include "runtime/loop.hpp"
#include "runtime/metrics/metrics.hpp"
#include "runtime/metrics/metrics_server.hpp"
#include "runtime/metrics/process_metrics.hpp"
#include "runtime/process_limits.hpp"
#include "runtime/program/daemon_pages.hpp"
#include "runtime/program/realtime.hpp"
#include "runtime/program/service_notifier.hpp"
#include "runtime/real_buses.hpp"
#include "runtime/state/grant_log_file.hpp"
#include "runtime/state/host_peers.hpp"
#include "runtime/state/host_triggers.hpp"
#include "runtime/state/key_bundle.hpp"
#include "runtime/state/relay_process.hpp"
#include "runtime/state/state_folder.hpp"
#include "runtime/state/uplink.hpp"
#include "runtime/zmq/agent_transport.hpp"
#include "runtime/zmq/keys/agent_keys.hpp"
#include "runtime/zmq/keys/keys_watch.hpp"
#include "runtime/zmq/peer/peer_links.hpp"
#include "runtime/zmq/transport_metrics.hpp"
#include "sim_backend/announced_faults.hpp"
#include "sim_backend/devices/registry.hpp"
#include "sim_backend/light/local_light.hpp"
#include "sim_backend/light_log_file.hpp"
#include "sim_backend/sim_triggers.hpp"
#include "sim_backend/training/training_links.hpp"
#include "sim_backend/world/sim_bus.hpp"

namespace loom {
namespace {

/// Hundreds of agents of one process fire one after the other, some microseconds each; the commit's barriers keep that safe, so
/// only a lateness that something unusual causes is worth an alarm.
constexpr Duration kLateLimit = std::chrono::milliseconds{20};

int give_up(const Error& error) {
  log_error(error.next_command.empty() ? error.message : format_text("{} (try: {})", error.message, error.next_command));
  return 1;
}

/// One agent and its host; nothing here moves once it has started.
struct Hosted {
  std::unique_ptr<Agent> agent;
  std::unique_ptr<Host> host;
};

/// The scenario's faults of our simulated devices.
std::vector<ScenarioFault> own_faults(const SimBus& simulated, const Scenario& scenario) {
  std::vector<ScenarioFault> faults;
  std::ranges::copy_if(scenario.device_faults, std::back_inserter(faults),
                       [&](const ScenarioFault& fault) { return simulated.has_model(fault.device); });
  return faults;
}

Result<void> add_lanes(BusLanes& lanes, const Scenario& scenario, const std::vector<NodeId>& nodes, const AsioLoop& loop) {
  const auto report = [](const std::string& sentence) { log_info(sentence); };
  LOOM_TRY(add_real_buses(lanes, *scenario.fabric, nodes, report));
  const auto triggers = own_triggers(scenario, nodes);
  const bool is_tai = loop.source() == LoopClock::tai;
  return triggers ? add_triggers(lanes, *triggers, {is_tai ? tai_now : monotonic_now, is_tai}, report)
                  : Result<void>(std::unexpected(triggers.error()));
}

/// What all agents of this process say of it.
struct ProcessFacts {
  FabricIdentity identity;
  std::string listens_at;
};

Connections connections_of(const AgentCommandLine& command_line) {
  return command_line.connections == "each" ? Connections::one_per_agent : Connections::shared;
}

ProcessFacts facts_of(const AgentCommandLine& command_line, const Scenario& scenario, const std::string& endpoint) {
  return {identity_of(*scenario.fabric), announced_endpoint(scenario, command_line.process, endpoint)};
}

Hosted make_hosted(NodeId node, const Scenario& scenario, const ProcessFacts& facts, const HostSeams& seams) {
  Hosted hosted;
  AgentOptions options;
  options.node = node;
  options.fabric = scenario.fabric;
  options.software = format_text("lightloom-agent {}", build_version());
  options.identity = facts.identity;
  options.listens_at = facts.listens_at;
  options.edges = edge_lines_of(*scenario.fabric, scenario.triggers, node);
  options.report_interval = scenario.controller.report_interval;
  options.audit_interval = audit_interval(scenario.controller, scenario.fabric->devices_of_agent[node.value].size());
  options.late_limit = kLateLimit;
  options.is_pulsed = true;
  std::vector<std::unique_ptr<Driver>> drivers;
  for (const DeviceId device : scenario.fabric->devices_of_agent[node.value]) {
    drivers.push_back(make_driver(*scenario.fabric, device));
  }
  hosted.agent = std::make_unique<Agent>(options, std::move(drivers));
  hosted.host = std::make_unique<Host>(
      HostOptions{agent_peer(node), Role::agent, "agent"}, seams,
      [agent = hosted.agent.get()](Instant now, const Event& event, EffectSink& sink) { agent->step(now, event, sink); });
  return hosted;
}

Result<std::unique_ptr<AgentTransport>> open_transport(AsioLoop& loop, const AgentCommandLine& command_line,
                                                       const Scenario& scenario, const StateFolder& files,
                                                       const AgentKeySet& keys) {
  const std::uint32_t process = command_line.process;
  const auto uplink = uplink_of(command_line.controller, scenario, files, relay_of_process(scenario, process));
  if (!uplink) {
    return std::unexpected(uplink.error());
  }
  const OwnKey own{format_text("agents-{}", process), "agent", files.agents_key(process),
                   key_command(scenario, files, process)};
  AgentTransportOptions options = transport_options(*uplink, own);
  options.keys = keys.own;
  options.controller_key = keys.controller;
  options.connections = connections_of(command_line);
  return AgentTransport::connect(loop.context(), std::move(options));
}

/// Where this process's agents listen for those of other processes.
Result<void> publish(const AgentCommandLine& command_line, const StateFolder& files, const std::string& endpoint) {
  return write_whole_file({files.agents_address(command_line.process), endpoint + "\n", 0600, true});
}

/// Links to the agents of the other processes. Without the keyring nobody else may connect.
Result<std::unique_ptr<PeerLinks>> open_peers(AsioLoop& loop, const AgentCommandLine& command_line, const Scenario& scenario,
                                              const StateFolder& files, const AgentKeySet& keys, const HostPeers& learned) {
  PeerLinksOptions options;
  options.process = command_line.process;
  options.keys = keys.own;
  options.keyring = keys.keyring;
  options.endpoint = listening_endpoint(scenario, command_line.process);
  if (const auto kernel = boot_clock()) {
    options.kernel = *kernel;
  }
  options.reported = [](const std::string& sentence) { log_info("lightloom-agent: " + sentence); };
  for (std::uint32_t process = 0; process < scenario.agents.processes; ++process) {
    std::vector<NodeRange> nodes;
    for (const NodeSpan& span : spans_of_process(scenario, process)) {
      nodes.push_back({NodeId{span.first}, NodeId{span.end - 1}});
    }
    const bool is_told = !scenario.agents.hosts.empty();  // by the controller: the others' files are on their hosts
    options.processes.push_back({std::move(nodes), keys.peers[process], [files, &learned, process, is_told] {
                                   return is_told ? learned.address_of(process) : files.read_agents_address(process);
                                 }});
  }
  auto links = PeerLinks::open(loop.context(), std::move(options));
  if (links) {
    LOOM_TRY(publish(command_line, files, (*links)->endpoint()));
  }
  return links;
}

Result<std::vector<Hosted>> start_agents(const std::vector<NodeId>& nodes, const Scenario& scenario, const ProcessFacts& facts,
                                         const HostSeams& shared, const std::vector<std::unique_ptr<TrainingLink>>& training,
                                         AgentTransport& transport, PeerLinks& peers, SqliteStore& store) {
  std::vector<Hosted> hosted;
  const std::uint64_t boot_id = fresh_boot_id();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const NodeId node = nodes[i];
    HostSeams seams = shared;
    seams.training = [link = training[i].get()](const TrainingWord& word) { link->tell(word); };
    auto port = transport.port(node);
    if (!port) {
      return std::unexpected(port.error());
    }
    seams.messages = &peers.port(node, **port);
    seams.storage = &store.stream(format_text("node-{}", node.value));
    hosted.push_back(make_hosted(node, scenario, facts, seams));
    LOOM_TRY(hosted.back().host->start(boot_id + node.value));
    training[i]->begin(*hosted.back().host);
  }
  return hosted;
}

/// A watch a contact that covers any of our nodes, whose agents hear of it on the loop's thread. Each process watches for
/// itself: nobody waits for another process, or for a network, to go dark.
Result<std::vector<std::unique_ptr<ContactWatch>>> watch_contacts(AsioLoop& loop, const Fabric& fabric,
                                                                  const std::vector<NodeId>& nodes,
                                                                  const std::vector<Hosted>& hosted) {
  std::vector<std::unique_ptr<ContactWatch>> watches;
  for (const InterlockContact& contact : fabric.interlocks) {
    std::vector<Host*> covered;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (contact.first <= nodes[i] && nodes[i] <= contact.last) {
        covered.push_back(hosted[i].host.get());
      }
    }
    if (covered.empty()) {
      continue;
    }
    const auto endpoint = parse_contact_endpoint(contact.endpoint);
    auto input =
        endpoint ? make_contact_input(*endpoint) : Result<std::unique_ptr<ContactInput>>(std::unexpected(endpoint.error()));
    if (!input) {
      return fail(input.error().code, format_text("interlock contact {}: {}", contact.name, input.error().message));
    }
    std::shared_ptr<ContactInput> shared(std::move(*input));
    ContactPort port{[shared](Duration limit) { return shared->read(limit); },
                     [shared](Duration limit) { return shared->wait(limit); }};
    watches.push_back(std::make_unique<ContactWatch>(
        endpoint->timings, std::move(port), loop, loop.poster(), [covered, name = contact.name](const ContactChange& change) {
          for (Host* host : covered) {
            host->deliver(InterlockChanged{change.open, name, change.problem});
          }
          log_warning(format_text("interlock contact {}{}", name,
                                  !change.open             ? " is closed"
                                  : change.problem.empty() ? " is open"
                                                           : " counts as open: " + change.problem));
        }));
  }
  return watches;
}

/// What this process counts.
struct Counted {
  const AsioLoop& loop;
  const ClockWatch& clock;
  const BusLanes& units;
  const Scenario& scenario;
  const AgentTransport& transport;
  const PeerLinks& peers;
  const std::vector<Hosted>& hosted;
  const SqliteStore& store;
  const std::vector<std::unique_ptr<TrainingLink>>& training;
};

void add_metrics(MetricList& list, const std::vector<std::unique_ptr<TrainingLink>>& training) {
  TrainingCounters sum;
  for (const auto& each : training) {
    each->add_to(sum);
  }
  list.counter("lightloom_agent_training_processes_total", "Training processes that came to a node's socket.",
               sum.sockets.clients);
  list.counter("lightloom_agent_training_processes_dropped_total",
               "Of them, those that were disconnected: for a line that is too long, for not reading, or as one too many.",
               sum.sockets.dropped);
  list.counter("lightloom_agent_training_lines_total", "Lines of training processes.", sum.lines.lines);
  constexpr const char* kUseless = "lightloom_agent_training_lines_useless_total";
  constexpr const char* kUselessHelp = "Of them, lines that began nothing, by why.";
  list.counter(kUseless, kUselessHelp, sum.lines.refused, {{"kind", "refused"}});
  list.counter(kUseless, kUselessHelp, sum.lines.old, {{"kind", "old"}});
}

/// Plain numbers of machines and threads, copied between two steps.
void add_metrics(MetricList& list, const Counted& counted) {
  add_build_info(list, "lightloom-agent");
  AgentSums agents;
  HostCounters hosts;
  for (const Hosted& each : counted.hosted) {
    agents.add(*each.agent);
    sum(hosts, each.host->counters());
  }
  agents.add_metrics(list);
  add_metrics(list, hosts);
  BusLaneCounters units;
  for (const Bus& bus : counted.scenario.fabric->buses) {
    sum(units, counted.units.counters(bus.id));
  }
  add_metrics(list, units);
  add_metrics(list, counted.loop.counters());
  add_metrics(list, counted.clock.counters());
  add_metrics(list, counted.transport.counters());
  add_metrics(list, counted.peers);
  add_metrics(list, counted.store.size());
  add_metrics(list, counted.training);
}

/// Before anything else of the process is written: its lock turns a second one away, which would be looked for in our place.
Result<std::unique_ptr<SqliteStore>> open_store(const AgentCommandLine& command_line, const StateFolder& files, Post post) {
  return SqliteStore::open({.path = files.agents_journal(command_line.process),
                            .restore = command_line.restore_journal,
                            .restore_command = command_line.command() + " --restore-journal",
                            .start_command = command_line.command()},
                           std::move(post));
}

/// Of the bundle in the state folder; SIGHUP has it read again.
Result<void> take_bundle(const AgentCommandLine& command_line, const StateFolder& files) {
  if (command_line.bundle.empty()) {
    return {};
  }
  const auto bundle = read_key_bundle(command_line.bundle);
  if (!bundle) {
    return std::unexpected(bundle.error());
  }
  const std::string own =
      command_line.relay ? RelayFiles(files, *command_line.relay).name() : format_text("agents-{}", command_line.process);
  if (bundle->own != own) {
    return fail(ErrorCode::refused, format_text("{} has the keys of host '{}' ({}); this is {}", command_line.bundle,
                                                bundle->host, bundle->own, own));
  }
  const auto changed = unpack(*bundle, files);
  if (!changed) {
    return std::unexpected(changed.error());
  }
  if (!changed->empty()) {
    log_info(format_text("lightloom-agent: {} key files of host {} are in {}", changed->size(), bundle->host, files.keys()));
  }
  return {};
}

void look_at_keys(const AgentCommandLine& command_line, const StateFolder& files, AgentKeys& keys, KeysWatch::Cause cause) {
  if (const auto taken = cause == KeysWatch::Cause::hangup ? take_bundle(command_line, files) : Result<void>{}; !taken) {
    log_warning(taken.error().message);
  }
  keys.look(cause);
}

/// To every agent of the process.
void deliver(const std::vector<Hosted>& hosted, const Event& event) {
  for (const Hosted& each : hosted) {
    each.host->deliver(event);
  }
}

/// One sign of life for all who have joined, instead of a heartbeat each; now and in every interval that the controller asks
/// for.
void pulse(AsioLoop& loop, const std::vector<Hosted>& hosted, Duration interval) {
  PulseDue due;
  const Hosted* speaker = nullptr;
  for (const Hosted& each : hosted) {
    if (each.agent->session().state() == SessionState::joined) {
      due.nodes.push_back(each.agent->node());
      speaker = speaker == nullptr ? &each : speaker;
    }
  }
  if (speaker != nullptr) {
    interval = speaker->agent->session().heartbeat_interval();
    speaker->host->deliver(due);
  }
  loop.call_at(loop.now() + interval, Precision::relaxed, [&loop, &hosted, interval] { pulse(loop, hosted, interval); });
}

/// "0-2,7".
std::string text_of(const std::vector<NodeSpan>& spans) {
  std::string text;
  for (const NodeSpan& span : spans) {
    text += text.empty() ? "" : ",";
    text += span.end - span.first == 1 ? std::to_string(span.first) : format_text("{}-{}", span.first, span.end - 1);
  }
  return text;
}

AgentKeysListener keys_listener(const AgentCommandLine& command_line, const Scenario& scenario, const StateFolder& files,
                                const std::vector<Hosted>& hosted) {
  return {[](const std::string& sentence) { log_info("lightloom-agent: " + sentence); },
          [](const Error& error) { log_warning(format_text("{} (try: {})", error.message, error.next_command)); },
          [&](const std::string& endpoint) {
            deliver(hosted, PeersListen{announced_endpoint(scenario, command_line.process, endpoint)});
            return publish(command_line, files, endpoint);
          }};
}

std::vector<Agent*> agents_of(const std::vector<Hosted>& hosted) {
  std::vector<Agent*> agents;
  for (const Hosted& each : hosted) {
    agents.push_back(each.agent.get());
  }
  return agents;
}

HostSeams seams_of(AsioLoop& loop, BusLanes& units) {
  HostSeams seams;
  seams.time = &loop;
  seams.registers = &units;
  seams.alarm = [](const Alarm& alarm) { log_warning(format_text("{} (try: {})", alarm.evidence, alarm.next_command)); };
  return seams;
}

/// What `systemctl status` shows.
std::string status_line(const std::vector<Hosted>& hosted) {
  const auto joined =
      std::ranges::count_if(hosted, [](const Hosted& each) { return each.agent->session().state() == SessionState::joined; });
  return format_text("{} of {} nodes have joined the controller", joined, hosted.size());
}

/// What our simulated devices do to light is logged, and our simulated monitors see it. All three outlive the loop.
void follow_light(SimBus& simulated, LightLogFile& log, LocalLight& light) {
  simulated.on_light([&log, &light](const OpticalChange& change) {
    log.add(change);
    light.apply(change);
  });
  simulated.look_through([&light](PortRef input) { return light.arriving(input); });
}

/// Until a signal; in real time if it may, which is the last that it asks for: threads that are there share their time.
void run_agents(const AgentCommandLine& command_line, AsioLoop& loop, const std::vector<Hosted>& hosted) {
  const RealtimeGrant grant = run_in_real_time({command_line.realtime, command_line.cpu});
  if (const std::string granted = text_of(grant); !granted.empty()) {
    log_info("lightloom-agent: its loop runs in real time: " + granted);
  }
  for (const std::string& sentence : grant.refused) {
    log_warning("lightloom-agent: real time: " + sentence);
  }
  run_until_signalled(loop, [&hosted] { return status_line(hosted); });
}

int host_agents(const AgentCommandLine& command_line, const Scenario& scenario, const StateFolder& files, AsioLoop& loop) {
  Metrics metrics;
  const auto served = serve_if_wanted(command_line.metrics, metrics, loop.poster(), "lightloom-agent");
  if (!served) {
    return give_up(served.error());
  }
  const AgentKeyFiles at = agent_key_files(scenario, files, command_line.process);
  auto keys = load_agent_keys(at);
  if (!keys) {
    return give_up(with_key_command(keys.error(), key_command(scenario, files, command_line.process)));
  }
  auto store = open_store(command_line, files, loop.poster());
  if (!store) {
    return give_up(store.error());
  }
  auto transport = open_transport(loop, command_line, scenario, files, *keys);
  if (!transport) {
    return give_up(transport.error());
  }
  HostPeers learned(scenario);
  auto peers = open_peers(loop, command_line, scenario, files, *keys, learned);
  if (!peers) {
    return give_up(peers.error());
  }
  std::vector<Hosted> hosted;
  AgentKeys live_keys(at, *std::move(keys), **transport, **peers, keys_listener(command_line, scenario, files, hosted));
  const KeysWatch watch(loop.context(), files.keys(),
                        [&](KeysWatch::Cause cause) { look_at_keys(command_line, files, live_keys, cause); });
  const PublishedUrl url(served->get(), files.agents_metrics(command_line.process));
  const std::vector<NodeId> nodes = nodes_of_process(scenario, command_line.process);
  LightLogFile light_log(loop, files.light_log(command_line.process));
  SimBusOptions simulation;
  simulation.devices.rings = scenario.rings;
  SimBus simulated(loop, scenario.fabric, nodes, simulation);
  LocalLight light(scenario.fabric, nodes, measures_light);
  follow_light(simulated, light_log, light);
  SimTriggers edges(loop, simulated, *scenario.fabric, scenario.triggers, nodes.front().value);
  BusLanes units(loop.poster(), &edges);
  if (const auto added = add_lanes(units, scenario, nodes, loop); !added) {
    return give_up(added.error());
  }
  HostSeams seams = seams_of(loop, units);
  seams.peers = [&learned](const std::vector<PeerAddress>& told) { learned.learn(told); };
  const auto training = open_training({command_line.inspector_dir, command_line.training_dir}, loop, scenario, nodes);
  if (!training) {
    return give_up(training.error());
  }
  const ProcessFacts facts = facts_of(command_line, scenario, (*peers)->endpoint());
  auto started = start_agents(nodes, scenario, facts, seams, *training, **transport, **peers, **store);
  if (!started) {
    return give_up(started.error());
  }
  hosted = std::move(*started);
  pulse(loop, hosted, scenario.controller.beat_interval);
  const ClockWatch clock(loop, [&hosted](const ClockJudged& judged) { deliver(hosted, judged); });
  const Counted counted{loop, clock, units, scenario, **transport, **peers, hosted, **store, *training};
  metrics.add([&counted](MetricList& list) { add_metrics(list, counted); });
  const auto contacts = watch_contacts(loop, *scenario.fabric, nodes, hosted);
  if (!contacts) {
    return give_up(contacts.error());
  }
  log_info("lightloom-agent: nodes " + text_of(spans_of_process(scenario, command_line.process)));
  const AnnouncedFaults faults(
      loop, command_line.faults ? own_faults(simulated, scenario) : std::vector<ScenarioFault>{},
      [&files] { return files.read_start(); },
      [&simulated](DeviceId device, const DeviceFault& fault) { simulated.inject(device, fault); });
  const GrantLogFile grant_log(loop, files.grant_log(command_line.process), agents_of(hosted));
  run_agents(command_line, loop, hosted);
  log_info("lightloom-agent: stopped");
  return 0;
}

/// With the process that a host's name stands for.
Result<void> choose_process(AgentCommandLine& command_line, const Scenario& scenario) {
  const std::size_t relays = scenario.agents.relays.size();
  if (command_line.relay) {
    return *command_line.relay < relays
               ? Result<void>{}
               : fail(ErrorCode::invalid_argument,
                      format_text("relay {} of {}: it has {} relays", *command_line.relay, command_line.scenario, relays));
  }
  if (!command_line.host.empty()) {
    const auto process = process_of_host(scenario, command_line.host);
    if (!process) {
      return std::unexpected(process.error());
    }
    command_line.process = *process;
  }
  const std::uint32_t processes = scenario.agents.processes;
  return command_line.process < processes
             ? Result<void>{}
             : fail(ErrorCode::invalid_argument, format_text("process {} of {}: it has processes 0..{}", command_line.process,
                                                             command_line.scenario, processes - 1));
}

int run(AgentCommandLine command_line) {
  const auto scenario = load_scenario(command_line.scenario, all_fabric_kinds());
  if (!scenario) {
    for (const ConfigError& error : scenario.errors) {
      log_error(to_string(error));
    }
    return 1;
  }
  if (const auto chosen = choose_process(command_line, *scenario.value); !chosen) {
    return give_up(chosen.error());
  }
  const std::vector<NodeId> nodes =
      command_line.relay ? std::vector<NodeId>{} : nodes_of_process(*scenario.value, command_line.process);
  if (const auto blind = blind_monitors(*scenario.value->fabric, nodes); !blind.empty()) {
    return give_up({ErrorCode::invalid_config, blind.front()});
  }
  raise_file_limit();
  keep_files_private();
  const StateFolder files(command_line.state);
  if (const auto taken = command_line.relay ? Result<void>{} : take_bundle(command_line, files); !taken) {
    return give_up(taken.error());
  }
  const auto clock = choose_clock(command_line.clock, *scenario.value);
  auto loop = clock ? AsioLoop::open(*clock) : std::unexpected(clock.error());
  if (!loop) {
    return give_up(loop.error());
  }
  if (command_line.relay) {
    RelayOrder order{*command_line.relay, command_line.listen, command_line.controller, command_line.metrics, {}};
    if (!command_line.bundle.empty()) {
      order.take_bundle = [&] { return take_bundle(command_line, files); };
    }
    const auto relayed = run_relay(order, *scenario.value, files, **loop);
    return relayed ? 0 : give_up(relayed.error());
  }
  log_info("lightloom-agent: instants are of " + clock_text((*loop)->clock()));
  return host_agents(command_line, *scenario.value, files, **loop);
}

}  // namespace
}  // namespace loom

int main(int argc, char** argv) {
  loom::ignore_hangups();
  loom::AgentCommandLine command_line;
  CLI::App app{"Agents of many nodes: each drives its node's devices as the controller's plan says"};
  loom::add_options(app, command_line);
  loom::add_program_page(app, loom::agent_page());
  CLI11_PARSE(app, argc, argv);
  return loom::run(command_line);
}

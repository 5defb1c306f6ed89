// SPDX-License-Identifier: Apache-2.0
// lightloomd: the controller over real time, ZeroMQ and SQLite. Wires the step machine to the seams and does nothing else.
#include <signal.h>

#include <CLI/CLI.hpp>
#include <asio/post.hpp>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controller/architectures/registry.hpp"
#include "controller/control/controller.hpp"
#include "controller/control/controller_metrics.hpp"
#include "controller/control/requests/audit_text.hpp"
#include "controller/control/self_kill.hpp"
#include "controller/plan/pipeline.hpp"
#include "controller/plan/verify/verify_journal.hpp"
#include "core/config/scenario/scenario_file.hpp"
#include "core/journal/journal_state.hpp"
#include "core/text/clock_text.hpp"
#include "core/text/format_text.hpp"
#include "core/text/version.hpp"
#include "proto/codec.hpp"
#include "runtime/clock_watch.hpp"
#include "runtime/host.hpp"
#include "runtime/journal/fold.hpp"
#include "runtime/journal/sqlite_store.hpp"
#include "runtime/journal/tape_file.hpp"
#include "runtime/log.hpp"
#include "runtime/loop.hpp"
#include "runtime/metrics/metrics.hpp"
#include "runtime/metrics/metrics_server.hpp"
#include "runtime/metrics/process_metrics.hpp"
#include "runtime/planner.hpp"
#include "runtime/process_limits.hpp"
#include "runtime/program/daemon_pages.hpp"
#include "runtime/program/service_notifier.hpp"
#include "runtime/state/host_peers.hpp"
#include "runtime/state/state_folder.hpp"
#include "runtime/zmq/controller_transport.hpp"
#include "runtime/zmq/keys/keyring_file.hpp"
#include "runtime/zmq/keys/keys_watch.hpp"
#include "runtime/zmq/transport_metrics.hpp"

namespace loom {
namespace {

struct CommandLine {
  std::string scenario;
  std::string state = "run/lab";
  bool restore_journal = false;
  bool record = false;
  std::uint64_t record_limit_mib = 8'192;
  std::string listen;  ///< empty: the scenario's, else any free port of loopback
  std::string clock = "auto";
  std::string metrics;                        ///< where Prometheus finds them; empty: nowhere
  std::optional<std::uint64_t> kill_self_at;  ///< a testing aid, see self_kill.hpp

  std::string command() const { return format_text("lightloomd --scenario {} --state {}", scenario, state); }
};

int give_up(const Error& error) {
  log_error(error.next_command.empty() ? error.message : format_text("{} (try: {})", error.message, error.next_command));
  return 1;
}

Result<std::unique_ptr<AsioLoop>> open_loop(const CommandLine& command_line, const Scenario& scenario) {
  const auto clock = choose_clock(command_line.clock, scenario);
  return clock ? AsioLoop::open(*clock) : std::unexpected(clock.error());
}

/// With the keys that are missing made.
Result<KeyringFile> open_keyring(const StateFolder& files, const Scenario& scenario) {
  LOOM_TRY(files.make_keys(scenario));
  auto keyring = load_keyring(files.keyring());
  if (!keyring) {
    return std::unexpected(keyring.error());
  }
  return KeyringFile(files.keyring(), std::move(*keyring));
}

Result<std::unique_ptr<ControllerTransport>> open_transport(AsioLoop& loop, const CommandLine& command_line,
                                                            const Scenario& scenario, const StateFolder& files,
                                                            const Keyring& keyring) {
  auto keys = load_keys(files.controller_key());
  if (!keys) {
    return std::unexpected(keys.error());
  }
  ControllerTransportOptions options;
  const std::string& configured = command_line.listen.empty() ? scenario.controller_endpoint : command_line.listen;
  options.endpoints = {configured.empty() ? "tcp://127.0.0.1:*" : configured};
  options.keys = std::move(*keys);
  options.keyring = keyring;
  options.now = [&loop] { return loop.now(); };
  return ControllerTransport::bind(loop.context(), std::move(options));
}

/// A tape of everything that the controller hears, for `loom sim replay`.
Result<EventRecorder> open_tape(const CommandLine& command_line, const StateFolder& files, const Scenario& scenario) {
  auto tape = TapeWriter::open({.path = files.tape(), .limit_bytes = command_line.record_limit_mib << 20},
                               {format_text("lightloomd {}", build_version()), command_line.scenario,
                                setup_digest(*scenario.fabric, scenario.algorithm), 0, 0});
  if (!tape) {
    return std::unexpected(tape.error());
  }
  auto writer = std::make_shared<TapeWriter>(std::move(*tape));
  return EventRecorder([writer, reported = false](Instant at, const Event& event, const std::vector<std::string>& bytes,
                                                  std::uint64_t digest) mutable {
    writer->record(at, event, bytes, digest);
    if (!writer->trouble().empty() && !std::exchange(reported, true)) {
      log_warning(writer->trouble());
    }
  });
}

Result<void> record_if_wanted(const CommandLine& command_line, const StateFolder& files, const Scenario& scenario,
                              Digest& digest, HostSeams& seams) {
  if (!command_line.record) {
    return {};
  }
  auto recorder = open_tape(command_line, files, scenario);
  if (!recorder) {
    return std::unexpected(recorder.error());
  }
  seams.record = std::move(*recorder);
  seams.digest = &digest;
  log_info("lightloomd: recording to " + files.tape());
  return {};
}

/// What stands in the keyring file is in force at once, first at the door and then for the controller.
void take_over_keys(KeyringFile& keyring, KeysWatch::Cause cause, ControllerTransport& transport, Host& host) {
  const auto changed = keyring.look(cause);
  if (!changed) {
    return;
  }
  if (!changed->problem) {
    transport.replace_keyring(keyring.in_force());
    log_info(changed->changes.empty() ? "lightloomd: the keyring can be read again, and says what is in force"
                                      : "lightloomd: keys: " + sentence_of(*changed));
  }
  host.deliver(*changed);
}

/// Operators of this host find the agents of others by the same files as a lab's, when no controller answers.
void publish_agents(const StateFolder& files, const Scenario& scenario, const std::vector<PeerAddress>& peers) {
  for (const PeerAddress& peer : peers) {  // each of a node that was admitted
    const std::uint32_t process = process_of_node(scenario, peer.node);
    if (files.read_agents_address(process).value_or("") == peer.endpoint) {
      continue;
    }
    if (const auto written = write_whole_file({files.agents_address(process), peer.endpoint + "\n", 0600, true}); !written) {
      log_warning(written.error().message);
    }
  }
}

/// The address appears whole or not at all, so that whoever waits for it never reads half of it.
void publish_address(const StateFolder& files, const std::string& address) {
  const std::string path = files.address();
  const std::string draft = path + ".new";
  std::ofstream(draft) << address << "\n";
  std::rename(draft.c_str(), path.c_str());
}

void tell_where(const StateFolder& files, const Fabric& fabric, const ControllerTransport& transport, const AsioLoop& loop) {
  publish_address(files, transport.endpoints().front());
  log_info(format_text("lightloomd: fabric {}, listening on {}, instants are of {}", fabric.name, transport.endpoints().front(),
                       clock_text(loop.clock())));
}

/// SIGKILL as soon as the effects of this step have been carried out. Two turns of the loop: the first was asked for before the
/// step's messages were put into their frame, the second comes behind the frame's leaving.
void die_after_this_step(AsioLoop& loop, std::uint64_t point, const std::string& place) {
  log_warning(format_text("lightloomd: kills itself at point {}, {}", point, place));
  asio::io_context& turns = loop.context();
  asio::post(turns, [&turns] { asio::post(turns, [] { raise(SIGKILL); }); });
}

/// The controller is told nothing of a journal that does not fit the fabric, and so writes nothing behind it.
ControllerStep step_unless_misfit(Controller& controller, const Fabric& fabric, std::optional<Error>& misfit) {
  return [&controller, &fabric, &misfit](Instant now, const Event& event, EffectSink& sink) {
    if (const auto* started = std::get_if<Started>(&event)) {
      if (auto fits = verify_journal(fabric, state_of(started->records)); !fits) {
        misfit = std::move(fits).error();
      }
    }
    if (!misfit) {
      controller.step(now, event, sink);
    }
  };
}

/// Every record of the audit is a line of the log as well, also of a journal that takes no more rows: the log is kept for
/// longer.
ControllerStep logging_audit(ControllerStep step) {
  return [step = std::move(step)](Instant now, const Event& event, EffectSink& sink) {
    step(now, event, sink);
    for (const Effect& effect : sink.effects()) {
      const auto* append = std::get_if<Append>(&effect);
      if (const auto* record = append == nullptr ? nullptr : std::get_if<AuditRecord>(&append->record)) {
        log_info(log_line(*record));
      }
    }
  };
}

ControllerStep metering_commits(ControllerStep step, const Controller& controller, CommitMeter& meter) {
  return [step = std::move(step), &controller, &meter](Instant now, const Event& event, EffectSink& sink) {
    step(now, event, sink);
    meter.follow(event, controller.history());
  };
}

/// What this process counts.
struct Counted {
  const AsioLoop& loop;
  const ClockWatch& clock;
  const ControllerTransport& transport;
  const Controller& controller;
  const CommitMeter& commits;
  const Host& host;
  const SqliteStore& store;
};

/// Copied between two steps.
void add_metrics(MetricList& list, const Counted& counted) {
  add_build_info(list, "lightloomd");
  add_metrics(list, counted.controller.status());
  add_metrics(list, counted.controller.jobs(), counted.controller.intent(), counted.loop.now());
  add_schedule_gap(list, counted.controller.confirmed_plan().get());
  counted.commits.add_metrics(list);
  add_metrics(list, counted.host.counters());
  add_metrics(list, counted.loop.counters());
  add_metrics(list, counted.clock.counters());
  add_metrics(list, counted.transport.counters());
  add_metrics(list, counted.store.size());
}

ControllerStep killing_itself_if_wanted(ControllerStep step, const CommandLine& command_line, AsioLoop& loop) {
  if (!command_line.kill_self_at) {
    return step;
  }
  return cut_at_kill_point(std::move(step), *command_line.kill_self_at, [&loop, &command_line](const std::string& place) {
    die_after_this_step(loop, *command_line.kill_self_at, place);
  });
}

Result<std::unique_ptr<SqliteStore>> open_store(const CommandLine& command_line, const StateFolder& files, Post post) {
  return SqliteStore::open({.path = files.controller_journal(),
                            .restore = command_line.restore_journal,
                            .restore_command = command_line.command() + " --restore-journal",
                            .start_command = command_line.command()},
                           std::move(post));
}

/// On one fabric for as long as the process lives.
Planner::MakePlan planning() {
  return [memory = std::make_shared<PlanMemory>()](const PlanRequest& request) {
    return make_plan(all_architectures(), request, *memory);
  };
}

/// What `systemctl status` shows.
std::string status_line(const Controller& controller) {
  const StatusReport status = controller.status();
  return format_text("term {}, revision {}, {} of {} nodes live, {} jobs, {} alarms", status.term.value, status.revision.value,
                     status.live, status.nodes, status.jobs, status.alarms);
}

int run(const CommandLine& command_line) {
  auto scenario = load_scenario(command_line.scenario, all_fabric_kinds());
  if (!scenario) {
    for (const ConfigError& error : scenario.errors) {
      log_error(to_string(error));
    }
    return 1;
  }
  raise_file_limit();
  keep_files_private();
  const StateFolder files(command_line.state);
  auto keyring = open_keyring(files, *scenario.value);
  if (!keyring) {
    return give_up(keyring.error());
  }
  auto loop = open_loop(command_line, *scenario.value);
  if (!loop) {
    return give_up(loop.error());
  }
  Metrics metrics;
  const auto served = serve_if_wanted(command_line.metrics, metrics, (*loop)->poster(), "lightloomd");
  if (!served) {
    return give_up(served.error());
  }
  auto transport = open_transport(**loop, command_line, *scenario.value, files, keyring->in_force());
  if (!transport) {
    return give_up(transport.error());
  }
  auto store = open_store(command_line, files, (*loop)->poster());
  if (!store) {
    return give_up(store.error());
  }
  Planner planner((*loop)->poster(), planning(),
                  [](const auto& plan) { return encoded_bytes(planned_row(plan, plan->next_circuit)); });
  Controller controller({scenario.value->fabric, scenario.value->algorithm, scenario.value->controller, scenario.value->drift,
                         scenario.value->adapt, encoded_bytes});
  HostSeams seams;
  seams.time = loop->get();
  seams.messages = transport->get();
  seams.storage = &(*store)->stream("controller");
  seams.plan = planner.worker();
  seams.peers = [&](const std::vector<PeerAddress>& peers) { publish_agents(files, *scenario.value, peers); };
  Digest digest;
  if (const auto recording = record_if_wanted(command_line, files, *scenario.value, digest, seams); !recording) {
    return give_up(recording.error());
  }
  seams.alarm = [](const Alarm& alarm) { log_warning(format_text("{} (try: {})", alarm.evidence, alarm.next_command)); };
  std::optional<Error> misfit;
  CommitMeter commits(scenario.value->algorithm);
  ControllerStep step =
      logging_audit(metering_commits(step_unless_misfit(controller, *scenario.value->fabric, misfit), controller, commits));
  step = killing_itself_if_wanted(std::move(step), command_line, **loop);
  Host host({controller_peer(), Role::controller, "controller"}, std::move(seams), std::move(step));
  const auto started = host.start(fresh_boot_id());
  if (!started || misfit) {
    return give_up(misfit ? *misfit : started.error());
  }
  const ClockWatch clock(**loop, [&host](const ClockJudged& judged) { host.deliver(judged); });
  metrics.add([&](MetricList& list) { add_metrics(list, {**loop, clock, **transport, controller, commits, host, **store}); });
  host.deliver(keys_changed({}, keyring->in_force()));
  const KeysWatch watch((*loop)->context(), files.keys(), [&keyring, &transport, &host](KeysWatch::Cause cause) {
    take_over_keys(*keyring, cause, **transport, host);
  });
  const PublishedUrl url(served->get(), files.controller_metrics());
  tell_where(files, *scenario.value->fabric, **transport, **loop);
  run_until_signalled(**loop, [&controller] { return status_line(controller); });
  std::remove(files.address().c_str());
  log_info(format_text("lightloomd: stopped in term {}; agents keep their light", controller.term().value));
  return 0;
}

}  // namespace
}  // namespace loom

int main(int argc, char** argv) {
  loom::ignore_hangups();
  loom::CommandLine command_line;
  CLI::App app{"The controller: computes circuit schedules and has them switched by the agents"};
  app.add_option("--scenario", command_line.scenario, "YAML file that names fabric and timings")->required();
  app.add_option("--state", command_line.state, "Folder of keys, journal and address")->capture_default_str();
  app.add_option(
      "--listen", command_line.listen,
      "ZeroMQ endpoint, instead of the scenario's or any free port of loopback; give a number if agents shall find a "
      "restarted controller");
  app.add_option("--clock", command_line.clock,
                 "Of all instants: tai, monotonic, or auto (tai where the scenario is on several hosts; docs/hosts.md)")
      ->capture_default_str();
  app.add_option("--metrics", command_line.metrics,
                 "Serve Prometheus metrics there, on loopback: 127.0.0.1:9101; port 0 is any free one (docs/metrics.md)")
      ->type_name("ADDRESS:PORT");
  app.add_flag("--restore-journal", command_line.restore_journal,
               "Move what follows a damaged row aside and go on behind the sound part");
  app.add_flag("--record", command_line.record, "Keep a tape of everything received, for loom sim replay");
  app.add_option("--record-limit", command_line.record_limit_mib,
                 "MiB for the tape; earlier incarnations make room, this one then stops recording")
      ->check(CLI::Range(std::uint64_t{8}, std::uint64_t{1} << 24))
      ->capture_default_str();
  app.add_option(
         "--kill-self-at", command_line.kill_self_at,
         "For tests: SIGKILL to itself at this kill point. A step of m effects has m + 1 points, before each effect and "
         "behind the last; counted from 0, from this incarnation's first request to submit or cancel a job")
      ->type_name("N");
  loom::add_program_page(app, loom::controller_page());
  CLI11_PARSE(app, argc, argv);
  return loom::run(command_line);
}

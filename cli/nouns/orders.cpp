// Ask, print, follow.
#include "cli/nouns/orders.hpp"

#include <charconv>
#include <cstdio>
#include <filesystem>

#include "cli/connection.hpp"
#include "cli/nouns/device_words.hpp"
#include "cli/nouns/remote.hpp"
#include "cli/nouns/schedule_file.hpp"
#include "cli/render/rows.hpp"
#include "cli/render/term.hpp"

namespace loom::cli {
namespace {

std::string number(std::uint64_t value) { return std::to_string(value); }

/// Prints what an order came to: a dry run's changes, or the revision that carries it out, which --wait follows.
int conclude(const Globals& globals, Connection& connection, const OperatorReply& reply, const OrderOptions& options,
             const std::string& done) {
  if (globals.dry_run) {
    return print_dry_run(globals, reply);
  }
  if (globals.json) {
    auto object = answer();
    object["revision"] = reply.revision.value;
    std::printf("%s\n", object.dump(2).c_str());
  } else if (reply.revision.value != 0) {
    std::printf("revision %s\n", number(reply.revision.value).c_str());
  }
  if (reply.revision.value == 0) {
    say(done + "; no light changes");
    return kDone;
  }
  if (options.wait) {
    return follow_revision(globals, connection, reply.revision.value);
  }
  say(done + " by revision " + number(reply.revision.value) + "; follow it: loom wait " + number(reply.revision.value));
  return kDone;
}

int ask_and_conclude(const Globals& globals, OperatorAsk ask, const OrderOptions& options, const std::string& done) {
  auto connection = Connection::open(globals);
  if (!connection) {
    return give_up(connection.error());
  }
  const auto reply = connection->ask(std::move(ask));
  return reply ? conclude(globals, *connection, *reply, options, done) : give_up(reply.error());
}

std::optional<std::uint64_t> revision_of(const std::string& text) {
  std::uint64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  return problem == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

/// The circuits of a file, or an exit code after every error was said.
Result<std::vector<ScheduledCircuit>> load(const std::string& path) {
  if (!std::filesystem::exists(path)) {
    return fail(ErrorCode::not_found, "there is no file '" + path + "'", "loom schedule show --json > my-schedule.json");
  }
  auto circuits = read_schedule(path);
  if (!circuits) {
    for (const ConfigError& error : circuits.errors) {
      say(to_string(error));
    }
    return fail(ErrorCode::invalid_config, path + " is no schedule that can be applied", "loom schedule show --json");
  }
  return std::move(*circuits.value);
}

Result<ApplyMode> mode_of(const std::string& word) {
  for (const ApplyMode mode : {ApplyMode::safe, ApplyMode::update, ApplyMode::overwrite}) {
    if (word == loom::to_string(mode)) {
      return mode;
    }
  }
  const std::string near = nearest(word, {"safe", "update", "overwrite"});
  return fail(ErrorCode::invalid_argument,
              "mode '" + word + "' is none of safe, update, overwrite" + (near.empty() ? "" : "; did you mean: " + near),
              "loom schedule apply --help");
}

}  // namespace

int order_node(const Globals& globals, const OrderOptions& options, std::uint32_t node, NodeOrder order) {
  const std::string name = "node " + number(node);
  const char* done = order == NodeOrder::drain      ? " is drained"
                     : order == NodeOrder::undrain  ? " may get jobs again"
                     : order == NodeOrder::maintain ? " goes into maintenance, its lasers dark and latched"
                                                    : " leaves maintenance and stays drained";
  const int code =
      ask_and_conclude(globals, OrderNode{NodeId{node}, order, options.force, globals.dry_run}, options, name + done);
  if (code == kDone && order == NodeOrder::release && !globals.dry_run) {
    say("  to give it jobs again: loom node undrain " + number(node));
  }
  return code;
}

int set_device(const Globals& globals, const OrderOptions& options, const DeviceWords& order) {
  auto connection = Connection::open(globals);
  if (!connection) {
    return give_up(connection.error());
  }
  OrderDevice ask{DeviceId{order.device}, {}, globals.dry_run};
  if (order.clear && !order.words.empty()) {
    return give_up({ErrorCode::invalid_argument, "--clear and key=value exclude each other", "loom device set --help"});
  }
  if (!order.clear) {
    const auto rows = connection->ask(Query{Noun::devices, order.device});
    if (!rows) {
      return give_up(rows.error());
    }
    const auto& devices = std::get<std::vector<DeviceReport>>(rows->rows);
    if (devices.empty()) {
      return give_up({ErrorCode::not_found, "there is no device " + number(order.device), "loom device list"});
    }
    auto setpoint = setpoint_of(devices.front(), order.words);
    if (!setpoint) {
      return give_up(setpoint.error());
    }
    ask.setpoint = std::move(*setpoint);
  }
  const auto reply = connection->ask(std::move(ask));
  if (!reply) {
    return give_up(reply.error());
  }
  return conclude(globals, *connection, *reply, options,
                  "device " + number(order.device) + (order.clear ? " is the plan's again" : " is set by hand"));
}

int reset_device(const Globals& globals, std::uint32_t device) {
  auto connection = Connection::open(globals);
  if (!connection) {
    return give_up(connection.error());
  }
  const auto reply = connection->ask(OrderReset{DeviceId{device}});
  if (!reply) {
    return give_up(reply.error());
  }
  if (globals.json) {
    auto object = json_of(std::get<std::vector<DeviceReport>>(reply->rows));
    object["writes"] = reply->writes;
    std::printf("%s\n", object.dump(2).c_str());
    return kDone;
  }
  std::fputs(text_of(std::get<std::vector<DeviceReport>>(reply->rows)).c_str(), stdout);
  say("device " + number(device) + " was read back and " +
      (reply->writes == 0 ? std::string("was as it shall be")
                          : "set again: " + number(reply->writes) + (reply->writes == 1 ? " write" : " writes")));
  return kDone;
}

int acknowledge_alarm(const Globals& globals, std::uint64_t alarm) {
  auto connection = Connection::open(globals);
  if (!connection) {
    return give_up(connection.error());
  }
  const auto reply = connection->ask(AcknowledgeAlarm{AlarmId{alarm}});
  if (!reply) {
    return give_up(reply.error());
  }
  say("alarm " + number(alarm) + " is acknowledged; it goes when its cause is gone");
  return kDone;
}

int explain_circuit(const Globals& globals, std::uint64_t circuit) {
  auto connection = Connection::open(globals);
  if (!connection) {
    return give_up(connection.error());
  }
  const auto reply = connection->ask(Query{Noun::explanation, circuit});
  if (!reply) {
    return give_up(reply.error());
  }
  const auto& explanation = std::get<CircuitExplanation>(reply->rows);
  std::fputs((globals.json ? json_of(explanation).dump(2) + "\n" : text_of(explanation)).c_str(), stdout);
  if (!globals.json) {
    say("  try: " + explanation.next_command);
  }
  return kDone;
}

int diff_schedule(const Globals& globals, const ScheduleOrder& order) {
  DiffSchedule ask;
  if (const auto revision = revision_of(order.target)) {
    ask.revision = Revision{*revision};
  } else if (!order.target.empty()) {
    auto circuits = load(order.target);
    if (!circuits) {
      return give_up(circuits.error());
    }
    ask.circuits = std::move(*circuits);
  }
  auto connection = Connection::open(globals);
  if (!connection) {
    return give_up(connection.error());
  }
  const auto reply = connection->ask(std::move(ask));
  if (!reply) {
    return give_up(reply.error());
  }
  const auto& change = std::get<ChangeReport>(reply->rows);
  std::fputs((globals.json ? json_of(change).dump(2) + "\n" : text_of(change)).c_str(), stdout);
  const std::string against = order.target.empty()        ? "what would be planned now"
                              : revision_of(order.target) ? "revision " + order.target
                                                          : order.target;
  say(change.touched == 0 ? "the light that is confirmed is the same as " + against
                          : number(change.touched) + " circuits differ between the confirmed light and " + against);
  return change.touched == 0 ? kDone : kFailed;
}

int apply_schedule(const Globals& globals, const OrderOptions& options, const ScheduleOrder& order) {
  ApplySchedule ask;
  ask.dry_run = globals.dry_run;
  const auto mode = mode_of(order.mode);
  if (!mode) {
    return give_up(mode.error());
  }
  ask.mode = *mode;
  if (!order.confirm_within.empty()) {
    const auto within = parse_duration(order.confirm_within);
    if (!within) {
      return give_up(within.error(), "loom schedule apply FILE --confirm-within 120s");
    }
    ask.confirm_within = *within;
  }
  auto circuits = load(order.target);
  if (!circuits) {
    return give_up(circuits.error());
  }
  ask.circuits = std::move(*circuits);
  const bool is_on_trial = ask.confirm_within > Duration{};
  const int code = ask_and_conclude(globals, std::move(ask), options, order.target + " is applied");
  if (code == kDone && is_on_trial && !globals.dry_run) {
    say("  it returns by itself in " + order.confirm_within + " unless: loom schedule confirm");
  }
  return code;
}

int confirm_schedule(const Globals& globals) {
  auto connection = Connection::open(globals);
  if (!connection) {
    return give_up(connection.error());
  }
  const auto reply = connection->ask(ConfirmSchedule{});
  if (!reply) {
    return give_up(reply.error());
  }
  say("the schedule of revision " + number(reply->revision.value) + " stays");
  return kDone;
}

int roll_back_schedule(const Globals& globals, const OrderOptions& options, const ScheduleOrder& order) {
  RollBackSchedule ask{{}, globals.dry_run};
  if (!order.target.empty()) {
    const auto revision = revision_of(order.target);
    if (!revision || *revision == 0) {
      return give_up({ErrorCode::invalid_argument, "'" + order.target + "' is no revision", "loom schedule history"});
    }
    ask.to = Revision{*revision};
  }
  return ask_and_conclude(
      globals, ask, options,
      order.target.empty() ? "the earlier schedule returns" : "the schedule of revision " + order.target + " returns");
}

}  // namespace loom::cli

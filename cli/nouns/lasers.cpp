// SPDX-License-Identifier: Apache-2.0
// loom lasers off|rearm|status: darkness by the controller first, for as long as anybody would wait in the dark; whom it does
// not hear is asked at once, and everybody is where no controller answers. Exit codes: 0 ordered by the controller, and who
// was asked has proven its lasers dark; 4 some have not; 5 none has answered.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "cli/command_line.hpp"
#include "cli/connection.hpp"
#include "cli/nouns/nouns.hpp"
#include "cli/nouns/request.hpp"
#include "cli/nouns/rows.hpp"
#include "cli/render/term.hpp"
#include "core/text/format_text.hpp"
#include "runtime/state/state_folder.hpp"
#include "runtime/zmq/agents_client.hpp"
#include "runtime/zmq/keys/keyring.hpp"

namespace loom::cli {
namespace {

struct LasersOptions {
  bool wait = false;
  bool direct = false;  ///< to the agents themselves, whether a controller answers or not
};

/// A controller that lives answers within milliseconds; who does not by then is taken for dead.
constexpr Duration kControllerPatience = std::chrono::seconds{1};
constexpr std::size_t kNodesNamed = 20;
/// An agent that hears the order says so with its next word.
constexpr auto kLatchPatience = std::chrono::milliseconds{500};
/// Agents lift their latches, and say so, with their next heartbeats.
constexpr auto kLiftPatience = std::chrono::seconds{1};
constexpr auto kLiftInterval = std::chrono::milliseconds{50};

/// Of every agent process that the keyring knows: it says which nodes each may speak for.
Result<std::vector<AgentProcess>> agent_processes(const StateFolder& files) {
  const auto keyring = load_keyring(files.keyring());
  if (!keyring) {
    return std::unexpected(keyring.error());
  }
  std::vector<AgentProcess> processes;
  for (const Grant& grant : keyring->grants()) {
    constexpr std::string_view kName = "agents-";
    std::uint32_t number = 0;
    const std::string_view digits = std::string_view(grant.principal).substr(std::min(kName.size(), grant.principal.size()));
    const bool is_numbered = std::from_chars(digits.data(), digits.data() + digits.size(), number).ec == std::errc{};
    if (grant.role != Role::agent || !grant.principal.starts_with(kName) || !is_numbered) {
      continue;
    }
    AgentProcess process{grant.principal, files.read_agents_address(number).value_or(""), grant.public_key, {}};
    for (const NodeRange& range : grant.nodes) {
      for (std::uint32_t node = range.first.value; node <= range.last.value; ++node) {
        process.nodes.push_back(NodeId{node});
      }
    }
    processes.push_back(std::move(process));
  }
  return processes;
}

/// Only of these nodes.
void keep_nodes(std::vector<AgentProcess>& processes, const std::vector<NodeId>& nodes) {
  for (AgentProcess& process : processes) {
    std::erase_if(process.nodes, [&](NodeId node) { return !std::ranges::binary_search(nodes, node); });
  }
  std::erase_if(processes, [](const AgentProcess& process) { return process.nodes.empty(); });
}

/// `only`: of these nodes, ascending; null: of all.
Result<std::vector<AgentAnswer>> ask_all(const Globals& globals, const OperatorAsk& what,
                                         const std::vector<NodeId>* only = nullptr) {
  const StateFolder files(globals.state_dir);
  const auto keys = load_keys(files.operator_key());
  auto processes = agent_processes(files);
  if (!keys || !processes) {
    return std::unexpected(!keys ? keys.error() : processes.error());
  }
  if (only != nullptr) {
    keep_nodes(*processes, *only);
  }
  if (processes->empty()) {
    return fail(ErrorCode::not_found, files.keyring() + " knows no agent process", "loom keys list");
  }
  return ask_agents(*processes, *keys, what, globals.timeout);
}

const Error* error_of(const AgentAnswer& answer) {
  return !answer.reply ? &answer.reply.error() : !answer.reply->outcome.ok() ? &*answer.reply->outcome.error : nullptr;
}

/// Prints who is dark and who is not. `revision`: by which the controller darkens all others; none: there is no controller.
int report(const Globals& globals, const std::vector<AgentAnswer>& answers, std::optional<Revision> revision = {}) {
  nlohmann::ordered_json not_dark = nlohmann::ordered_json::array();
  std::size_t dark = 0;
  std::size_t answered = 0;
  for (const AgentAnswer& answer : answers) {
    const Error* error = error_of(answer);
    dark += error == nullptr ? 1U : 0U;
    answered += answer.reply ? 1U : 0U;
    if (error != nullptr) {
      not_dark.push_back({{"node", answer.node.value}, {"answered", answer.reply.has_value()}, {"why", error->message}});
    }
  }
  if (globals.json) {
    nlohmann::ordered_json object{{"api_version", kApiVersion}};
    if (revision) {
      object["revision"] = revision->value;
    }
    object.update({{"agents", answers.size()}, {"dark", dark}, {"not_dark", not_dark}});
    print(object);
  } else {
    std::printf("%zu of %zu agents have read their lasers back dark, and keep them latched off\n", dark, answers.size());
    for (std::size_t i = 0; i < std::min(not_dark.size(), kNodesNamed); ++i) {
      std::printf("node %u is NOT KNOWN TO BE DARK: %s\n", not_dark[i]["node"].get<unsigned>(),
                  not_dark[i]["why"].get<std::string>().c_str());
    }
    if (not_dark.size() > kNodesNamed) {
      std::printf("and %zu more (--json names all)\n", not_dark.size() - kNodesNamed);
    }
  }
  if (dark == answers.size()) {
    print_note(revision ? "next, once the controller hears them: loom lasers rearm"
                        : "next, once a controller runs: loom lasers rearm");
    return kDone;
  }
  print_note("see with your own eyes that they are dark, or cut their power");
  return answered == 0 && !revision ? kNoConnection : kPartial;
}

int off_directly(const Globals& globals) {
  const auto answers = ask_all(globals, LasersRequest{false});
  return answers ? report(globals, *answers) : give_up(answers.error());
}

/// Nobody there, as far as one can tell; anything else is an answer.
bool is_silence(const Error& error) { return error.code == ErrorCode::unreachable || error.code == ErrorCode::timed_out; }

Result<OperatorReply> order_by_controller(const Globals& globals, bool on, Duration patience) {
  Globals hasty = globals;
  hasty.timeout = std::min(globals.timeout, patience);
  auto connection = Connection::open(hasty);
  return connection ? connection->ask(LasersRequest{on}) : Result<OperatorReply>(std::unexpected(connection.error()));
}

int follow(const Globals& globals, const OperatorReply& reply, bool wait) {
  if (!wait) {
    return kDone;
  }
  auto connection = Connection::open(globals);
  return connection ? follow_revision(globals, *connection, reply.revision.value) : give_up(connection.error());
}

/// Nodes whose agents have not told the controller that they are latched off, ascending: what it ordered may not have come to
/// them. Whom it takes for alive is given the time that this takes.
Result<std::vector<NodeId>> unheard_nodes(const Globals& globals) {
  auto connection = Connection::open(globals);
  if (!connection) {
    return std::unexpected(connection.error());
  }
  const auto deadline = std::chrono::steady_clock::now() + kLatchPatience;
  while (true) {
    auto reply = connection->ask(Query{Noun::nodes, {}});
    if (!reply) {
      return std::unexpected(reply.error());
    }
    std::vector<NodeId> nodes;
    bool may_answer = false;
    for (const NodeReport& row : std::get<std::vector<NodeReport>>(reply->rows)) {
      if (row.session != "live" || !row.lasers_latched_off) {
        nodes.push_back(row.node);
        may_answer = may_answer || row.session == "live";
      }
    }
    if (!may_answer || std::chrono::steady_clock::now() >= deadline) {
      std::ranges::sort(nodes);
      return nodes;
    }
    std::this_thread::sleep_for(kLiftInterval);
  }
}

/// Whom the controller does not hear is asked itself.
int off_unheard(const Globals& globals, const std::vector<NodeId>& nodes, Revision revision) {
  print_note(format_text("{} agents have not told the controller that they are dark: they are asked themselves", nodes.size()));
  const auto answers = ask_all(globals, LasersRequest{false}, &nodes);
  if (!answers) {
    (void)give_up(answers.error(), "loom lasers off --direct");
    return kPartial;
  }
  return report(globals, *answers, revision);
}

/// Nodes whose own latch stands although everything was rearmed: a contact is open, or opened again.
Result<std::vector<NodeReport>> still_latched(Connection& connection) {
  const auto deadline = std::chrono::steady_clock::now() + kLiftPatience;
  while (true) {
    auto reply = connection.ask(Query{Noun::nodes, {}});
    if (!reply) {
      return std::unexpected(reply.error());
    }
    auto rows = std::get<std::vector<NodeReport>>(std::move(reply->rows));
    std::erase_if(rows, [](const NodeReport& row) { return row.dark_because.empty(); });
    if (rows.empty() || std::chrono::steady_clock::now() >= deadline) {
      return rows;
    }
    std::this_thread::sleep_for(kLiftInterval);
  }
}

/// A latch that an open contact holds is not lifted by the order, and nobody should have to look for it.
int report_latched(const Globals& globals) {
  auto connection = Connection::open(globals);
  const auto rows =
      connection ? still_latched(*connection) : Result<std::vector<NodeReport>>(std::unexpected(connection.error()));
  if (!rows) {
    return give_up(rows.error());
  }
  for (std::size_t i = 0; i < std::min(rows->size(), kNodesNamed); ++i) {
    print_note(format_text("node {} stays dark: {}", (*rows)[i].node.value, (*rows)[i].dark_because));
  }
  if (rows->empty()) {
    return kDone;
  }
  print_note(format_text("{} nodes stay latched off; when their contacts are closed: loom lasers rearm", rows->size()));
  return kPartial;
}

int lasers_off(const Globals& globals, const LasersOptions& options) {
  if (globals.dry_run) {
    print_note("would darken every laser of the fabric at once");
    return kDone;
  }
  if (options.direct) {
    return off_directly(globals);
  }
  const auto reply = order_by_controller(globals, false, kControllerPatience);
  if (reply) {
    print_note("lasers off is ordered and latched; `loom lasers rearm` lifts it");
    const auto unheard = unheard_nodes(globals);
    if (!unheard) {
      return give_up(unheard.error(), "loom lasers off --direct");
    }
    if (!unheard->empty()) {
      const int reached = off_unheard(globals, *unheard, reply->revision);
      const int followed = follow(globals, *reply, options.wait);
      return reached == kDone ? followed : reached;
    }
    print_done(globals, {{"revision", reply->revision.value}});
    return follow(globals, *reply, options.wait);
  }
  if (!is_silence(reply.error())) {
    return give_up(reply.error());
  }
  print_note(format_text("no controller answers ({}); the agents are asked themselves", reply.error().message));
  return off_directly(globals);
}

int rearm_lasers(const Globals& globals, const LasersOptions& options) {
  if (globals.dry_run) {
    print_note("would lift the latch; light returns with the next revision");
    return kDone;
  }
  const auto reply = order_by_controller(globals, true, globals.timeout);
  if (!reply) {
    return give_up(reply.error());
  }
  print_done(globals, {{"revision", reply->revision.value}});
  print_note(format_text("lasers are rearmed; light returns with revision {}", reply->revision.value));
  const int followed = follow(globals, *reply, options.wait);
  return options.wait && followed == kDone ? report_latched(globals) : followed;
}

int show_latches(const Globals& globals) {
  const auto answers = ask_all(globals, Query{Noun::nodes, {}});
  if (!answers) {
    return give_up(answers.error());
  }
  std::vector<NodeReport> rows;
  for (const AgentAnswer& answer : *answers) {
    const auto* own = answer.reply ? std::get_if<std::vector<NodeReport>>(&answer.reply->rows) : nullptr;
    if (own != nullptr && own->size() == 1) {
      rows.push_back(own->front());
    } else {
      print_note(format_text("node {}: {}", answer.node.value,
                             answer.reply ? std::string("it answered without a row") : answer.reply.error().message));
    }
  }
  if (globals.json) {
    print(json_of(rows));
  } else {
    std::fputs(text_of(rows).c_str(), stdout);
  }
  return rows.size() == answers->size() ? kDone : rows.empty() ? kNoConnection : kPartial;
}

}  // namespace

void add_lasers(CLI::App& app, CommandLine& line) {
  CLI::App* lasers = app.add_subcommand("lasers", "Darken everything, or lift that");
  lasers->require_subcommand(1);
  auto& options = line.keep<LasersOptions>();
  CLI::App* off = lasers->add_subcommand("off", "Darken every laser at once, latched");
  off->add_flag("--dry-run", line.globals.dry_run, "Say what would happen");
  off->add_flag("--direct", options.direct,
                "Ask the agents themselves, as is done where no controller answers; exit 4: some are not known to be dark");
  add_wait(*off, options.wait);
  line.when(*off, lasers_off, options);
  CLI::App* rearm = lasers->add_subcommand("rearm", "Lift the latch; light returns with the next revision");
  rearm->add_flag("--dry-run", line.globals.dry_run, "Say what would happen");
  add_wait(*rearm, options.wait);
  line.when(*rearm, rearm_lasers, options);
  line.when(*lasers->add_subcommand("status", "What the agents themselves say of their latches, without a controller"),
            show_latches);
}

}  // namespace loom::cli

// SPDX-License-Identifier: Apache-2.0
// loom node list|show|drain|undrain|maintenance.
#include "cli/command_line.hpp"
#include "cli/connection.hpp"
#include "cli/naming.hpp"
#include "cli/nouns/nouns.hpp"
#include "cli/nouns/read.hpp"
#include "cli/nouns/request.hpp"
#include "cli/nouns/rows.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

struct NodeOptions {
  RequestOptions request;
  std::string node;  ///< its number or name
  std::string on_or_off;
};

std::string use_of(const NodeReport& row) { return row.maintenance ? "MAINTENANCE" : row.drained ? "drained" : "open"; }

constexpr Column<NodeReport> kColumns[] = {
    {"node", kCell<&NodeReport::node>},
    {"name", kCell<&NodeReport::name>},
    {"session", kCell<&NodeReport::session>},
    {"applied", kCell<&NodeReport::applied>},
    {"silence",
     [](const NodeReport& row) { return row.silence < Duration{0} ? std::string("never received") : text_of(row.silence); }},
    {"lasers", [](const NodeReport& row) { return std::string(row.lasers_latched_off ? "LATCHED OFF" : "on"); }},
    {"devices", kCell<&NodeReport::devices>},
    {"jobs", kCell<&NodeReport::jobs>},
    {"use", use_of}};

int node_request(const Globals& globals, const NodeOptions& options, NodeAction order) {
  auto connection = Connection::open(globals);
  if (!connection) {
    return give_up(connection.error());
  }
  const auto found = find_id(*connection, Noun::nodes, options.node);
  if (!found) {
    return give_up(found.error());
  }
  const auto node = static_cast<std::uint32_t>(*found);
  const std::string number = std::to_string(node);
  const char* done = order == NodeAction::drain      ? " is drained"
                     : order == NodeAction::undrain  ? " may get jobs again"
                     : order == NodeAction::maintain ? " goes into maintenance, its lasers dark and latched"
                                                     : " leaves maintenance and stays drained";
  const auto reply = connection->ask(NodeRequest{NodeId{node}, order, options.request.force, globals.dry_run});
  if (!reply) {
    return give_up(reply.error());
  }
  const int code = conclude(globals, *connection, *reply, options.request.wait, format_text("node {}{}", number, done));
  if (code == kDone && order == NodeAction::release && !globals.dry_run) {
    print_note("  to give it jobs again: loom node undrain " + number);
  }
  return code;
}

CLI::App& add_order(CLI::App& group, CommandLine& line, const char* word, const char* what, NodeAction order,
                    NodeOptions& options) {
  CLI::App* verb = group.add_subcommand(word, what);
  add_named(*verb, "NODE", options.node, "The node's number or name");
  add_change_flags(*verb, line, options.request.wait);
  line.when(*verb, [order, &options](const Globals& globals) { return node_request(globals, options, order); });
  return *verb;
}

int maintain(const Globals& globals, const NodeOptions& options) {
  return node_request(globals, options, options.on_or_off == "on" ? NodeAction::maintain : NodeAction::release);
}

}  // namespace

std::string text_of(const std::vector<NodeReport>& rows) {
  std::string text = table_of(kColumns, rows);
  for (const NodeReport& row : rows) {
    if (!row.dark_because.empty()) {
      text += format_text("node {}: {}\n", row.node.value, row.dark_because);
    }
    if (!row.turned_away.empty()) {
      text += format_text("node {} is turned away: {}\n", row.node.value, row.turned_away);
    }
  }
  return text;
}

void add_node(CLI::App& app, CommandLine& line) {
  CLI::App& group = add_reading(app, line, RowFields<NodeReport>::kList, "nodes and their agents");
  auto& options = line.keep<NodeOptions>();
  add_order(group, line, "drain", "No new jobs; running ones move to free nodes", NodeAction::drain, options)
      .add_flag("--force", options.request.force, "Drain it although a job finds no other node and stays");
  add_order(group, line, "undrain", "It may get jobs again", NodeAction::undrain, options);
  CLI::App* maintenance = group.add_subcommand("maintenance", "Drained, dark and latched: nothing repairs it until off");
  add_named(*maintenance, "NODE", options.node, "The node's number or name");
  maintenance->add_option("ON_OR_OFF", options.on_or_off, "on or off")->required()->check(CLI::IsMember({"on", "off"}));
  maintenance->add_flag("--force", options.request.force,
                        "Although it does not answer: you have seen that its lasers are dark");
  add_change_flags(*maintenance, line, options.request.wait);
  line.when(*maintenance, maintain, options);
}

}  // namespace loom::cli

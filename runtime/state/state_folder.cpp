// SPDX-License-Identifier: Apache-2.0
// Keys and addresses in a state folder.
#include "runtime/state/state_folder.hpp"

#include <fstream>

#include "core/text/format_text.hpp"
#include "runtime/zmq/keys/keyring.hpp"
#include "runtime/zmq/keys/keys.hpp"

namespace loom {
namespace {

/// A key is granted with its making. Later the keyring says what it may be; only an agent's nodes follow the scenario.
Result<void> grant_key(Keyring& keyring, const std::string& key_file, Grant wanted) {
  auto keys = load_or_generate_keys(key_file);
  if (!keys) {
    return std::unexpected(keys.error());
  }
  if (keyring.is_revoked(keys->public_key)) {
    return {};
  }
  wanted.public_key = keys->public_key;
  if (const Grant* has = keyring.find(keys->public_key)) {
    std::vector<NodeRange> nodes = has->role == Role::agent ? std::move(wanted.nodes) : has->nodes;
    wanted = *has;
    wanted.nodes = std::move(nodes);
  }
  return keyring.add(std::move(wanted));
}

std::vector<NodeRange> ranges_of(const std::vector<NodeSpan>& spans) {
  std::vector<NodeRange> nodes;
  for (const NodeSpan& span : spans) {
    nodes.push_back({NodeId{span.first}, NodeId{span.end - 1}});
  }
  return nodes;
}

/// A file of one line, which somebody writes when it listens; `why_not`: said where nobody has.
Result<std::string> read_line(const std::string& file, const std::string& why_not) {
  std::ifstream written(file);
  std::string line;
  if (!std::getline(written, line) || line.empty()) {
    return fail(ErrorCode::unreachable, format_text("{} {}", why_not, file));
  }
  return line;
}

}  // namespace

Result<void> StateFolder::make_keys(const Scenario& scenario) const {
  LOOM_TRY(load_or_generate_keys(controller_key()));
  std::string hosts_text;
  for (std::size_t process = 0; process < scenario.agents.hosts.size(); ++process) {
    hosts_text += format_text("{} {}\n", process, scenario.agents.hosts[process].name);
  }
  if (!hosts_text.empty()) {
    LOOM_TRY(write_whole_file({hosts(), hosts_text, 0600, true}));
  }
  return change_keyring(keyring(), [&](Keyring& keyring) -> Result<void> {
    LOOM_TRY(grant_key(keyring, operator_key(), {{}, Role::admin, "operator", {}}));
    for (std::uint32_t process = 0; process < scenario.agents.processes; ++process) {
      LOOM_TRY(grant_key(keyring, agents_key(process),
                         {{}, Role::agent, format_text("agents-{}", process), ranges_of(spans_of_process(scenario, process))}));
    }
    for (std::uint32_t relay = 0; relay < scenario.agents.relays.size(); ++relay) {
      const RelayFiles its(*this, relay);
      LOOM_TRY(grant_key(keyring, its.key(), {{}, Role::agent, its.name(), ranges_of(spans_of_relay(scenario, relay)), true}));
    }
    return {};
  });
}

Result<std::uint32_t> process_of(const StateFolder& files, const std::string& host) {
  std::ifstream file(files.hosts());
  std::uint32_t process = 0;
  std::string known;
  for (std::string name; file >> process >> name;) {
    if (name == host) {
      return process;
    }
    known += (known.empty() ? "" : ", ") + name;
  }
  return fail(ErrorCode::not_found,
              known.empty() ? format_text("{} names no host; keys were not made for a scenario with hosts", files.hosts())
                            : format_text("no host is called '{}'; there are: {}", host, known),
              "loom keys generate SCENARIO");
}

Result<void> StateFolder::write_start(Instant at) const {
  return write_whole_file({start(), format_text("{}\n", ns_of(at)), 0600, true});
}

std::optional<Instant> StateFolder::read_start() const {
  std::ifstream file(start());
  std::int64_t ns = 0;
  return file >> ns ? std::optional(instant_from_ns(ns)) : std::nullopt;
}

Result<std::string> StateFolder::read_agents_address(std::uint32_t process) const {
  return read_line(agents_address(process), format_text("agent process {} has written no address into", process));
}

Result<std::string> RelayFiles::read_address() const { return read_line(address(), name_ + " has written no address into"); }

Result<std::string> StateFolder::read_address() const {
  return read_line(address(), "no controller has written its address into");
}

}  // namespace loom

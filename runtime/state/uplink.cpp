// SPDX-License-Identifier: Apache-2.0
// Places, and sentences about them.
#include "runtime/state/uplink.hpp"

#include <filesystem>
#include <utility>

#include "core/text/format_text.hpp"
#include "core/text/host_port.hpp"
#include "runtime/log.hpp"

namespace loom {
namespace {

std::string called(const StateFolder& files, std::optional<std::uint32_t> relay) {
  return relay ? RelayFiles(files, *relay).name() : "the controller";
}

std::string public_key_file(const StateFolder& files, std::optional<std::uint32_t> relay) {
  return (relay ? RelayFiles(files, *relay).key() : files.controller_key()) + ".pub";
}

/// The address, if it is one.
Result<std::string> checked(Result<std::string> address, bool is_relay) {
  if (address) {
    if (const auto place = parse_tcp_endpoint(*address); !place) {
      return fail(place.error().code,
                  format_text("the address of the {}: {}", is_relay ? "relay" : "controller", place.error().message));
    }
  }
  return address;
}

Result<std::string> written_address(const StateFolder& files, std::optional<std::uint32_t> relay) {
  return checked(relay ? RelayFiles(files, *relay).read_address() : files.read_address(), relay.has_value());
}

/// `bundled`: a host or a relay; empty: all processes are on one host.
std::string key_command_for(const std::string& bundled, const StateFolder& files) {
  std::error_code ignored;
  if (bundled.empty() || std::filesystem::exists(files.controller_key(), ignored)) {
    return "loom keys generate SCENARIO";
  }
  return format_text("loom keys bundle {} -o {}.keys.tar on the controller's host, and --keys {}.keys.tar here", bundled,
                     bundled, bundled);
}

/// What to do about it; may be empty.
std::string remedy(LinkTrouble trouble, const Uplink& uplink, const OwnKey& own) {
  const std::string granted = format_text("our key: {}; `loom keys grant {} --role {} --nodes FIRST-LAST` at the controller",
                                          own.file, own.name, own.role);
  switch (trouble) {
    case LinkTrouble::unreachable:
      return {};
    case LinkTrouble::key_refused:
      return uplink.relay ? format_text("{}, and a new bundle for a relay on a host of its own: `loom keys bundle {}`", granted,
                                        uplink.called)
                          : format_text("{}; a key file of another lab: remove it, then {}", granted, own.renewal);
    case LinkTrouble::other_key:
      return uplink.relay ? "its key: " + uplink.key_file
                          : format_text("its key: {}; a file of another lab: remove it, then {}", uplink.key_file, own.renewal);
    case LinkTrouble::unanswered:
      return format_text("its keyring grants the key other nodes, or {}; {}",
                         uplink.relay          ? "it does not reach the controller"
                         : own.role == "relay" ? "does not have the agents' keys"
                                               : "it is stuck",
                         granted);
  }
  return {};
}

}  // namespace

Result<Uplink> uplink_of(std::string configured, const Scenario& scenario, const StateFolder& files,
                         std::optional<std::uint32_t> relay) {
  if (configured.empty()) {
    configured = relay ? scenario.agents.relays[*relay] : scenario.controller_endpoint;
  }
  Uplink uplink{relay, called(files, relay), public_key_file(files, relay), {}, {}};
  if (configured.empty() || configured.ends_with(":*")) {
    uplink.find = [files, relay] { return written_address(files, relay); };
  }
  auto address = uplink.find ? uplink.find() : checked(std::move(configured), relay.has_value());
  if (!address) {
    return std::unexpected(address.error());
  }
  uplink.endpoint = *std::move(address);
  return uplink;
}

AgentTransportOptions transport_options(const Uplink& uplink, const OwnKey& own) {
  AgentTransportOptions options;
  options.endpoint = uplink.endpoint;
  options.called = uplink.called;
  options.key_file = std::filesystem::path(uplink.key_file).filename().string();
  if (uplink.find) {
    options.find = [uplink, known = uplink.endpoint]() mutable {
      auto found = uplink.find();
      if (found && *found != known) {
        known = *found;
        log_info(format_text("lightloom-agent: {} listens at {} by now", uplink.called, known));
      }
      return found;
    };
  }
  options.on_trouble = [uplink, own](LinkTrouble trouble, const std::string& sentence) {
    const std::string what = remedy(trouble, uplink, own);
    log_warning(what.empty() ? sentence : format_text("{} ({})", sentence, what));
  };
  return options;
}

AgentKeyFiles agent_key_files(const Scenario& scenario, const StateFolder& files, std::uint32_t process) {
  const auto relay = relay_of_process(scenario, process);
  AgentKeyFiles keys;
  keys.own = files.agents_key(process);
  keys.controller = public_key_file(files, relay);
  keys.keyring = files.keyring();
  keys.process = process;
  for (std::uint32_t each = 0; each < scenario.agents.processes; ++each) {
    keys.peers.push_back(files.agents_key(each) + ".pub");
  }
  keys.called = called(files, relay);
  return keys;
}

std::string key_command(const Scenario& scenario, const StateFolder& files, std::uint32_t process) {
  return key_command_for(scenario.agents.hosts.empty() ? std::string{} : scenario.agents.hosts[process].name, files);
}

std::string key_command(const RelayFiles& relay, const StateFolder& files) { return key_command_for(relay.name(), files); }

Error with_key_command(Error error, const std::string& command) {
  if (error.code == ErrorCode::not_found && error.next_command.empty()) {
    error.next_command = command;
  }
  return error;
}

}  // namespace loom

// SPDX-License-Identifier: Apache-2.0
// Uplink: whom a process of agents, or a relay, speaks to: the controller, or the relay that stands for it. Where it listens,
// which file has its key, and what is said when it is not reached, with what to do about it. It opens no connection.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/config/scenario/scenario.hpp"
#include "core/result.hpp"
#include "runtime/state/state_folder.hpp"
#include "runtime/zmq/agent_transport.hpp"
#include "runtime/zmq/keys/agent_keys.hpp"

namespace loom {

struct Uplink {
  std::optional<std::uint32_t> relay{};  ///< which; nothing: the controller itself
  std::string called;                    ///< "the controller", or "relay-0"
  std::string key_file;                  ///< of its public key
  std::string endpoint;
  /// Where it has written that it listens, which may be elsewhere after a restart; empty: its place is said by an option or by
  /// the scenario.
  std::function<Result<std::string>()> find{};
};

/// At `configured`, else as the scenario says, else as the state folder does. `relay`: nothing for the controller itself.
/// Errors: malformed (the endpoint), unreachable (nobody has written it).
Result<Uplink> uplink_of(std::string configured, const Scenario& scenario, const StateFolder& files,
                         std::optional<std::uint32_t> relay);

/// The pair with which a process speaks to it.
struct OwnKey {
  std::string name;  ///< "agents-0", "relay-0"
  std::string role;  ///< in a keyring: agent, relay
  std::string file;
  std::string renewal;  ///< key_command()
};

/// Everything but keys. Trouble is logged, with what to do about it.
AgentTransportOptions transport_options(const Uplink& uplink, const OwnKey& own);

/// Where the keys of an agent process lie, and of whom it speaks to.
AgentKeyFiles agent_key_files(const Scenario& scenario, const StateFolder& files, std::uint32_t process);

/// What brings the keys of an agent process, or of a relay, into the folder: `loom keys generate` where the controller's pair
/// is or all processes are on one host, a bundle elsewhere.
std::string key_command(const Scenario& scenario, const StateFolder& files, std::uint32_t process);
std::string key_command(const RelayFiles& relay, const StateFolder& files);

/// The error; of files that are missing with that command.
Error with_key_command(Error error, const std::string& command);

}  // namespace loom

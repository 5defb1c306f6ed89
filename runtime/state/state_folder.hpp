// SPDX-License-Identifier: Apache-2.0
// Where a lab's files lie in its state folder: keys, keyring, journals, light logs, logs, and the controller's address. The
// daemons and the operator's commands agree on this page alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/config/scenario/scenario.hpp"
#include "core/result.hpp"
#include "core/text/format_text.hpp"

namespace loom {

class StateFolder {
 public:
  explicit StateFolder(std::string state_dir) : state_(std::move(state_dir)) {}

  const std::string& folder() const { return state_; }
  std::string keys() const { return state_ + "/keys"; }
  std::string key(const std::string& name) const { return format_text("{}/{}", keys(), name); }
  std::string controller_key() const { return keys() + "/controller"; }
  std::string operator_key() const { return keys() + "/operator"; }
  std::string agents_key(std::uint32_t process) const { return format_text("{}/agents-{}", keys(), process); }
  std::string keyring() const { return keys() + "/keyring"; }
  /// Which host has which agent process: a line each, `PROCESS NAME`. Only where the scenario has hosts.
  std::string hosts() const { return keys() + "/hosts"; }
  std::string controller_journal() const { return state_ + "/controller.db"; }
  std::string agents_journal(std::uint32_t process) const { return format_text("{}/agents-{}.db", state_, process); }
  std::string light_log(std::uint32_t process) const { return format_text("{}/agents-{}.light", state_, process); }
  /// What became of each grant of its agents, see grant_log.hpp.
  std::string grant_log(std::uint32_t process) const { return format_text("{}/agents-{}.grants", state_, process); }
  /// One line: where the agents of this process listen for their peers.
  std::string agents_address(std::uint32_t process) const { return format_text("{}/agents-{}.address", state_, process); }
  /// What a recording controller heard, of all its incarnations.
  std::string tape() const { return state_ + "/controller.tape"; }
  /// Of the emulator of which this is the first device.
  std::string light_log(const Device& device) const { return format_text("{}/{}.light", state_, device.name); }
  /// One line: the address that the controller is bound to, written when it is.
  std::string address() const { return state_ + "/controller.address"; }
  /// One line: where a daemon serves its metrics, written when it does.
  std::string controller_metrics() const { return state_ + "/controller.metrics"; }
  std::string agents_metrics(std::uint32_t process) const { return format_text("{}/agents-{}.metrics", state_, process); }

  /// One line: the instant of this host's monotonic clock at which a run began, written when it does.
  std::string start() const { return state_ + "/run.start"; }
  /// Errors: storage.
  Result<void> write_start(Instant at) const;
  /// Nothing: no run has begun yet.
  std::optional<Instant> read_start() const;

  /// Keys of the controller, an operator, every agent process and every relay, and the keyring that knows them; what exists is
  /// kept, apart from the nodes of an agent's key, which follow the scenario. A key that was revoked stays so, a role that was
  /// changed too. Errors: storage, refused, malformed (files of another hand).
  Result<void> make_keys(const Scenario& scenario) const;
  /// Errors: unreachable (no controller has written it).
  Result<std::string> read_address() const;
  /// Of an agent process. Errors: unreachable (it has not written it).
  Result<std::string> read_agents_address(std::uint32_t process) const;

 private:
  std::string state_;
};

/// Where one relay's files lie in it.
class RelayFiles {
 public:
  RelayFiles(const StateFolder& files, std::uint32_t relay) : files_(files), name_(format_text("relay-{}", relay)) {}

  const std::string& name() const { return name_; }
  std::string key() const { return files_.key(name_); }
  /// One line: where it listens for agents.
  std::string address() const { return format_text("{}/{}.address", files_.folder(), name_); }
  std::string metrics() const { return format_text("{}/{}.metrics", files_.folder(), name_); }
  /// Of one process: a second one of this number is not to start here.
  std::string lock() const { return format_text("{}/{}.lock", files_.folder(), name_); }
  /// Errors: unreachable (it has not written it).
  Result<std::string> read_address() const;

 private:
  const StateFolder& files_;
  std::string name_;
};

/// The agent process of a host, as make_keys() noted it. Errors: not_found, naming the hosts that are known.
Result<std::uint32_t> process_of(const StateFolder& files, const std::string& host);

}  // namespace loom

// SPDX-License-Identifier: Apache-2.0
// loom keys list|grant|revoke|rotate|bundle: who may come in, and as what. The keyring file is changed; the daemons that watch
// it take the change over, and these commands wait until the controller says so. Without a controller it is in force at the
// next start.
#pragma once

#include <string>

#include "cli/options.hpp"

namespace CLI {
class App;
}

namespace loom::cli {

class CommandLine;

struct KeysCommand {
  std::string name;   ///< a principal; revoke: or a public key, or its fingerprint
  std::string role;   ///< viewer, operator, admin, agent, relay
  std::string nodes;  ///< "0-31,64", of an agent's key
  std::string key;    ///< a public key in Z85, or a file that has one; empty: of this folder, made if there is none
  bool force = false;
  std::string output;  ///< of a bundle; empty: HOST.keys.tar
};

int list_keys(const Globals& globals);
int grant_key(const Globals& globals, const KeysCommand& order);
int revoke_key(const Globals& globals, const KeysCommand& order);
/// A new pair in the place of the present one, which is revoked once the new one is in force.
int rotate_key(const Globals& globals, const KeysCommand& order);

/// Everything that one host needs, in one file.
int bundle_keys(const Globals& globals, const KeysCommand& order);

void add_keys(CLI::App& app, CommandLine& line);

}  // namespace loom::cli

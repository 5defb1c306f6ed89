// SPDX-License-Identifier: Apache-2.0
// A changed keyring, as the keys commands make one: tried on a copy, written under the file's lock, told with what became of
// it.
#pragma once

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/keys/wait.hpp"
#include "runtime/state/state_folder.hpp"
#include "runtime/zmq/keys/keyring.hpp"

namespace loom::cli {

using KeyringEdit = std::function<Result<void>(Keyring&)>;

/// An operator's or an admin's.
bool may_change(const Grant& grant);
/// "0-31,64".
std::string nodes_text(const std::vector<NodeRange>& nodes);
/// "grace (viewer, key 0123456789abcdef)".
std::string describe(const Grant& grant);
nlohmann::ordered_json json_of(const Grant& grant);
std::vector<Grant> grants_of(const Keyring& keyring, const std::string& principal);
/// It becomes the name of a file. Errors: invalid_argument.
Result<void> check_key_name(const std::string& name);
/// The key that these commands ask the controller with.
bool is_own(const Globals& globals, const StateFolder& files, const std::string& public_key);

/// What the keyring would be. Errors: as load_keyring() and `edit`; refused (nobody could order any more, and no `force`).
Result<Keyring> tried_keyring(const StateFolder& files, const KeyringEdit& edit, bool force);

struct WrittenKeyring {
  Keyring keyring;
  std::chrono::steady_clock::time_point at;  ///< right before it was written
};
/// Judged again under the file's lock, since others may change it too. Errors: as tried_keyring(), storage.
Result<WrittenKeyring> write_keyring(const StateFolder& files, const KeyringEdit& edit, bool force);

/// Of a change: what it was, and since when it holds. An exit code.
int conclude(const Globals& globals, const char* verb, const std::vector<Grant>& grants, const InForce& in_force);
int print_dry(const Globals& globals, const char* verb, const std::vector<Grant>& grants);

}  // namespace loom::cli

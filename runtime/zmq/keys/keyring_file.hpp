// SPDX-License-Identifier: Apache-2.0
// KeyringFile: the keyring that is in force, and the file that says what it shall be. A look reads the file when it has
// changed; one that cannot be taken (missing, open to others, a line that does not parse, no key at all) leaves the old keyring
// in force and says why, once. It puts nothing into force itself.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "core/step.hpp"
#include "runtime/zmq/keys/keyring.hpp"
#include "runtime/zmq/keys/keys_watch.hpp"

namespace loom {

/// What one keyring grants and the other does not. A key whose role or nodes differ is altered; one that is another principal's
/// now is removed from the first and added to the second.
KeysChanged keys_changed(const Keyring& before, const Keyring& after);

/// "agents-1 (agent, key 0123456789abcdef) removed", one after the other, at most eight by name.
std::string sentence_of(const KeysChanged& changed);

class KeyringFile {
 public:
  /// `in_force` was read from the file just now.
  KeyringFile(std::filesystem::path file, Keyring in_force) : file_(std::move(file)), in_force_(std::move(in_force)) {}

  const Keyring& in_force() const { return in_force_; }
  std::uint64_t digest() const { return in_force_.digest(); }

  /// Nothing: no news. Otherwise what is different now; without a problem, in_force() is what shall be put into force, and if
  /// nothing of it differs, a problem is over. In passing, a file that changed since the last look is left for the next one.
  std::optional<KeysChanged> look(KeysWatch::Cause cause);

 private:
  /// What a file looks like from outside: replaced or written, it looks otherwise.
  std::string appearance() const;

  std::filesystem::path file_;
  Keyring in_force_;
  std::string seen_{"never"};  ///< appearance when it was last read
  std::string passed_;         ///< appearance at the last look in passing
  std::string problem_;        ///< told; empty: none
};

}  // namespace loom

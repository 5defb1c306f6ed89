// SPDX-License-Identifier: Apache-2.0
// Edits, their judgement, their words.
#include "cli/keys/change.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "cli/render/answer.hpp"
#include "cli/render/term.hpp"
#include "core/text/format_text.hpp"
#include "runtime/zmq/keys/keys.hpp"

namespace loom::cli {
namespace {

bool anybody_may_change(const Keyring& keyring) {
  const auto grants = keyring.grants();
  return std::any_of(grants.begin(), grants.end(), may_change);
}

}  // namespace

bool may_change(const Grant& grant) { return grant.role == Role::operator_ || grant.role == Role::admin; }

std::string nodes_text(const std::vector<NodeRange>& nodes) {
  std::string text;
  for (const NodeRange& range : nodes) {
    text += format_text("{}{}{}", text.empty() ? "" : ",", range.first.value,
                        range.first == range.last ? "" : format_text("-{}", range.last.value));
  }
  return text;
}

std::string describe(const Grant& grant) {
  return format_text("{} ({}{}, key {})", grant.principal, role_word(grant),
                     grant.nodes.empty() ? "" : " of nodes " + nodes_text(grant.nodes), fingerprint_of(grant.public_key));
}

nlohmann::ordered_json json_of(const Grant& grant) {
  auto object = nlohmann::ordered_json::object();
  object["principal"] = grant.principal;
  object["role"] = role_word(grant);
  auto nodes = nlohmann::ordered_json::array();
  for (const NodeRange& range : grant.nodes) {
    nodes.push_back({range.first.value, range.last.value});
  }
  object["nodes"] = std::move(nodes);
  object["fingerprint"] = fingerprint_of(grant.public_key);
  object["public_key"] = grant.public_key;
  return object;
}

std::vector<Grant> grants_of(const Keyring& keyring, const std::string& principal) {
  std::vector<Grant> its = keyring.grants();
  std::erase_if(its, [&](const Grant& grant) { return grant.principal != principal; });
  return its;
}

Result<void> check_key_name(const std::string& name) {
  static constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  const bool is_word = !name.empty() && name.size() <= 64 && name.find_first_not_of(kLetters) == std::string::npos;
  if (!is_word || name.front() == '.' || name.front() == '-' || name.ends_with(".pub") || name.ends_with(".next") ||
      name == "keyring" || name == "controller") {
    return fail(
        ErrorCode::invalid_argument,
        format_text("'{}' cannot be a name here: 1 to 64 letters, digits, '.', '_' and '-', not keyring or controller", name));
  }
  return {};
}

bool is_own(const Globals& globals, const StateFolder& files, const std::string& public_key) {
  const auto own = load_keys(globals.as.empty() ? files.operator_key() : files.key(globals.as));
  return own && own->public_key == public_key;
}

Result<Keyring> tried_keyring(const StateFolder& files, const KeyringEdit& edit, bool force) {
  auto keyring = load_keyring(files.keyring());
  if (!keyring) {
    return keyring;
  }
  const bool could = anybody_may_change(*keyring);
  LOOM_TRY(edit(*keyring));
  if (could && !anybody_may_change(*keyring) && !force) {
    return fail(ErrorCode::refused,
                "this is the last key of an operator or admin: nobody could order anything any more, lasers off included",
                "loom keys grant NAME --role admin  (or --force)");
  }
  return keyring;
}

Result<WrittenKeyring> write_keyring(const StateFolder& files, const KeyringEdit& edit, bool force) {
  WrittenKeyring written;
  const auto judged = [&](Keyring& keyring) -> Result<void> {
    const bool could = anybody_may_change(keyring);
    LOOM_TRY(edit(keyring));
    if (could && !anybody_may_change(keyring) && !force) {
      return fail(ErrorCode::refused, "meanwhile this has become the last key of an operator or admin", "loom keys list");
    }
    written.keyring = keyring;
    written.at = std::chrono::steady_clock::now();
    return {};
  };
  LOOM_TRY(change_keyring(files.keyring(), judged));
  return written;
}

int conclude(const Globals& globals, const char* verb, const std::vector<Grant>& grants, const InForce& in_force) {
  for (const Grant& grant : grants) {
    print_note(format_text("{} {}", verb, describe(grant)));
  }
  print_note(sentence_of(in_force));
  if (in_force.state == InForce::State::late) {
    warn("the keyring file is written; see why the controller does not take it over", "loom alarm list");
  }
  if (globals.json) {
    auto object = answer();
    object["done"] = verb;
    auto keys = nlohmann::ordered_json::array();
    for (const Grant& grant : grants) {
      keys.push_back(json_of(grant));
    }
    object["keys"] = std::move(keys);
    object["in_force"] = in_force.state == InForce::State::in_force || in_force.state == InForce::State::shut_out;
    if (in_force.state == InForce::State::in_force) {
      object["in_force_after_ms"] = in_force.after.count();
    }
    print(object);
  }
  return exit_code_of(in_force);
}

int print_dry(const Globals& globals, const char* verb, const std::vector<Grant>& grants) {
  for (const Grant& grant : grants) {
    print_note(format_text("would have {} {}", verb, describe(grant)));
  }
  if (globals.json) {
    auto object = answer();
    object["dry_run"] = true;
    object["would_have"] = verb;
    auto keys = nlohmann::ordered_json::array();
    for (const Grant& grant : grants) {
      keys.push_back(json_of(grant));
    }
    object["keys"] = std::move(keys);
    print(object);
  }
  print_note("nothing was changed");
  return kDone;
}

}  // namespace loom::cli

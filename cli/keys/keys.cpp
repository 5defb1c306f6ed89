// SPDX-License-Identifier: Apache-2.0
// Who is let in: shown, added to, taken from.
#include "cli/keys/keys.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <utility>

#include "cli/command_line.hpp"
#include "cli/keys/change.hpp"
#include "cli/lab/lab.hpp"
#include "cli/render/answer.hpp"
#include "cli/render/term.hpp"
#include "controller/architectures/registry.hpp"
#include "core/config/scenario/scenario_file.hpp"
#include "core/text/format_text.hpp"
#include "runtime/state/key_bundle.hpp"
#include "runtime/zmq/keys/keys.hpp"

namespace loom::cli {
namespace {

/// Public keys whose pair lies in the folder, and where.
std::map<std::string, std::string> pairs_here(const StateFolder& files) {
  std::map<std::string, std::string> found;
  std::error_code problem;
  for (std::filesystem::directory_iterator it(files.keys(), problem), end; !problem && it != end; it.increment(problem)) {
    const std::string path = it->path().string();
    if (it->path().extension() == ".pub") {
      continue;
    }
    if (const auto keys = load_keys(path)) {
      found.emplace(keys->public_key, path);
    }
  }
  return found;
}

}  // namespace

// --- list ----------------------------------------------------------------------------------------------------------------

int list_keys(const Globals& globals) {
  const StateFolder files(globals.state_dir);
  const auto keyring = load_keyring(files.keyring());
  if (!keyring) {
    return give_up(keyring.error(), "loom keys generate SCENARIO");
  }
  KeysController controller(globals);
  const auto status = controller.status();
  const bool in_force = status && status->keyring_digest == keyring->digest();
  const char* word = !status ? "at the next start" : in_force ? "yes" : "not yet";
  const auto pairs = pairs_here(files);
  Table table({"principal", "role", "nodes", "key", "file", "in force"});
  auto rows = nlohmann::ordered_json::array();
  for (const Grant& grant : keyring->grants()) {
    const auto pair = pairs.find(grant.public_key);
    const std::string file = pair == pairs.end() ? "" : pair->second;
    table.add({grant.principal, std::string(role_word(grant)), grant.nodes.empty() ? "-" : nodes_text(grant.nodes),
               fingerprint_of(grant.public_key), file.empty() ? "-" : file, word});
    auto row = json_of(grant);
    row["file"] = file.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(file);
    row["in_force"] = in_force;
    rows.push_back(std::move(row));
  }
  if (globals.json) {
    auto object = answer();
    object["keyring"] = files.keyring();
    object["controller"] = status.has_value();
    object["in_force"] = in_force;
    object["keys"] = std::move(rows);
    print(object);
    return kDone;
  }
  std::fputs(table.text().c_str(), stdout);
  if (status && !in_force) {
    warn("the controller goes by another keyring than " + files.keyring(), "loom alarm list");
  }
  return kDone;
}

// --- grant ---------------------------------------------------------------------------------------------------------------

namespace {

/// Errors: conflict (the principal has another key), malformed, storage.
Result<std::string> key_to_grant(const StateFolder& files, const KeysCommand& order, const Keyring& keyring, bool may_make) {
  if (!order.key.empty()) {
    std::error_code ignored;
    if (std::filesystem::is_regular_file(order.key, ignored)) {
      return load_public_key(order.key);
    }
    LOOM_TRY(check_key("--key", order.key));
    return order.key;
  }
  const std::vector<Grant> its = grants_of(keyring, order.name);
  if (its.size() == 1) {
    return its.front().public_key;
  }
  if (may_make) {
    const auto keys = load_or_generate_keys(files.key(order.name));
    return keys ? Result<std::string>(keys->public_key) : std::unexpected(keys.error());
  }
  const auto keys = load_keys(files.key(order.name));
  return keys ? keys->public_key : std::string{};
}

Result<Grant> grant_of(const StateFolder& files, const KeysCommand& order, const Keyring& keyring, bool may_make) {
  LOOM_TRY(check_key_name(order.name));
  Grant grant{{}, {}, order.name, {}};
  if (!set_role(grant, order.role)) {
    return fail(ErrorCode::invalid_argument,
                format_text("role '{}' is none of viewer, operator, admin, agent, relay", order.role));
  }
  if (grant.role == Role::agent && order.nodes.empty()) {
    return fail(ErrorCode::invalid_argument,
                format_text("{} key speaks for nodes: --nodes FIRST-LAST[,...]", grant.is_relay ? "a relay's" : "an agent's"));
  }
  if (grant.role != Role::agent && !order.nodes.empty()) {
    return fail(ErrorCode::invalid_argument, "only an agent's or a relay's key speaks for nodes: leave --nodes out");
  }
  if (!order.nodes.empty()) {
    auto nodes = parse_node_ranges(order.nodes);
    if (!nodes) {
      return fail(ErrorCode::invalid_argument, "--nodes: " + nodes.error().message);
    }
    grant.nodes = *std::move(nodes);
  }
  auto key = key_to_grant(files, order, keyring, may_make);
  if (!key) {
    return std::unexpected(key.error());
  }
  grant.public_key = *std::move(key);
  for (const Grant& has : grants_of(keyring, order.name)) {
    if (has.public_key != grant.public_key) {
      return fail(ErrorCode::conflict,
                  format_text("{} has key {} already; a principal has one, so that the audit says whose it was", order.name,
                              fingerprint_of(has.public_key)),
                  format_text("loom keys rotate {}  (or another name)", order.name));
    }
  }
  if (const Grant* has = keyring.find(grant.public_key); has != nullptr && has->principal != order.name) {
    return fail(ErrorCode::conflict, "this key is that of " + has->principal, "loom keys revoke " + has->principal);
  }
  return grant;
}

/// Two keys for one node: the second one is refused while the first is alive.
void warn_of_overlap(const Keyring& keyring, const Grant& grant) {
  for (const Grant& other : keyring.grants()) {
    for (const NodeRange& range : other.nodes) {
      const bool overlaps = std::any_of(grant.nodes.begin(), grant.nodes.end(), [&](const NodeRange& its) {
        return its.first <= range.last && range.first <= its.last;
      });
      if (overlaps && other.public_key != grant.public_key && other.is_relay == grant.is_relay) {
        print_note(format_text("nodes {} are those of {} as well: whoever speaks first holds them", nodes_text({range}),
                               other.principal));
      }
    }
  }
}

}  // namespace

int grant_key(const Globals& globals, const KeysCommand& order) {
  const StateFolder files(globals.state_dir);
  Grant grant;
  bool makes_pair = false;
  const auto edit = [&](bool may_make) {
    return [&, may_make](Keyring& keyring) -> Result<void> {
      auto made = grant_of(files, order, keyring, may_make);
      if (!made) {
        return std::unexpected(made.error());
      }
      grant = *std::move(made);
      makes_pair = grant.public_key.empty();
      return makes_pair ? Result<void>{} : keyring.add(grant);
    };
  };
  const auto would = tried_keyring(files, edit(false), order.force);
  if (!would) {
    return give_up(would.error(), "loom keys grant --help");
  }
  warn_of_overlap(*would, grant);
  if (globals.dry_run) {
    if (makes_pair) {
      print_note(
          format_text("would have made a pair in {} and granted it to {} ({})", files.key(order.name), order.name, order.role));
      print_note("nothing was changed");
      return kDone;
    }
    return print_dry(globals, "granted", {grant});
  }
  const bool loses_own = is_own(globals, files, grant.public_key) && !may_change(grant);
  KeysController controller(globals);
  const auto written = write_keyring(files, edit(true), order.force);
  if (!written) {
    return give_up(written.error(), "loom keys list");
  }
  if (loses_own) {
    print_note("it is your own key: from now on you only read");
  }
  if (makes_pair) {
    print_note(
        format_text("a new pair is in {}; to use it elsewhere, take it and controller.pub along", files.key(order.name)));
  }
  return conclude(globals, "granted", {grant}, controller.await(written->keyring.digest(), written->at, false));
}

// --- revoke --------------------------------------------------------------------------------------------------------------

namespace {

std::vector<Grant> meant_by(const Keyring& keyring, const std::string& word) {
  std::vector<Grant> meant = grants_of(keyring, word);
  for (const Grant& grant : keyring.grants()) {
    if (grant.public_key == word || (grant.principal != word && fingerprint_of(grant.public_key) == word)) {
      meant.push_back(grant);
    }
  }
  return meant;
}

Result<std::vector<Grant>> remove(Keyring& keyring, const std::string& word) {
  std::vector<Grant> meant = meant_by(keyring, word);
  if (meant.empty()) {
    std::vector<std::string> known;
    for (const Grant& grant : keyring.grants()) {
      known.push_back(grant.principal);
    }
    const std::string near = nearest(word, known);
    return fail(ErrorCode::not_found,
                format_text("no key in force is '{}'s, has this fingerprint or reads so{}", word,
                            near.empty() ? "" : "; nearest: " + near),
                "loom keys list");
  }
  for (const Grant& grant : meant) {
    keyring.remove(grant.public_key);
  }
  return meant;
}

/// What becomes of the light of its nodes. `loom lasers off` asks agents by the keyring where the controller does not hear
/// them: it finds those behind a relay, and not one whose own key is revoked.
std::string light_without(const Grant& grant) {
  const std::string nodes = nodes_text(grant.nodes);
  return grant.is_relay
             ? format_text(
                   "nodes {} lose their relay: their light stays as it is, and the controller cannot change it until a "
                   "relay with a granted key speaks for them; `loom lasers off` darkens them all the same, it asks their "
                   "agents itself",
                   nodes)
             : format_text(
                   "nodes {} lose their agent: their light stays as it is, and nobody can change it, not even `loom "
                   "lasers off`, until an agent with a granted key speaks for them",
                   nodes);
}

}  // namespace

int revoke_key(const Globals& globals, const KeysCommand& order) {
  const StateFolder files(globals.state_dir);
  std::vector<Grant> removed;
  const auto edit = [&](Keyring& keyring) -> Result<void> {
    auto meant = remove(keyring, order.name);
    if (!meant) {
      return std::unexpected(meant.error());
    }
    removed = *std::move(meant);
    return {};
  };
  const auto would = tried_keyring(files, edit, order.force);
  if (!would) {
    return give_up(would.error());
  }
  for (const Grant& grant : removed) {
    if (!grant.nodes.empty()) {
      print_note(light_without(grant));
    }
  }
  if (globals.dry_run) {
    return print_dry(globals, "revoked", removed);
  }
  const bool loses_own =
      std::any_of(removed.begin(), removed.end(), [&](const Grant& grant) { return is_own(globals, files, grant.public_key); });
  KeysController controller(globals);
  const auto written = write_keyring(files, edit, order.force);
  if (!written) {
    return give_up(written.error(), "loom keys list");
  }
  return conclude(globals, "revoked", removed, controller.await(written->keyring.digest(), written->at, loses_own));
}

// --- bundle --------------------------------------------------------------------------------------------------------------

int bundle_keys(const Globals& globals, const KeysCommand& order) {
  const auto bundle = make_key_bundle(StateFolder(globals.state_dir), order.name);
  if (!bundle) {
    return give_up(bundle.error());
  }
  const std::string file = order.output.empty() ? order.name + ".keys.tar" : order.output;
  if (globals.dry_run) {
    print_note(format_text("would have written {} files of {} to {}", bundle->files.size(), bundle->own, file));
    print_note("nothing was changed");
    return kDone;
  }
  if (const auto written = write_key_bundle(file, *bundle); !written) {
    return give_up(written.error(), written.error().code == ErrorCode::conflict
                                        ? format_text("loom keys bundle {} -o ANOTHER_FILE", order.name)
                                        : std::string{});
  }
  if (globals.json) {
    auto object = answer();
    object["host"] = bundle->host;
    object["process"] = bundle->process() ? nlohmann::ordered_json(*bundle->process()) : nlohmann::ordered_json(nullptr);
    object["file"] = file;
    auto names = nlohmann::ordered_json::array();
    for (const auto& [name, text] : bundle->files) {
      names.push_back(name);
    }
    object["files"] = std::move(names);
    print(object);
    return kDone;
  }
  print_note(
      format_text("{} has the {} key files of host {}, a secret key among them: take it there by a way that nobody reads", file,
                  bundle->files.size(), bundle->host));
  print_note(
      format_text("  there: lightloom-agent --scenario SCENARIO {} --keys {} --state DIR",
                  bundle->process() ? "--host " + bundle->host : "--relay " + bundle->own.substr(bundle->own.find('-') + 1),
                  std::filesystem::path(file).filename().string()));
  return kDone;
}

/// Keys of a lab that is still to be started.
static int generate_keys(const Globals& globals, const std::string& scenario_path) {
  const auto scenario = load_scenario(scenario_path, all_fabric_kinds());
  if (!scenario) {
    return complain_of(scenario.errors);
  }
  const StateFolder files(globals.state_dir);
  if (const auto marked = mark_key_folder(globals.state_dir); !marked) {
    return give_up(marked.error());
  }
  if (const auto made = files.make_keys(*scenario.value); !made) {
    return give_up(made.error());
  }
  print_note("keys are in " + files.keys());
  return kDone;
}

void add_keys(CLI::App& app, CommandLine& line) {
  CLI::App* keys = app.add_subcommand("keys", "Who may come in, and as what: in force without a restart");
  keys->require_subcommand(1);
  auto& options = line.keep<KeysCommand>();
  line.when(*keys->add_subcommand("list", "Every key that is let in: whose it is, its role, its nodes, where its file is"),
            list_keys);
  CLI::App* grant = keys->add_subcommand("grant", "Let a key in, or give it another role or other nodes");
  grant->add_option("NAME", options.name, "Whose it is: its principal in every answer and in the audit")->required();
  grant->add_option("--role", options.role, "viewer, operator, admin, agent or relay")->required();
  grant->add_option("--nodes", options.nodes, "An agent's or a relay's: nodes that it speaks for, e.g. 0-31,64");
  grant->add_option("--key", options.key,
                    "Public key, or a file that has one; without it NAME's, or a new pair in STATE/keys/NAME");
  CLI::App* revoke = keys->add_subcommand("revoke", "Let a key in no more: its connections end at once");
  revoke->add_option("NAME_OR_KEY", options.name, "A principal, a public key or its fingerprint")->required();
  CLI::App* rotate = keys->add_subcommand("rotate", "A new pair in the place of NAME's; the old key is revoked then");
  rotate->add_option("NAME", options.name, "Whose pair in STATE/keys; agents take theirs over while they run")->required();
  CLI::App* bundle = keys->add_subcommand("bundle", "What one host of the scenario needs, and no more, in one file");
  bundle->add_option("HOST", options.name, "Its name in the scenario's hosts; a relay's: relay-0, relay-1, ...")->required();
  bundle->add_option("-o,--output", options.output, "File to write; it must not be there yet; without it HOST.keys.tar");
  const auto command = [&](CLI::App* verb, int (*run)(const Globals&, const KeysCommand&)) {
    verb->add_flag("--dry-run", line.globals.dry_run, "Say what would change, and do nothing");
    line.when(*verb, run, options);
  };
  command(grant, grant_key);
  command(revoke, revoke_key);
  command(rotate, rotate_key);
  command(bundle, bundle_keys);
  for (CLI::App* verb : {grant, revoke}) {
    verb->add_flag("--force", options.force, "Although nobody could order anything any more");
  }
  CLI::App* generate =
      keys->add_subcommand("generate", "Keys of a controller, its agent processes and an operator, where missing");
  auto& scenario = line.keep<std::string>();
  generate->add_option("SCENARIO", scenario, "YAML file: says how many agent processes there are")->required();
  line.when(*generate, generate_keys, scenario);
}

}  // namespace loom::cli

// SPDX-License-Identifier: Apache-2.0
// Key files, keyrings and batches: what is refused, and that the sentence says why.
#include <sys/stat.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "runtime/zmq/batch.hpp"
#include "runtime/zmq/keys/keyring.hpp"
#include "tests/unit/zmq/zmq_rig.hpp"

namespace loom {
namespace {

using Catch::Matchers::Contains;
using test::PrivateFolder;

unsigned mode_of(const std::filesystem::path& path) {
  struct stat status{};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return status.st_mode & 0777u;
}

void write(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file) << text;
  REQUIRE(::chmod(file.c_str(), 0600) == 0);
}

TEST_CASE("first_start_makes_keys_that_only_their_owner_can_read") {
  const PrivateFolder folder;
  const auto file = folder.path / "keys" / "controller.key";
  const auto first = load_or_generate_keys(file);
  REQUIRE(first.has_value());
  REQUIRE(mode_of(file) == 0600);
  REQUIRE(mode_of(file.parent_path()) == 0700);
  REQUIRE(*load_or_generate_keys(file) == *first);
  REQUIRE(*load_public_key(file.string() + ".pub") == first->public_key);
  REQUIRE(generate_keys(file).error().code == ErrorCode::conflict);
}

TEST_CASE("two_first_starts_at_once_agree") {
  const PrivateFolder folder;
  const auto file = folder.path / "agent.key";
  std::vector<KeyPair> seen(8);
  std::atomic<int> failures = 0;
  {
    std::vector<std::jthread> starts;
    for (KeyPair& keys : seen) {
      starts.emplace_back([&] {
        auto loaded = load_or_generate_keys(file);
        loaded ? void(keys = *loaded) : void(++failures);
      });
    }
  }
  REQUIRE(failures == 0);
  for (const KeyPair& keys : seen) {
    REQUIRE(keys == seen[0]);
  }
}

TEST_CASE("unlawful_key_files_are_refused_by_name") {
  const PrivateFolder folder;
  const auto file = folder.path / "agent.key";
  const KeyPair keys = *generate_keys(file);
  REQUIRE(load_keys(folder.path / "none").error().code == ErrorCode::not_found);
  REQUIRE(::chmod(file.c_str(), 0640) == 0);
  REQUIRE(load_keys(file).error().code == ErrorCode::refused);
  REQUIRE_THAT(load_keys(file).error().message, Contains("mode 640") && Contains("chmod 600"));
  write(file, "public " + keys.public_key + "\nsecret " + keys.secret_key.substr(1) + "\n");
  REQUIRE_THAT(load_keys(file).error().message, Contains("the secret key has 39 characters"));
  write(file, "public " + keys.public_key + "\nsecret " + std::string(39, 'a') + "~\n");
  REQUIRE_THAT(load_keys(file).error().message, Contains("character 40 is not of Z85"));
  write(file, "public " + make_keys().public_key + "\nsecret " + keys.secret_key + "\n");
  REQUIRE_THAT(load_keys(file).error().message, Contains("does not belong"));
  write(file, "public " + keys.public_key + "\nsecret " + keys.secret_key + "\n");
  REQUIRE(load_keys(file).has_value());
  REQUIRE(::chmod(folder.path.c_str(), 0755) == 0);
  REQUIRE_THAT(load_keys(file).error().message, Contains("mode 755") && Contains("chmod 700"));
}

TEST_CASE("grants_are_kept_replaced_and_revoked") {
  const PrivateFolder folder;
  const auto file = folder.path / "keyring";
  const Grant agent{make_keys().public_key, Role::agent, "host-a", {{{0}, {1023}}, {{2000}, {2000}}}};
  const Grant viewer{make_keys().public_key, Role::viewer, "grace", {}};
  REQUIRE(grant(file, agent).has_value());
  REQUIRE(grant(file, viewer).has_value());
  const auto keyring = load_keyring(file);
  REQUIRE(*keyring->find(agent.public_key) == agent);
  REQUIRE(*keyring->find(viewer.public_key) == viewer);
  REQUIRE(agent.may_speak_for({1023}));
  REQUIRE(agent.may_speak_for({2000}));
  REQUIRE_FALSE(agent.may_speak_for({1024}));
  REQUIRE_FALSE(viewer.may_speak_for({0}));
  REQUIRE(grant(file, {viewer.public_key, Role::admin, "grace", {}}).has_value());
  REQUIRE(load_keyring(file)->find(viewer.public_key)->role == Role::admin);
  REQUIRE(revoke(file, viewer.public_key).has_value());
  REQUIRE(load_keyring(file)->find(viewer.public_key) == nullptr);
  REQUIRE(revoke(file, viewer.public_key).error().code == ErrorCode::not_found);
  REQUIRE(mode_of(file) == 0600);
}

TEST_CASE("grants_at_once_are_all_kept") {
  const PrivateFolder folder;
  const auto file = folder.path / "keyring";
  {
    std::vector<std::jthread> hosts;
    for (int i = 0; i < 8; ++i) {
      hosts.emplace_back([&, i] { (void)grant(file, {make_keys().public_key, Role::agent, "host-" + std::to_string(i), {}}); });
    }
  }
  REQUIRE(load_keyring(file)->grants().size() == 8);
}

TEST_CASE("a_relay_s_key_keeps_its_nodes_and_its_word") {
  Keyring keyring;
  const std::string key = make_keys().public_key;
  REQUIRE(keyring.add({key, Role::agent, "relay-0", {{{0}, {511}}}, true}).has_value());
  const std::string text = keyring.to_text();
  CHECK_THAT(text, Contains(key + " relay relay-0 0-511"));
  const auto read = Keyring::from_text("ring", text);
  REQUIRE(read.has_value());
  REQUIRE(read->find(key) != nullptr);
  CHECK(*read->find(key) == *keyring.find(key));
  CHECK(role_word(*read->find(key)) == "relay");
  Keyring as_agent;
  REQUIRE(as_agent.add({key, Role::agent, "relay-0", {{{0}, {511}}}}).has_value());
  CHECK(as_agent.digest() != keyring.digest());
}

TEST_CASE("a_relay_speaks_for_agents_that_the_keyring_has_for_their_nodes_and_for_nobody_else") {
  Keyring keyring;
  const std::string relay = make_keys().public_key;
  const std::string agents = make_keys().public_key;
  REQUIRE(keyring.add({relay, Role::agent, "relay-0", {{{0}, {7}}}, true}).has_value());
  REQUIRE(keyring.add({agents, Role::agent, "agents-1", {{{4}, {7}}}}).has_value());
  const auto says = [&](std::string_view said, std::uint32_t node) {
    const auto speaker = keyring.speaker_of(*keyring.find(relay), {node}, said);
    return speaker ? *speaker : std::string(to_string(speaker.error().code));
  };
  CHECK(says("agents-1", 5) == "relay-0/agents-1");
  CHECK(says("agents-1", 3) == "refused");
  CHECK(says("agents-2", 5) == "refused");
  CHECK(says("relay-0", 5) == "refused");
  CHECK(says("two words", 5) == "malformed");
  CHECK(says("", 5) == "malformed");
  CHECK(*keyring.speaker_of(*keyring.find(agents), {5}, "whatever") == "agents-1");
  REQUIRE(keyring.add({agents, Role::agent, "agents-1", {{{6}, {7}}}}).has_value());
  CHECK(says("agents-1", 5) == "refused");
  CHECK(says("agents-1", 6) == "relay-0/agents-1");
  REQUIRE(keyring.remove(agents));
  CHECK(says("agents-1", 6) == "refused");
}

TEST_CASE("an_unlawful_keyring_names_the_line") {
  const std::string key = make_keys().public_key;
  const auto message = [](const std::string& text) { return Keyring::from_text("ring", text).error().message; };
  REQUIRE_THAT(message("# words\n\nshort viewer grace\n"), Contains("ring:3: the public key has 5 characters"));
  REQUIRE_THAT(message(key + " owner grace\n"), Contains("ring:1: role 'owner' is none of viewer"));
  REQUIRE_THAT(message(key + " controller c\n"), Contains("role 'controller'"));
  REQUIRE_THAT(message(key + " viewer grace 0-3\n"), Contains("only an agent's key speaks for nodes"));
  REQUIRE_THAT(message(key + " agent a 5-3\n"), Contains("'5-3' runs backwards"));
  REQUIRE_THAT(message(key + " agent a 0-65536\n"), Contains("node 65536 is above 65535"));
  REQUIRE_THAT(message(key + " agent a 1,,2\n"), Contains("'' is no node number"));
  REQUIRE_THAT(message(key + " agent\n"), Contains("expected: KEY ROLE PRINCIPAL [NODES]"));
  REQUIRE(Keyring::from_text("ring", key + " agent a 1\n" + key + " viewer b\n").error().code == ErrorCode::conflict);
}

TEST_CASE("a_batch_comes_apart_as_it_was_put_together") {
  Batch batch;
  const std::vector<std::string> envelopes{"", "a", std::string(127, 'b'), std::string(128, 'c'), std::string(100'000, 'd')};
  for (const std::string& envelope : envelopes) {
    batch.add(envelope);
  }
  const auto parts = split_batch(batch.bytes());
  REQUIRE(std::vector<std::string>(parts->begin(), parts->end()) == envelopes);
  REQUIRE_FALSE(batch.fits(limits::kMessageBytes + 1));
}

TEST_CASE("an_unlawful_batch_is_refused_whole") {
  REQUIRE(split_batch("")->empty());
  REQUIRE_THAT(split_batch("\x01"
                           "a\x03"
                           "bc")
                   .error()
                   .message,
               Contains("byte 2: an envelope of 3 bytes, 2 are left"));
  REQUIRE_THAT(split_batch("\xff\xff\xff\x7f").error().message, Contains("limit is 4194304"));
  REQUIRE_THAT(split_batch("\xff\xff").error().message, Contains("no length"));
  REQUIRE_THAT(split_batch(std::string(limits::kEnvelopesPerFrame + 1, '\0')).error().message,
               Contains("more than 65536 envelopes"));
}

}  // namespace
}  // namespace loom

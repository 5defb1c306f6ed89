// SPDX-License-Identifier: Apache-2.0
// The keyring file while daemons run: what is taken over, what leaves the old keyring in force, and what wakes them.
#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <fstream>

#include "runtime/zmq/keys/keyring_file.hpp"
#include "tests/unit/zmq/zmq_rig.hpp"

namespace loom {
namespace {

using Catch::Matchers::Contains;
using test::PrivateFolder;
using Cause = KeysWatch::Cause;
using Kind = KeysChanged::Change::Kind;

/// A keyring of two keys on disk, and what watches it.
struct Bench {
  PrivateFolder folder;
  std::filesystem::path file = folder.path / "keyring";
  Grant agent{make_keys().public_key, Role::agent, "agents-0", {{{0}, {7}}}};
  Grant viewer{make_keys().public_key, Role::viewer, "grace", {}};
  std::optional<KeyringFile> watched;

  Bench() {
    REQUIRE(grant(file, agent));
    REQUIRE(grant(file, viewer));
    watched.emplace(file, *load_keyring(file));
    REQUIRE_FALSE(watched->look(Cause::written));
  }
  void write(const std::string& text, unsigned mode = 0600) const {
    std::filesystem::remove(file);
    std::ofstream(file) << text;
    REQUIRE(::chmod(file.c_str(), mode) == 0);
  }
};

TEST_CASE("a_changed_keyring_is_taken_over_and_says_what_changed") {
  Bench bench;
  const Grant fresh{make_keys().public_key, Role::operator_, "ada", {}};
  REQUIRE(grant(bench.file, fresh));
  auto changed = bench.watched->look(Cause::written);
  REQUIRE(changed);
  CHECK_FALSE(changed->problem);
  CHECK(changed->digest == load_keyring(bench.file)->digest());
  REQUIRE(changed->changes.size() == 1);
  CHECK(changed->changes[0].kind == Kind::added);
  CHECK(changed->changes[0].principal == "ada");
  CHECK(changed->changes[0].fingerprint == fingerprint_of(fresh.public_key));
  CHECK(bench.watched->in_force().find(fresh.public_key) != nullptr);
  CHECK_FALSE(bench.watched->look(Cause::written));

  REQUIRE(grant(bench.file, {bench.viewer.public_key, Role::admin, "grace", {}}));
  REQUIRE(revoke(bench.file, bench.agent.public_key));
  changed = bench.watched->look(Cause::hangup);
  REQUIRE(changed);
  REQUIRE(changed->changes.size() == 2);
  CHECK(changed->changes[0].kind == Kind::removed);
  CHECK(changed->changes[0].principal == "agents-0");
  CHECK(changed->changes[1].kind == Kind::altered);
  CHECK(changed->changes[1].role == Role::admin);
  CHECK_THAT(sentence_of(*changed), Contains("agents-0 (agent, key " + fingerprint_of(bench.agent.public_key) + ") removed"));
}

TEST_CASE("a_key_that_goes_over_to_another_principal_is_removed_from_the_first") {
  Keyring before;
  Keyring after;
  const std::string key = make_keys().public_key;
  REQUIRE(before.add({key, Role::operator_, "ada", {}}));
  REQUIRE(after.add({key, Role::operator_, "eve", {}}));
  const KeysChanged changed = keys_changed(before, after);
  REQUIRE(changed.changes.size() == 2);
  CHECK(changed.changes[0].kind == Kind::removed);
  CHECK(changed.changes[0].principal == "ada");
  CHECK(changed.changes[1].kind == Kind::added);
  CHECK(changed.changes[1].principal == "eve");
}

TEST_CASE("a_keyring_that_cannot_be_taken_over_leaves_the_old_one_in_force_and_says_why_once") {
  Bench bench;
  const std::uint64_t digest = bench.watched->digest();
  const auto expect_kept = [&](const std::string& part) {
    const auto kept = bench.watched->look(Cause::written);
    REQUIRE(kept);
    REQUIRE(kept->problem);
    CHECK_THAT(kept->problem->message, Contains(part) && Contains("stays as it was"));
    CHECK(kept->problem->next_command.starts_with("loom "));
    CHECK(kept->changes.empty());
    CHECK(kept->digest == digest);
    CHECK(bench.watched->in_force().find(bench.viewer.public_key) != nullptr);
    CHECK_FALSE(bench.watched->look(Cause::written));  // not again
    CHECK(bench.watched->look(Cause::hangup));         // but to whoever asks for it
  };
  const std::string good = load_keyring(bench.file)->to_text();
  SECTION("because a line does not parse: it is named") {
    bench.write(good + "nonsense\n");
    expect_kept("keyring:4: expected: KEY ROLE PRINCIPAL");
  }
  SECTION("because others may read it") {
    bench.write(good, 0644);
    expect_kept("mode 644");
  }
  SECTION("because others may write into its folder") {
    REQUIRE(::chmod(bench.folder.path.c_str(), 0770) == 0);
    expect_kept("mode 770");
    REQUIRE(::chmod(bench.folder.path.c_str(), 0700) == 0);
  }
  SECTION("because it is gone") {
    std::filesystem::remove(bench.file);
    expect_kept("does not exist");
  }
  SECTION("because it lets nobody in") {
    bench.write("# nobody\n");
    expect_kept("has no key at all");
  }
  bench.write(good);
  const auto over = bench.watched->look(Cause::written);
  REQUIRE(over);  // the trouble is over, and nothing else has changed
  CHECK_FALSE(over->problem);
  CHECK(over->changes.empty());
  CHECK_FALSE(bench.watched->look(Cause::written));
}

TEST_CASE("a_file_that_changes_between_two_looks_in_passing_is_left_for_the_next_one") {
  Bench bench;
  REQUIRE_FALSE(bench.watched->look(Cause::interval));
  REQUIRE_FALSE(bench.watched->look(Cause::interval));
  bench.write("half a li");
  CHECK_FALSE(bench.watched->look(Cause::interval));
  bench.write(bench.viewer.public_key + " viewer grace\n");
  CHECK_FALSE(bench.watched->look(Cause::interval));
  const auto changed = bench.watched->look(Cause::interval);
  REQUIRE(changed);
  CHECK_FALSE(changed->problem);
  CHECK(changed->changes.size() == 1);
}

TEST_CASE("a_revoked_key_keeps_a_line_that_lets_nobody_in") {
  Bench bench;
  REQUIRE(revoke(bench.file, bench.viewer.public_key));
  const Keyring keyring = *load_keyring(bench.file);
  CHECK(keyring.find(bench.viewer.public_key) == nullptr);
  CHECK(keyring.is_revoked(bench.viewer.public_key));
  CHECK_THAT(keyring.to_text(), Contains(bench.viewer.public_key + " revoked grace"));
  CHECK(revoke(bench.file, bench.viewer.public_key).error().code == ErrorCode::not_found);
  REQUIRE(grant(bench.file, bench.viewer));  // somebody wants it back
  CHECK(load_keyring(bench.file)->find(bench.viewer.public_key) != nullptr);
  CHECK_FALSE(load_keyring(bench.file)->is_revoked(bench.viewer.public_key));
}

TEST_CASE("a_keyrings_digest_is_that_of_what_it_grants") {
  Bench bench;
  Keyring keyring = bench.watched->in_force();
  const std::uint64_t before = keyring.digest();
  CHECK(before != 0);
  CHECK(Keyring{}.digest() != 0);
  const Grant other{make_keys().public_key, Role::viewer, "eve", {}};
  REQUIRE(keyring.add(other));
  CHECK(keyring.digest() != before);
  REQUIRE(keyring.remove(other.public_key));
  CHECK(keyring.digest() == before);  // that it was revoked grants nothing
  Grant elsewhere = bench.agent;
  elsewhere.nodes = {{{0}, {6}}};
  REQUIRE(keyring.add(elsewhere));
  CHECK(keyring.digest() != before);
}

TEST_CASE("an_edit_that_changes_nothing_does_not_write_the_keyring") {
  Bench bench;
  const auto before = std::filesystem::last_write_time(bench.file);
  struct stat was{};
  REQUIRE(::stat(bench.file.c_str(), &was) == 0);
  REQUIRE(grant(bench.file, bench.viewer));
  struct stat is{};
  REQUIRE(::stat(bench.file.c_str(), &is) == 0);
  CHECK(is.st_ino == was.st_ino);
  CHECK(std::filesystem::last_write_time(bench.file) == before);
}

// --- what wakes the daemons ----------------------------------------------------------------------------------------------

struct Woken {
  asio::io_context io;
  std::vector<Cause> causes;
  std::optional<KeysWatch> watch;

  void open(const std::filesystem::path& folder, std::chrono::milliseconds interval = std::chrono::hours{1}) {
    watch.emplace(io, folder, [this](Cause cause) { causes.push_back(cause); }, interval);
  }
  bool is_woken_by(Cause cause) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{20};
    while (std::find(causes.begin(), causes.end(), cause) == causes.end()) {
      if (std::chrono::steady_clock::now() > deadline) {
        return false;
      }
      io.restart();
      io.run_one_until(deadline);
    }
    causes.clear();
    return true;
  }
};

TEST_CASE("a_watch_is_woken_by_a_file_that_is_replaced_written_or_loses_its_mode") {
  const PrivateFolder folder;
  Woken woken;
  woken.open(folder.path);
  REQUIRE(write_whole_file({folder.path / "keyring", "a", 0600, true}));
  CHECK(woken.is_woken_by(Cause::written));
  std::ofstream(folder.path / "keyring") << "b";
  CHECK(woken.is_woken_by(Cause::written));
  REQUIRE(::chmod((folder.path / "keyring").c_str(), 0640) == 0);
  CHECK(woken.is_woken_by(Cause::written));
  std::filesystem::remove(folder.path / "keyring");
  CHECK(woken.is_woken_by(Cause::written));
}

TEST_CASE("a_watch_is_woken_by_sighup_which_ends_nothing") {
  const PrivateFolder folder;
  Woken woken;
  woken.open(folder.path);
  REQUIRE(std::raise(SIGHUP) == 0);
  CHECK(woken.is_woken_by(Cause::hangup));
  REQUIRE(std::raise(SIGHUP) == 0);
  CHECK(woken.is_woken_by(Cause::hangup));
}

TEST_CASE("a_watch_looks_now_and_then_and_finds_a_folder_that_was_not_there") {
  const PrivateFolder folder;
  Woken woken;
  woken.open(folder.path / "keys", std::chrono::milliseconds{10});
  CHECK(woken.is_woken_by(Cause::interval));
  REQUIRE(write_whole_file({folder.path / "keys" / "keyring", "a", 0600, true}));
  CHECK(woken.is_woken_by(Cause::interval));  // which watches the folder from then on
  CHECK(woken.is_woken_by(Cause::interval));
  std::ofstream(folder.path / "keys" / "keyring") << "b";
  CHECK(woken.is_woken_by(Cause::written));
}

TEST_CASE("a_process_without_a_watch_survives_sighup") {
  ignore_hangups();
  REQUIRE(std::raise(SIGHUP) == 0);
  SUCCEED("we are still here");
}

}  // namespace
}  // namespace loom

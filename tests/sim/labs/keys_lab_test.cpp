// SPDX-License-Identifier: Apache-2.0
// Keys and the audit of a lab that runs: real processes, worked as an operator would. Nothing is restarted unless a test says
// so.
#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <string>
#include <vector>

#include "runtime/zmq/keys/keyring.hpp"
#include "runtime/zmq/keys/keys.hpp"
#include "tests/sim/labs/kill_lab.hpp"

using namespace loom;
using namespace loom::test;
using Catch::Matchers::Contains;

namespace {

/// Runs it; whatever it said is in the failure's text.
Finished run(const KillLab& lab, const std::string& arguments, int code) {
  Finished finished = lab.lab().run(arguments);
  INFO("loom " << arguments << ": " << finished.output << finished.words);
  REQUIRE(finished.code == code);
  return finished;
}

std::string keyring_of(const KillLab& lab) { return lab.lab().state() / "keys" / "keyring"; }

bool stands(const KillLab& lab, const std::string& part) {
  const auto alarms = lab.lab().ask("alarm list");
  return std::any_of(alarms["alarms"].begin(), alarms["alarms"].end(), [&](const nlohmann::json& alarm) {
    return alarm["evidence"].get<std::string>().find(part) != std::string::npos && !alarm["cleared"].get<bool>();
  });
}

std::vector<nlohmann::json> audit_about(const KillLab& lab, const std::string& part, const std::string& more = "") {
  std::vector<nlohmann::json> rows;
  const auto object = lab.lab().ask("audit " + more);
  for (const auto& row : object["audit"]) {
    if (row["asked"].get<std::string>().find(part) != std::string::npos) {
      rows.push_back(row);
    }
  }
  return rows;
}

}  // namespace

TEST_CASE("a key that is granted orders at once, and one that is revoked is refused at once, with no restart") {
  const KillLab lab;
  const int controller = lab.pid_of("lightloomd");
  CHECK_THAT(run(lab, "keys grant grace --role viewer", 0).words, Contains("in force after"));
  run(lab, "--as grace status", 0);
  CHECK_THAT(run(lab, "--as grace node drain 7", 3).words, Contains("viewer"));
  CHECK_THAT(run(lab, "keys grant grace --role operator", 0).words, Contains("in force after"));
  run(lab, "--as grace node drain 7", 0);
  CHECK_THAT(run(lab, "keys revoke grace", 0).words, Contains("revoked grace (operator") && Contains("in force after"));
  CHECK_THAT(run(lab, "--as grace --timeout 2s node undrain 7", 5).words, Contains("accepted this key"));
  CHECK(lab.pid_of("lightloomd") == controller);
  CHECK(KillLab::is_alive(controller));

  const auto drained = audit_about(lab, "node drain 7", "--principal grace");
  REQUIRE_FALSE(drained.empty());
  CHECK(drained[0]["refused"] == true);
  CHECK(drained[0]["role"] == "viewer");
  REQUIRE(std::any_of(drained.begin(), drained.end(), [](const auto& row) { return row["refused"] == false; }));
  CHECK(audit_about(lab, " granted", "--principal grace").size() == 1);
  CHECK(audit_about(lab, " altered", "--principal grace").size() == 1);
  CHECK(audit_about(lab, " revoked", "--principal grace").size() == 1);
  CHECK(audit_about(lab, "node drain 7", "--refused").size() == 1);
  CHECK_THAT(lab.words_of("lightloomd"), Contains("audit: {\"record\":") && Contains("node drain 7"));
}

TEST_CASE("what a keyring says that nobody can read changes nothing, is an alarm by line, and SIGHUP ends no daemon") {
  const KillLab lab;
  const std::vector<int> daemons{lab.pid_of("lightloomd"), lab.pid_of("agents-0"), lab.pid_of("agents-1")};
  const auto hang_up = [&] {
    for (const int pid : daemons) {
      REQUIRE(kill(pid, SIGHUP) == 0);
    }
  };
  hang_up();
  run(lab, "status", 0);
  const std::string good = load_keyring(keyring_of(lab))->to_text();
  REQUIRE(write_whole_file({keyring_of(lab), good + "nonsense\n", 0600, true}));
  REQUIRE(comes_true([&] { return stands(lab, "keyring:5: expected: KEY ROLE PRINCIPAL"); }));
  hang_up();
  CHECK(lab.live_agents() == 8);
  CHECK_THAT(lab.words_of("agents-0"), Contains("keyring:5"));
  REQUIRE(write_whole_file({keyring_of(lab), good, 0600, true}));
  REQUIRE(comes_true([&] { return !stands(lab, "keyring:5"); }));
  for (const int pid : daemons) {
    CHECK(KillLab::is_alive(pid));
  }
  run(lab, "keys grant grace --role viewer", 0);  // it is followed again
}

TEST_CASE("an agent process whose pair is rotated comes back with the new one, and no light is touched") {
  const KillLab lab;
  REQUIRE(lab.submit("kept", " --wait").code == 0);
  REQUIRE(comes_true([&] { return lit_at(lab.light(), now(), true).size() == kJobNodes; }));
  const LightTimeline kept = lab.kept_light();
  for (const char* agents : {"agents-0", "agents-1"}) {
    const int process = lab.pid_of(agents);
    const std::string key = lab.lab().state() / "keys" / agents;
    const KeyPair before = *load_keys(key);
    const Finished rotated = run(lab, std::string("keys rotate ") + agents, 0);
    CHECK_THAT(rotated.words, Contains("in force after") && Contains("4 nodes speak with the new key"));
    CHECK(load_keys(key)->public_key != before.public_key);
    CHECK(load_keyring(keyring_of(lab))->is_revoked(before.public_key));
    CHECK(*load_public_key(key + ".pub") == load_keys(key)->public_key);
    CHECK(lab.pid_of(agents) == process);
    CHECK(KillLab::is_alive(process));
  }
  CHECK(lab.live_agents() == 8);
  CHECK(lab.kept_light() == kept);                    // not dark for an instant
  REQUIRE(lab.submit("probe", " --wait").code == 0);  // and both are obeyed
}

TEST_CASE("a revoked key stays revoked when the controller starts anew") {
  const KillLab lab;
  run(lab, "keys grant grace --role operator", 0);
  CHECK_THAT(run(lab, "keys revoke agents-1", 0).words, Contains("nodes 4-7 lose their agent"));
  run(lab, "keys grant operator --role viewer", 0);  // grace may order still
  REQUIRE(comes_true([&] { return lab.live_agents() == 4; }));
  lab.stop_controller();
  CHECK_THAT(run(lab, "keys revoke grace --dry-run", 3).words, Contains("last key of an operator or admin"));
  lab.start_controller();
  REQUIRE(comes_true([&] { return lab.lab().run("status").code == 0 && lab.live_agents() == 4; }));
  CHECK_THAT(run(lab, "node drain 7", 3).words, Contains("viewer"));
  run(lab, "--as grace keys grant agents-1 --role agent --nodes 4-7", 0);
  REQUIRE(comes_true([&] { return lab.live_agents() == 8; }));
}

TEST_CASE("the operator's own pair is rotated, and the last key that may order is not revoked unforced") {
  const KillLab lab;
  CHECK_THAT(run(lab, "keys revoke operator", 3).words, Contains("last key of an operator or admin"));
  run(lab, "keys rotate operator --dry-run", 0);
  CHECK_THAT(run(lab, "keys rotate operator", 0).words, Contains("in force after"));
  run(lab, "status", 0);
  CHECK_THAT(run(lab, "keys rotate controller", 3).words,
             Contains("every agent and operator holds the controller's public key"));
  CHECK_THAT(run(lab, "keys revoke nobody", 1).words, Contains("loom keys list"));
  CHECK_THAT(run(lab, "keys grant ../x --role viewer", 2).words, Contains("cannot be a name"));
  CHECK_THAT(run(lab, "keys grant agents-9 --role agent", 2).words, Contains("--nodes"));
  const auto listed = lab.lab().ask("keys list");
  CHECK(listed["in_force"] == true);
  REQUIRE(listed["keys"].size() == 3);
  const auto agents = std::find_if(listed["keys"].begin(), listed["keys"].end(),
                                   [](const auto& key) { return key["principal"] == "agents-1"; });
  REQUIRE(agents != listed["keys"].end());
  CHECK((*agents)["nodes"] == nlohmann::json::parse("[[4,7]]"));
  CHECK((*agents)["file"].get<std::string>().ends_with("keys/agents-1"));
}

TEST_CASE("the audit is read from the journal of a controller that was killed") {
  const KillLab lab;
  REQUIRE(lab.submit("kept", " --wait").code == 0);
  run(lab, "keys grant grace --role viewer", 0);
  run(lab, "--as grace lasers off", 3);
  const auto before = lab.lab().ask("audit");
  const int controller = lab.pid_of("lightloomd");
  REQUIRE(kill(controller, SIGKILL) == 0);
  REQUIRE(comes_true([&] { return !KillLab::is_alive(controller); }));
  std::filesystem::remove(lab.lab().state() / "controller.address");
  const auto after = lab.lab().ask("audit");
  CHECK(after["audit"] == before["audit"]);
  CHECK_THAT(after["source"].get<std::string>(), Contains("controller.db"));
  const auto refused =
      lab.lab().ask("audit list --refused --since 10m --journal " + (lab.lab().state() / "controller.db").string());
  REQUIRE(refused["audit"].size() == 1);
  CHECK(refused["audit"][0]["principal"] == "grace");
  CHECK_THAT(refused["audit"][0]["asked"].get<std::string>(), Contains("lasers off"));
  CHECK(run(lab, "audit --since yesterday", 2).words.find("2026-11-22T15:04:05Z") != std::string::npos);
}

// SPDX-License-Identifier: Apache-2.0
// A state folder between labs: what is refused, what is kept, what is forgotten, and what nobody else may read. Real processes,
// worked by `loom` as an operator would.
#include <signal.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "cli/lab/processes.hpp"
#include "tests/sim/labs/kill_lab.hpp"

namespace fs = std::filesystem;
using namespace loom;
using namespace loom::test;

namespace {

/// Every file below with its content; links as what they point to.
std::map<std::string, std::string> content_of(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    std::string& text = files[entry.path()];
    if (entry.is_symlink()) {
      text = "-> " + fs::read_symlink(entry.path()).string();
    } else if (entry.is_regular_file()) {
      std::ifstream file(entry.path(), std::ios::binary);
      text.assign(std::istreambuf_iterator<char>(file), {});
    }
  }
  return files;
}

bool has(const Finished& finished, const std::string& words) { return finished.words.find(words) != std::string::npos; }

void kill_everything(const Lab& lab) {
  for (const auto& [name, pid] : lab.pids()) {
    REQUIRE(kill(pid, SIGKILL) == 0);
  }
  REQUIRE(comes_true([&] {
    const auto pids = lab.pids();
    return std::none_of(pids.begin(), pids.end(), [](const auto& process) { return Lab::is_alive(process.second); });
  }));
}

std::string state_of_job(const Lab& lab, const std::string& name) {
  const auto listed = lab.ask("job list");
  for (const auto& job : listed["jobs"]) {
    if (job["name"] == name) {
      return job["state"];
    }
  }
  return "none";
}

}  // namespace

TEST_CASE("a folder that no lab made is refused by every lab command, and nothing in it, behind it or running is touched") {
  const Lab lab;
  const fs::path outside = lab.state().string() + ".outside";
  fs::create_directory(outside);
  const auto sleeper = cli::start_process(outside, {"sleeper", {"/bin/sleep", "1000"}}, cli::Lifetime::ours,
                                          [](const cli::LabProcess&) { return Result<void>{}; });
  REQUIRE(sleeper);
  const std::string scenario = lab.write_scenario("mode: soft\n");
  std::ofstream(lab.state() / "thesis.tex") << "five years";
  std::ofstream(lab.state() / "lightloomd.pid") << sleeper->pid << "\n";
  std::ofstream(lab.state() / "controller.db") << "another program's";
  std::ofstream(outside / "precious") << "of somebody else";
  fs::create_symlink(outside / "precious", lab.state() / "agents-0.db");
  fs::create_directory_symlink(outside, lab.state() / "keys");
  const auto before = content_of(lab.state());
  const auto before_outside = content_of(outside);
  for (const char* command : {"lab up ", "lab run ", "lab up --fresh --replace ", "lab run --fresh --replace ", "lab down"}) {
    CAPTURE(command);
    const bool takes_scenario = std::string(command).ends_with(" ");
    const Finished refused = lab.run(command + (takes_scenario ? scenario : ""));
    INFO(refused.words);
    CHECK(refused.code == 3);
    CHECK(has(refused, "was not made by a lab: it holds agents-0.db, controller.db, keys and 2 more and no lab.json"));
    CHECK(has(refused, "nothing was touched"));
    CHECK(content_of(lab.state()) == before);
    CHECK(content_of(outside) == before_outside);
    CHECK(cli::state_of(*sleeper) == cli::ProcessState::running);
  }
  CHECK(lab.run("lab status").code == 3);
  CHECK(lab.run("lab restart controller").code == 3);
  cli::stop_processes({*sleeper}, 0);
  fs::remove_all(outside);
}

TEST_CASE("a manifest that lies about files or processes is refused, or spares what is not its own") {
  const Lab lab;
  const std::string scenario = lab.write_scenario("mode: soft\n");
  REQUIRE(lab.run("keys generate " + scenario).code == 0);
  const auto sleeper = cli::start_process(lab.state().parent_path(),
                                          {fs::path(lab.state()).filename().string() + ".sleeper", {"/bin/sleep", "1000"}},
                                          cli::Lifetime::ours, [](const cli::LabProcess&) { return Result<void>{}; });
  REQUIRE(sleeper);
  cli::LabManifest manifest;
  manifest.use = cli::LabUse::up;
  manifest.scenario = scenario;
  manifest.processes = {*sleeper};
  manifest.processes[0].start_ticks += 7;  // the number was given again since
  const auto write = [&] { std::ofstream(lab.state() / "lab.json") << cli::to_text(manifest); };
  write();
  const Finished down = lab.run("lab down");
  INFO(down.words);
  CHECK(down.code == 0);
  CHECK(has(down, "nothing was running"));
  CHECK(has(down, "its number is another process's now, which was left alone"));
  CHECK(cli::state_of(*sleeper) == cli::ProcessState::running);
  const fs::path precious = lab.state().string() + ".precious";
  std::ofstream(precious) << "of somebody else";
  manifest.files = {"../" + precious.filename().string()};
  write();
  CHECK(lab.run("lab up --fresh " + scenario).code == 3);
  CHECK(fs::exists(precious));
  manifest.files = {"controller.db"};
  write();
  fs::create_symlink(precious, lab.state() / "controller.db");
  const Finished refused = lab.run("lab up --fresh " + scenario);
  CHECK(refused.code == 3);
  CHECK(has(refused, "controller.db is a symbolic link"));
  std::string content;
  std::getline(std::ifstream(precious), content);
  CHECK(content == "of somebody else");
  cli::stop_processes({*sleeper}, 0);
  fs::remove(sleeper->name);
  fs::remove(lab.state().string() + ".sleeper.log");
  fs::remove(precious);
}

TEST_CASE("a lab starts in a folder of keys that loom generated, and keeps them") {
  const Lab lab;
  const std::string scenario = lab.write_scenario("mode: soft\n");
  REQUIRE(lab.run("keys generate " + scenario).code == 0);
  const auto keys = content_of(lab.state() / "keys");
  REQUIRE_FALSE(keys.empty());
  const Finished up = lab.run("lab up " + scenario);
  INFO(up.words);
  REQUIRE(up.code == 0);
  CHECK(content_of(lab.state() / "keys") == keys);
}

TEST_CASE("a lab that runs is not replaced unasked, and --replace ends it") {
  const Lab lab;
  const std::string scenario = lab.write_scenario("mode: soft\n");
  REQUIRE(lab.run("lab up " + scenario).code == 0);
  const auto first = lab.pids();
  for (const char* command : {"lab up ", "lab run ", "lab up --fresh "}) {
    const Finished refused = lab.run(command + scenario);
    INFO(refused.words);
    CHECK(refused.code == 3);
    CHECK(has(refused, "lightloomd (process " + std::to_string(first.at("lightloomd")) + ")"));
    CHECK(has(refused, "loom lab down"));
    CHECK(has(refused, "--replace"));
    CHECK(lab.pids() == first);
  }
  CHECK(std::all_of(first.begin(), first.end(), [](const auto& process) { return Lab::is_alive(process.second); }));
  const Finished replaced = lab.run("lab up --replace " + scenario);
  INFO(replaced.words);
  REQUIRE(replaced.code == 0);
  for (const auto& [name, pid] : first) {
    CHECK_FALSE(Lab::is_alive(pid));
    CHECK(Lab::is_alive(lab.pids().at(name)));
  }
  const Finished down = lab.run("lab down");
  CHECK(has(down, "stopped 3 processes: lightloomd, agents-0 and agents-1"));
  CHECK(has(down, "journals, logs and keys stay"));
  CHECK(has(down, "go on from them: loom lab up"));
  CHECK(has(lab.run("lab down"), "nothing was running"));
}

TEST_CASE("after a crash of everything a lab goes on from its journals, and forgets them only when told to") {
  const Lab lab;
  const std::string scenario = lab.write_scenario("mode: soft\n");
  REQUIRE(lab.run("lab up " + scenario).code == 0);
  REQUIRE(lab.run("job submit vgg19 --nodes 4 --name kept --wait").code == 0);
  std::ofstream(lab.state() / "notes.txt") << "an operator's own";
  kill_everything(lab);
  const Finished status = lab.run("lab status");
  CHECK(status.code == 4);
  CHECK(status.output.find("ended") != std::string::npos);

  const Finished played = lab.run("lab run " + scenario);
  INFO(played.words);
  CHECK(played.code == 3);
  CHECK(has(played, "not thrown away unasked"));
  CHECK(has(played, "--fresh"));
  const std::string other = lab.state().string() + ".other.yaml";
  fs::copy_file(scenario, other);
  const Finished elsewhere = lab.run("lab up " + other);
  CHECK(elsewhere.code == 3);
  CHECK(has(elsewhere, scenario));
  CHECK(has(elsewhere, other));
  fs::remove(other);

  const Finished up = lab.run("lab up " + scenario);
  INFO(up.words);
  REQUIRE(up.code == 0);
  CHECK(has(up, "going on from the journals"));
  CHECK(comes_true([&] { return state_of_job(lab, "kept") == "lit"; }));
  REQUIRE(lab.run("lab down").code == 0);

  const Finished fresh = lab.run("lab up --fresh " + scenario);
  INFO(fresh.words);
  REQUIRE(fresh.code == 0);
  CHECK(state_of_job(lab, "kept") == "none");
  CHECK(content_of(lab.state()).at(lab.state() / "notes.txt") == "an operator's own");
}

TEST_CASE("scenarios are played in one folder day after day, one after the other") {
  const Lab lab;
  const std::string jobs = "mode: soft\njobs:\n  - {name: ring, workload: vgg19, nodes: 8, iterations: 1}\n";
  for (const char* more : {"", "", "seed: 2\n", "agents: {processes: 1}\n"}) {
    std::string text;
    const std::string path = lab.write_scenario(jobs);
    std::getline(std::ifstream(path), text, '\0');
    if (std::string(more).starts_with("agents")) {
      text.erase(text.find("agents: {processes: 2}\n"), std::string("agents: {processes: 2}\n").size());
    }
    std::ofstream(path) << text << more;
    const Finished finished = lab.run("lab run " + path);
    INFO(finished.words);
    CHECK(finished.code == 0);
  }
}

TEST_CASE("a restarted controller is at its address again with its jobs, and no light changes meanwhile") {
  const KillLab lab;
  REQUIRE(lab.submit("kept", " --wait").code == 0);
  REQUIRE(comes_true([&] { return lit_at(lab.light(), now(), true).size() == kJobNodes; }));
  const LightTimeline light = lab.kept_light();
  const auto before = lab.lab().pids();
  for (const bool was_killed : {false, true}) {
    if (was_killed) {
      REQUIRE(kill(lab.pid_of("lightloomd"), SIGKILL) == 0);
    }
    const auto restarted = lab.lab().ask("lab restart controller");
    CHECK(restarted["agents"] == 8);
    CHECK(restarted["was_running"] == !was_killed);
    CHECK(restarted["unattended_ms"].get<double>() > 0);
    CHECK(lab.live_agents() == 8);
    std::string address;
    std::ifstream(lab.lab().state() / "controller.address") >> address;
    CHECK(address == lab.address());
    REQUIRE(comes_true([&] { return lab.is_lit("kept"); }));
  }
  const auto after = lab.lab().pids();
  CHECK(after.at("agents-0") == before.at("agents-0"));
  CHECK(after.at("agents-1") == before.at("agents-1"));
  CHECK(after.at("lightloomd") != before.at("lightloomd"));
  CHECK(lab.kept_light() == light);
  for (const char* start : {"controller started, term 1", "controller started, term 2", "controller started, term 3"}) {
    CHECK(lab.words_of("lightloomd").find(start) != std::string::npos);  // the audit's lines are not lost with a restart
  }
  const Finished words = lab.lab().run("lab restart controller");
  CHECK(words.words.find("light was unattended for") != std::string::npos);
  const Finished unknown = lab.lab().run("lab restart agent-1");
  CHECK(unknown.code != 0);
  CHECK(has(unknown, "did you mean: agents-1"));
}

TEST_CASE("an agent process that is restarted joins again, and its light comes back") {
  const KillLab lab;
  REQUIRE(lab.submit("probe", " --wait").code == 0);
  const auto before = lab.lab().pids();
  const Finished restarted = lab.lab().run("lab restart agents-1");
  INFO(restarted.words);
  REQUIRE(restarted.code == 0);
  CHECK(has(restarted, "simulated devices, and their light, end with it"));
  CHECK(lab.live_agents() == 8);
  CHECK(lab.lab().pids().at("agents-1") != before.at("agents-1"));
  CHECK(lab.lab().pids().at("lightloomd") == before.at("lightloomd"));
  CHECK(comes_true([&] { return lab.is_lit("probe"); }));
  const auto status = lab.lab().ask("lab status");
  REQUIRE(status["processes"].size() == 3);
  for (const auto& process : status["processes"]) {
    CHECK(process["state"] == "running");
    CHECK(process["resident_bytes"].get<long long>() > 0);
  }
}

TEST_CASE("whatever a lab writes is nobody else's to read, also when it was left open, and so is a backup") {
  const mode_t usual = umask(0022);
  const int port = free_ports(2);
  const Lab lab;
  const std::string scenario =
      lab.write_scenario("mode: mixed\ninventory:\n  bus-wss-out-0: tcp://127.0.0.1:" + std::to_string(port) + "\n");
  const fs::path state = lab.state();
  const auto check_modes = [&] {
    CHECK((fs::status(state).permissions() & fs::perms::mask) == fs::perms::owner_all);
    std::set<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(state)) {
      CAPTURE(entry.path());
      const auto mode = entry.status().permissions() & (fs::perms::group_all | fs::perms::others_all);
      CHECK((mode == fs::perms::none || entry.path().extension() == ".pub"));
      names.insert(entry.path().filename());
    }
    return names;
  };
  REQUIRE(lab.run("lab up --record " + scenario).code == 0);
  REQUIRE(lab.run("job submit vgg19 --nodes 4 --wait").code == 0);
  const std::string backup = (state / "copy.db").string();
  REQUIRE(lab.run("backup " + backup).code == 0);
  const auto names = check_modes();
  for (const char* name : {"controller.db", "controller.db-wal", "controller.db-shm", "controller.db.lock", "controller.tape",
                           "controller.address", "lightloomd.log", "agents-0.db", "agents-0.db-wal", "agents-1.db",
                           "agents-0.light", "agents-0.light.whole", "agents-0.grants", "agents-0.address", "wss-out-0.light",
                           "lab.json", "lab.lock", "copy.db", "copy.db.agents-1"}) {
    CAPTURE(name);
    CHECK(names.contains(name));
  }
  REQUIRE(lab.run("lab down").code == 0);
  for (const auto& entry : fs::directory_iterator(state)) {  // as an earlier version left them
    if (entry.is_regular_file() && !entry.path().filename().string().starts_with("lab.")) {
      REQUIRE(chmod(entry.path().c_str(), 0644) == 0);
    }
  }
  for (const char* copy : {"copy.db", "copy.db.agents-0", "copy.db.agents-1"}) {
    fs::remove(state / copy);
  }
  REQUIRE(chmod(state.c_str(), 0755) == 0);
  REQUIRE(lab.run("lab up --record " + scenario).code == 0);
  check_modes();
  umask(usual);
}

// SPDX-License-Identifier: Apache-2.0
// Keys of one host in one file: complete, private, and refused where anything is wrong with it.
#include "runtime/state/key_bundle.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include "controller/architectures/oddl/fabric.hpp"
#include "runtime/state/host_peers.hpp"
#include "runtime/zmq/keys/agent_keys.hpp"

namespace loom {
namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "lightloom_bundle_XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string at(const std::string& name) const { return path_ / name; }

 private:
  fs::path path_;
};

Scenario two_hosts() {
  OddlParameters parameters;
  parameters.nodes = 4;
  parameters.group_size = 4;
  Scenario scenario;
  scenario.fabric = std::make_shared<const Fabric>(make_oddl(parameters));
  scenario.controller_endpoint = "tcp://10.0.0.1:7601";
  scenario.agents.hosts = {{"rack-a", "10.0.0.11", 7610, {{0, 1}, {3, 4}}}, {"rack-b", "rack-b.lab", 7610, {{1, 3}}}};
  scenario.agents.processes = 2;
  return scenario;
}

std::string bytes_of(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void write_private(const std::string& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
  REQUIRE(::chmod(file.c_str(), 0600) == 0);
}

TEST_CASE("a_host_starts_from_its_bundle_alone") {
  const Folder folder;
  const StateFolder head(folder.at("head"));
  const Scenario scenario = two_hosts();
  REQUIRE(head.make_keys(scenario).has_value());
  const auto bundle = make_key_bundle(head, "rack-b");
  REQUIRE(bundle.has_value());
  CHECK(bundle->process() == 1);
  CHECK(bundle->files.contains("agents-1"));
  CHECK_FALSE(bundle->files.contains("agents-0"));  // no other host's secret
  CHECK_FALSE(bundle->files.contains("controller"));
  CHECK_FALSE(bundle->files.contains("operator"));
  const std::string file = folder.at("rack-b.keys.tar");
  REQUIRE(write_key_bundle(file, *bundle).has_value());
  struct stat status{};
  REQUIRE(::stat(file.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777U) == 0600);
  CHECK(write_key_bundle(file, *bundle).error().code == ErrorCode::conflict);

  const auto read = read_key_bundle(file);
  REQUIRE(read.has_value());
  CHECK(read->host == "rack-b");
  const StateFolder there(folder.at("there"));
  const auto changed = unpack(*read, there);
  REQUIRE(changed.has_value());
  CHECK(changed->size() == bundle->files.size());
  CHECK(unpack(*read, there).value().empty());  // again: nothing new

  AgentKeyFiles at{there.agents_key(1),
                   there.controller_key() + ".pub",
                   there.keyring(),
                   1,
                   {there.agents_key(0) + ".pub", there.agents_key(1) + ".pub"}};
  const auto keys = load_agent_keys(at);
  REQUIRE(keys.has_value());
  CHECK(keys->own == load_keys(head.agents_key(1)).value());
  CHECK(keys->controller == load_public_key(head.controller_key() + ".pub").value());
  CHECK(keys->peers[0] == load_public_key(head.agents_key(0) + ".pub").value());
  const Grant* peer = keys->keyring.find(keys->peers[0]);
  REQUIRE(peer != nullptr);
  CHECK(peer->may_speak_for(NodeId{0}));
  CHECK(peer->may_speak_for(NodeId{3}));
  CHECK_FALSE(peer->may_speak_for(NodeId{1}));
  CHECK(keys->keyring.find(load_keys(head.operator_key()).value().public_key) != nullptr);  // may order darkness
}

TEST_CASE("what_a_bundle_lacks_is_named_and_nothing_is_written") {
  const Folder folder;
  const StateFolder head(folder.at("head"));
  CHECK_THAT(make_key_bundle(head, "rack-a").error().message, Catch::Contains("names no host"));
  REQUIRE(head.make_keys(two_hosts()).has_value());
  CHECK_THAT(make_key_bundle(head, "rack-z").error().message, Catch::Contains("rack-a, rack-b"));
  fs::remove(head.agents_key(0));
  fs::remove(head.controller_key() + ".pub");
  const auto lacking = make_key_bundle(head, "rack-a");
  REQUIRE_FALSE(lacking.has_value());
  CHECK(lacking.error().code == ErrorCode::not_found);
  CHECK_THAT(lacking.error().message, Catch::Contains("agents-0"));
  CHECK_THAT(lacking.error().message, Catch::Contains("controller.pub"));
  const StateFolder revoked(folder.at("revoked"));
  REQUIRE(revoked.make_keys(two_hosts()).has_value());
  REQUIRE(revoke(revoked.keyring(), load_keys(revoked.agents_key(1)).value().public_key).has_value());
  CHECK(make_key_bundle(revoked, "rack-b").error().code == ErrorCode::refused);
}

TEST_CASE("a_viewers_key_is_no_matter_of_a_host") {
  const Folder folder;
  const StateFolder head(folder.at("head"));
  REQUIRE(head.make_keys(two_hosts()).has_value());
  const KeyPair viewer = make_keys();
  REQUIRE(grant(head.keyring(), {viewer.public_key, Role::viewer, "grace", {}}).has_value());
  CHECK(make_key_bundle(head, "rack-a").value().files.at("keyring").find("grace") == std::string::npos);
}

TEST_CASE("a_bundle_that_is_open_to_others_damaged_or_of_another_host_is_refused") {
  const Folder folder;
  const StateFolder head(folder.at("head"));
  REQUIRE(head.make_keys(two_hosts()).has_value());
  const std::string file = folder.at("a.tar");
  REQUIRE(write_key_bundle(file, make_key_bundle(head, "rack-a").value()).has_value());
  const std::string sound = bytes_of(file);
  CHECK(read_key_bundle(folder.at("none")).error().code == ErrorCode::not_found);
  REQUIRE(::chmod(file.c_str(), 0644) == 0);
  CHECK_THAT(read_key_bundle(file).error().message, Catch::Contains("mode 600"));
  fs::create_symlink(file, folder.at("link"));
  CHECK(read_key_bundle(folder.at("link")).error().code == ErrorCode::refused);
  write_private(file, "no tar at all");
  CHECK(read_key_bundle(file).error().code == ErrorCode::malformed);
  write_private(file, "");
  CHECK(read_key_bundle(file).error().code == ErrorCode::malformed);
  for (std::size_t cut = 0; cut < sound.size(); cut += 97) {  // never a crash, never a bundle without its pair
    write_private(file, sound.substr(0, cut));
    const auto read = read_key_bundle(file);
    CHECK((!read || read->files.contains("agents-0")));
  }
  std::string renamed = sound;
  const auto at = renamed.find("controller.pub");
  REQUIRE(at != std::string::npos);
  renamed.replace(at, 3, "../");
  write_private(file, renamed);
  CHECK_FALSE(read_key_bundle(file).has_value());

  const StateFolder there(folder.at("there"));
  REQUIRE(unpack(make_key_bundle(head, "rack-b").value(), there).has_value());
  const auto other = unpack(make_key_bundle(head, "rack-a").value(), there);
  REQUIRE_FALSE(other.has_value());
  CHECK_THAT(other.error().message, Catch::Contains("the pair of agents-1 already"));
}

TEST_CASE("a_process_knows_its_clock_its_door_and_the_doors_that_it_was_told") {
  const Scenario scenario = two_hosts();
  CHECK(choose_clock("auto", scenario).value() == LoopClock::tai);
  CHECK(choose_clock("monotonic", scenario).value() == LoopClock::monotonic);
  CHECK(choose_clock("auto", Scenario{}).value() == LoopClock::monotonic);
  CHECK(choose_clock("tai", Scenario{}).value() == LoopClock::tai);
  CHECK_THAT(choose_clock("utc", scenario).error().message, Catch::Contains("auto, monotonic, tai"));
  CHECK(listening_endpoint(scenario, 0) == "tcp://10.0.0.11:7610");
  CHECK(listening_endpoint(scenario, 1) == "tcp://*:7610");
  CHECK(listening_endpoint(Scenario{}, 0) == "tcp://127.0.0.1:*");
  CHECK(announced_endpoint(scenario, 1, "tcp://0.0.0.0:7610") == "tcp://rack-b.lab:7610");
  CHECK(announced_endpoint(Scenario{}, 0, "tcp://127.0.0.1:40001").empty());
  Scenario sixth = scenario;
  sixth.agents.hosts[0].address = "fd00::11";
  CHECK(listening_endpoint(sixth, 0) == "tcp://[fd00::11]:7610");
  CHECK(announced_endpoint(sixth, 0, "tcp://[fd00::11]:41000") == "tcp://[fd00::11]:41000");
  CHECK(announced_endpoint(scenario, 1, "tcp://[::]:7610") == "tcp://rack-b.lab:7610");
  HostPeers peers(scenario);
  CHECK(peers.address_of(1).error().code == ErrorCode::unreachable);
  peers.learn({{NodeId{2}, "tcp://rack-b.lab:7610"}, {NodeId{99}, "tcp://nobody:1"}});
  CHECK(peers.address_of(1).value() == "tcp://rack-b.lab:7610");
  CHECK_FALSE(peers.address_of(0).has_value());
  peers.learn({});
  CHECK_FALSE(peers.address_of(1).has_value());
}

}  // namespace
}  // namespace loom

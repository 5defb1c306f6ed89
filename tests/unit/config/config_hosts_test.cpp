// SPDX-License-Identifier: Apache-2.0
// The key `hosts`: every node on one host, every host at one place.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "controller/architectures/registry.hpp"
#include "core/config/scenario/scenario_file.hpp"

namespace loom {
namespace {

constexpr const char* kListen = "controller: {listen: \"tcp://10.0.0.1:7601\"}\n";

Loaded<Scenario> load(const std::string& text) {
  std::string folder = (std::filesystem::temp_directory_path() / "lightloom_hosts_XXXXXX").string();
  REQUIRE(::mkdtemp(folder.data()) != nullptr);
  std::ofstream(folder + "/fabric.yaml") << "schema_version: 1\nkind: fabric\nname: eight\ntemplate: oddl\n"
                                            "parameters: {nodes: 8, group_size: 4, channels: 8}\n";
  std::ofstream(folder + "/s.yaml") << "schema_version: 1\nkind: scenario\nname: s\nmode: soft\nfabric: fabric.yaml\n" << text;
  auto loaded = load_scenario(folder + "/s.yaml", all_fabric_kinds());
  std::filesystem::remove_all(folder);
  return loaded;
}

std::string errors_of(const Loaded<Scenario>& loaded) {
  std::string text;
  for (const ConfigError& error : loaded.errors) {
    text += to_string(error) + "\n";
  }
  return text;
}

TEST_CASE("hosts_say_which_nodes_run_where") {
  const auto loaded = load(std::string(kListen) + R"(hosts:
  rack-a: {address: 10.0.0.11, nodes: [0-2, 7]}
  rack-b: {address: rack-b.lab, port: 7700, nodes: 3-6}
)");
  INFO(errors_of(loaded));
  REQUIRE(loaded);
  const Scenario& s = *loaded.value;
  REQUIRE(s.agents.processes == 2);
  CHECK(s.agents.hosts[0] == ScenarioHost{"rack-a", "10.0.0.11", kPeerPort, {{0, 3}, {7, 8}}});
  CHECK(s.agents.hosts[1] == ScenarioHost{"rack-b", "rack-b.lab", 7700, {{3, 7}}});
  CHECK(s.controller_endpoint == "tcp://10.0.0.1:7601");
  CHECK(nodes_of_process(s, 0) == std::vector<NodeId>{NodeId{0}, NodeId{1}, NodeId{2}, NodeId{7}});
  CHECK(process_of_node(s, NodeId{7}) == 0);
  CHECK(process_of_node(s, NodeId{4}) == 1);
  CHECK(process_of_host(s, "rack-b").value() == 1);
  CHECK_THAT(process_of_host(s, "rack-c").error().message, Catch::Contains("rack-a, rack-b"));
  CHECK(is_on_several_hosts(s));
}

TEST_CASE("all_of_loopback_is_one_host") {
  const auto loaded = load(R"(controller: {listen: "tcp://localhost:7601"}
hosts:
  a: {address: 127.0.0.1, port: 7611, nodes: 0-3}
  b: {address: 127.0.0.2, port: 7611, nodes: 4-7}
)");
  INFO(errors_of(loaded));
  REQUIRE(loaded);
  CHECK_FALSE(is_on_several_hosts(*loaded.value));
  const auto without = load("agents: {processes: 2}\n");
  REQUIRE(without);
  CHECK_FALSE(is_on_several_hosts(*without.value));
  CHECK(process_of_node(*without.value, NodeId{3}) == 0);
  CHECK(process_of_node(*without.value, NodeId{4}) == 1);
}

TEST_CASE("what_hosts_may_not_say_is_named") {
  const auto refuses = [](const std::string& hosts, const std::string& part, const std::string& before = kListen) {
    const auto loaded = load(before + "hosts:\n" + hosts);
    INFO(errors_of(loaded));
    REQUIRE_FALSE(loaded);
    CHECK_THAT(errors_of(loaded), Catch::Contains(part));
  };
  refuses("  a: {address: 10.0.0.11, nodes: 0-6}\n", "node 7 ('node-7') is on no host");
  refuses("  a: {address: 10.0.0.11, nodes: 0-7}\n  b: {address: 10.0.0.12, nodes: 3}\n", "node 3 is on 'a' and on 'b'");
  refuses("  a: {address: 10.0.0.11, nodes: 0-8}\n", "8 is beyond the fabric's 8 nodes");
  refuses("  a: {address: 10.0.0.11, nodes: 7-0}\n", "found '7-0'");
  refuses("  a: {address: 10.0.0.11, nodes: [0-6, seven]}\n", "found 'seven'");
  refuses("  a: {address: 10.0.0.11, nodes: 0-3}\n  b: {address: 10.0.0.11, nodes: 4-7}\n", "both at 10.0.0.11 port 7610");
  refuses("  a: {nodes: 0-7}\n", "address");
  refuses("  a: {address: \"ten/eleven\", nodes: 0-7}\n", "found 'ten/eleven'");
  refuses("  a: {address: 10.0.0.300, nodes: 0-7}\n", "'10.0.0.300' is no IPv4 address");
  refuses("  a: {address: \"fd00::g\", nodes: 0-7}\n", "'fd00::g' is no IPv6 address");
  refuses("  a: {address: \"fd00::11\", nodes: 0-3}\n  b: {address: \"[fd00:0::11]\", nodes: 4-7}\n",
          "both at fd00::11 port 7610");
  refuses("  a: {address: 10.0.0.11, nodes: 0-7}\n", "an IPv6 address stands in brackets: [fd00::1]:7601",
          "controller: {listen: \"tcp://fd00::1:7601\"}\n");
  refuses("  a: {address: 10.0.0.11, port: 70000, nodes: 0-7}\n", "port");
  refuses("  a: {address: 10.0.0.11, nodes: 0-7, colour: red}\n", "colour");
  refuses("  a: {address: 10.0.0.11, nodes: 0-7}\n", "expected controller: {listen", "");
  refuses("  a: {address: 10.0.0.11, nodes: 0-7}\n", "expected one of both", std::string(kListen) + "agents: {processes: 2}\n");
  refuses("  a: {address: 10.0.0.11, nodes: 0-7}\n", "expected tcp://HOST:PORT",
          "controller: {listen: \"tcp://10.0.0.1:*\"}\n");
}

TEST_CASE("hosts_may_be_at_ipv6_addresses") {
  const auto loaded = load(R"(controller: {listen: "tcp://[fd00:0::1]:7601"}
hosts:
  rack-a: {address: "fd00::11", nodes: 0-3}
  rack-b: {address: "[FD00::12]", nodes: 4-7}
)");
  INFO(errors_of(loaded));
  REQUIRE(loaded);
  CHECK(loaded.value->agents.hosts[0].address == "fd00::11");
  CHECK(loaded.value->agents.hosts[1].address == "fd00::12");
  CHECK(is_on_several_hosts(*loaded.value));
}

TEST_CASE("all_of_loopback_is_one_host_in_both_families") {
  const auto loaded = load(R"(controller: {listen: "tcp://[::1]:7601"}
hosts:
  a: {address: "::1", port: 7611, nodes: 0-3}
  b: {address: 127.0.0.1, port: 7611, nodes: 4-7}
)");
  INFO(errors_of(loaded));
  REQUIRE(loaded);
  CHECK_FALSE(is_on_several_hosts(*loaded.value));
}

}  // namespace
}  // namespace loom

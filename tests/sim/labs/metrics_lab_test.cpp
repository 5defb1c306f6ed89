// SPDX-License-Identifier: Apache-2.0
// Metrics of a lab: each daemon at a port of its own, said in `lab status` and lab.json, and kept over a restart.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cerrno>

#include <array>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>

#include "tests/sim/labs/lab.hpp"

using namespace loom;
using namespace loom::test;
using Catch::Matchers::Contains;

namespace {

/// "http://127.0.0.1:9101/metrics".
int port_of(const std::string& url) {
  REQUIRE_THAT(url, Catch::Matchers::StartsWith("http://127.0.0.1:") && Catch::Matchers::EndsWith("/metrics"));
  return std::stoi(url.substr(url.rfind(':') + 1));
}

/// What is served there; empty: nobody listens.
std::string get(const std::string& url) {
  const int client = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_port = htons(static_cast<std::uint16_t>(port_of(url)));
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const std::string request = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
  std::string answer;
  if (connect(client, reinterpret_cast<const sockaddr*>(&place), sizeof place) == 0 &&
      send(client, request.data(), request.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(request.size())) {
    std::array<char, 4096> part{};
    for (ssize_t read = 0; (read = recv(client, part.data(), part.size(), 0)) > 0;) {
      answer.append(part.data(), static_cast<std::size_t>(read));
    }
  }
  close(client);
  return answer;
}

std::map<std::string, std::string> urls(const nlohmann::json& object) {
  std::map<std::string, std::string> urls;
  for (const auto& process : object["processes"]) {
    urls[process["name"]] = process["metrics"];
  }
  return urls;
}

/// Agents greet each other a few times a second; whoever scrapes meanwhile sees when they have agreed.
bool comes_to_say(const std::string& url, const std::string& sample) {
  const Instant begin = monotonic_now();
  while (get(url).find(sample) == std::string::npos) {
    if (monotonic_now() - begin > std::chrono::seconds{20}) {
      return false;
    }
    std::this_thread::yield();
  }
  return true;
}

nlohmann::json manifest_of(const Lab& lab) {
  std::ifstream file(lab.state() / "lab.json");
  return nlohmann::json::parse(file, nullptr, false);
}

Finished up_with_metrics(const Lab& lab) {
  Finished up = lab.run("lab up --metrics " + lab.write_scenario("mode: soft\n"));
  INFO(up.words);
  REQUIRE(up.code == 0);
  return up;
}

}  // namespace

TEST_CASE("each daemon of a lab that shall have metrics serves them at a port that lab status and lab.json name") {
  const Lab lab;
  const Finished up = up_with_metrics(lab);
  const auto served = urls(lab.ask("lab status"));
  REQUIRE(served.size() == 3);
  CHECK(urls(manifest_of(lab)) == served);
  std::set<int> ports;
  for (const auto& [name, url] : served) {
    CAPTURE(name);
    ports.insert(port_of(url));
    CHECK_THAT(up.words, Contains("metrics of " + name + " at " + url));
    CHECK_THAT(lab.run("lab status").output, Contains("METRICS") && Contains(url));
    const std::string program = name == "lightloomd" ? "lightloomd" : "lightloom-agent";
    CHECK_THAT(get(url), Contains("200 OK") && Contains("lightloom_build_info{program=\"" + program + "\""));
  }
  CHECK(ports.size() == 3);

  const auto pids = lab.pids();
  for (const char* name : {"controller", "agents-1"}) {  // whoever scrapes them finds them where they were
    const Finished restarted = lab.run(std::string("lab restart ") + name);
    INFO(restarted.words);
    REQUIRE(restarted.code == 0);
  }
  CHECK(lab.pids().at("lightloomd") != pids.at("lightloomd"));
  CHECK(urls(lab.ask("lab status")) == served);
  CHECK_THAT(get(served.at("lightloomd")), Contains("lightloom_controller_term 2"));
  CHECK_THAT(get(served.at("agents-1")), Contains("lightloom_agent_nodes"));

  REQUIRE(lab.run("lab down").code == 0);
  CHECK(get(served.at("lightloomd")).empty());
  CHECK_FALSE(std::filesystem::exists(lab.state() / "controller.metrics"));
  CHECK_FALSE(std::filesystem::exists(lab.state() / "agents-0.metrics"));
}

TEST_CASE("agents of one host speak through shared memory, also after one of their processes was killed and restarted") {
  const Lab lab;
  up_with_metrics(lab);
  const auto served = urls(lab.ask("lab status"));
  const std::string shared = "lightloom_peer_links{transport=\"shared_memory\"} 1";
  CHECK(comes_to_say(served.at("agents-0"), shared));
  CHECK(comes_to_say(served.at("agents-1"), shared));
  REQUIRE(kill(lab.pids().at("agents-1"), SIGKILL) == 0);
  CHECK(comes_to_say(served.at("agents-0"), "lightloom_peer_links{transport=\"shared_memory\"} 0"));
  const Finished restarted = lab.run("lab restart agents-1");
  INFO(restarted.words);
  REQUIRE(restarted.code == 0);
  CHECK(comes_to_say(served.at("agents-0"), shared));
  CHECK(comes_to_say(served.at("agents-1"), shared));
}

TEST_CASE("a lab that shall have no metrics has none, and one that goes on from it may") {
  const Lab lab;
  const std::string scenario = lab.write_scenario("mode: soft\n");
  const Finished up = lab.run("lab up " + scenario);
  INFO(up.words);
  REQUIRE(up.code == 0);
  for (const auto& [name, url] : urls(lab.ask("lab status"))) {
    CAPTURE(name);
    CHECK(url.empty());
  }
  CHECK(lab.run("lab status").output.find("METRICS") == std::string::npos);
  CHECK(manifest_of(lab)["metrics"] == false);
  REQUIRE(lab.run("lab down").code == 0);
  const Finished again = lab.run("lab up --metrics " + scenario);
  INFO(again.words);
  REQUIRE(again.code == 0);
  CHECK_THAT(again.words, Contains("going on from the journals"));
  CHECK_THAT(get(urls(lab.ask("lab status")).at("agents-0")), Contains("200 OK"));
}

TEST_CASE("a port that somebody took while its daemon was down is said, and the next restart takes another") {
  const Lab lab;
  const Finished up = lab.run("lab up --metrics " + lab.write_scenario("mode: soft\n"));
  INFO(up.words);
  REQUIRE(up.code == 0);
  const std::string url = urls(lab.ask("lab status")).at("lightloomd");
  const int pid = lab.pids().at("lightloomd");
  REQUIRE(kill(pid, SIGKILL) == 0);
  const int thief = socket(AF_INET, SOCK_STREAM, 0);
  const int on = 1;
  setsockopt(thief, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);  // a scrape's end may linger there
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_port = htons(static_cast<std::uint16_t>(port_of(url)));
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const Instant begin = monotonic_now();  // the kernel takes its threads down one by one, and the port goes with the last
  while (bind(thief, reinterpret_cast<const sockaddr*>(&place), sizeof place) != 0) {
    REQUIRE(monotonic_now() - begin < std::chrono::seconds{10});
    std::this_thread::yield();
  }
  REQUIRE(listen(thief, 1) == 0);
  const Finished refused = lab.run("lab restart controller");
  CHECK(refused.code == 5);
  CHECK_THAT(refused.words, Contains("another program listens on that port") && Contains(std::to_string(port_of(url))));
  const Finished restarted = lab.run("lab restart controller");
  INFO(restarted.words);
  REQUIRE(restarted.code == 0);
  const std::string elsewhere = urls(lab.ask("lab status")).at("lightloomd");
  CHECK(elsewhere != url);
  CHECK_THAT(get(elsewhere), Contains("200 OK"));
  close(thief);
}

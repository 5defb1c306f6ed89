// SPDX-License-Identifier: Apache-2.0
// A relay's process before it serves, and whom a process speaks to: one relay of a number, keys, places, and what is said.
#include "runtime/state/relay_process.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <memory>

#include "controller/architectures/oddl/fabric.hpp"
#include "runtime/loop.hpp"
#include "runtime/program/process_lock.hpp"
#include "runtime/state/uplink.hpp"

namespace loom {
namespace {

namespace fs = std::filesystem;
using Catch::Matchers::Contains;

class Folder {
 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "lightloom_relay_XXXXXX").string();
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

Scenario two_relays() {
  OddlParameters parameters;
  parameters.nodes = 4;
  parameters.group_size = 4;
  Scenario scenario;
  scenario.fabric = std::make_shared<const Fabric>(make_oddl(parameters));
  scenario.controller_endpoint = "tcp://10.0.0.1:7601";
  scenario.agents.hosts = {{"rack-a", "10.0.0.11", 7610, {{0, 2}}}, {"rack-b", "10.0.0.12", 7610, {{2, 4}}}};
  scenario.agents.processes = 2;
  scenario.agents.relays = {"tcp://127.0.0.1:*", "tcp://127.0.0.1:*"};
  return scenario;
}

Error error_of_relay(const RelayOrder& order, const Scenario& scenario, const StateFolder& files) {
  auto loop = AsioLoop::open();
  REQUIRE(loop.has_value());
  const auto ran = run_relay(order, scenario, files, **loop);
  REQUIRE_FALSE(ran.has_value());
  return ran.error();
}

void write_line(const std::string& file, const std::string& line) { std::ofstream(file) << line << '\n'; }

}  // namespace

TEST_CASE("a_second_relay_of_a_number_is_refused_before_it_writes_anything") {
  const Folder folder;
  const Scenario scenario = two_relays();
  const StateFolder files(folder.at("st"));
  REQUIRE(files.make_keys(scenario).has_value());
  const RelayFiles its(files, 0);
  write_line(its.address(), "tcp://127.0.0.1:40001");
  auto first = take_process_lock(its.lock(), "the first");
  REQUIRE(first.has_value());
  RelayOrder order{0, {}, {}, {}, {}};
  const Error refused = error_of_relay(order, scenario, files);
  CHECK(refused.code == ErrorCode::conflict);
  CHECK(refused.message == format_text("relay-0 of {} is in use by another process (it holds {})", files.folder(), its.lock()));
  CHECK(its.read_address().value() == "tcp://127.0.0.1:40001");

  bool is_bundle_taken = false;
  order.take_bundle = [&]() -> Result<void> {
    is_bundle_taken = true;
    return fail(ErrorCode::not_found, "no bundle");
  };
  CHECK(error_of_relay(order, scenario, files).code == ErrorCode::conflict);
  CHECK_FALSE(is_bundle_taken);
  order.relay = 1;  // another number is another relay
  CHECK(error_of_relay(order, scenario, files).message == "no bundle");
  order.relay = 0;
  first->reset();  // as when its process has ended
  CHECK(error_of_relay(order, scenario, files).message == "no bundle");
}

TEST_CASE("a_relay_without_keys_is_shown_the_way_to_its_bundle_and_makes_nothing") {
  const Folder folder;
  const Scenario scenario = two_relays();
  const StateFolder elsewhere(folder.at("relay-host"));
  const Error missing = error_of_relay({1, {}, {}, {}, {}}, scenario, elsewhere);
  CHECK_THAT(missing.message, Contains("keys/relay-1 does not exist"));
  CHECK(missing.next_command ==
        "loom keys bundle relay-1 -o relay-1.keys.tar on the controller's host, and --keys relay-1.keys.tar here");
  CHECK_FALSE(fs::exists(elsewhere.folder()));

  const StateFolder head(folder.at("head"));  // the controller's host, where keys were made for fewer relays
  Scenario fewer = scenario;
  fewer.agents.relays.resize(1);
  REQUIRE(head.make_keys(fewer).has_value());
  CHECK(error_of_relay({1, {}, {}, {}, {}}, scenario, head).next_command == "loom keys generate SCENARIO");
}

TEST_CASE("an_agent_process_without_keys_is_shown_the_way_to_them") {
  const Folder folder;
  Scenario scenario = two_relays();
  const StateFolder files(folder.at("st"));
  const auto missing = load_agent_keys(agent_key_files(scenario, files, 1));
  REQUIRE_FALSE(missing.has_value());
  const Error told = with_key_command(missing.error(), key_command(scenario, files, 1));
  CHECK_THAT(told.message, Contains("keys/agents-1 does not exist"));
  CHECK_THAT(told.next_command, Contains("loom keys bundle rack-b") && Contains("--keys rack-b.keys.tar here"));
  const Error open_to_others{ErrorCode::refused, "mode 644"};
  CHECK(with_key_command(open_to_others, "loom keys bundle rack-b").next_command.empty());
  scenario.agents.hosts.clear();  // all on one host
  CHECK(key_command(scenario, files, 1) == "loom keys generate SCENARIO");
}

TEST_CASE("a_process_knows_whom_it_speaks_to_and_looks_again_where_that_has_written_its_address") {
  const Folder folder;
  const Scenario scenario = two_relays();
  const StateFolder files(folder.at("st"));
  fs::create_directories(files.folder());
  CHECK(uplink_of("", scenario, files, 1).error().code == ErrorCode::unreachable);
  write_line(RelayFiles(files, 1).address(), "tcp://127.0.0.1:40001");
  const auto relay = uplink_of("", scenario, files, 1);
  REQUIRE(relay.has_value());
  CHECK(relay->called == "relay-1");
  CHECK(relay->key_file == files.key("relay-1.pub"));
  CHECK(relay->endpoint == "tcp://127.0.0.1:40001");
  const auto options = transport_options(*relay, {"agents-1", "agent", files.agents_key(1), "loom keys generate SCENARIO"});
  CHECK(options.called == "relay-1");
  CHECK(options.key_file == "relay-1.pub");
  write_line(RelayFiles(files, 1).address(), "tcp://127.0.0.1:40002");
  REQUIRE(options.find);
  CHECK(options.find().value() == "tcp://127.0.0.1:40002");
  write_line(RelayFiles(files, 1).address(), "nonsense");
  CHECK_FALSE(options.find().has_value());

  const auto told = uplink_of("tcp://127.0.0.1:7620", scenario, files, 1);  // by an option
  REQUIRE(told.has_value());
  CHECK(told->endpoint == "tcp://127.0.0.1:7620");
  CHECK_FALSE(told->find);
  CHECK_THAT(uplink_of("tcp://fd00::1:7601", scenario, files, 1).error().message, Contains("the address of the relay"));
  const auto controller = uplink_of("", scenario, files, std::nullopt);  // by the scenario
  REQUIRE(controller.has_value());
  CHECK(controller->called == "the controller");
  CHECK(controller->endpoint == "tcp://10.0.0.1:7601");
  CHECK_FALSE(controller->find);
  CHECK(agent_key_files(scenario, files, 1).controller == files.key("relay-1.pub"));
  CHECK(agent_key_files(scenario, files, 1).called == "relay-1");
}

}  // namespace loom

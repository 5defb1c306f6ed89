// SPDX-License-Identifier: Apache-2.0
// Keys that change under live connections, over real sockets: who is turned away, who goes by new nodes or another role, and
// how an agent process takes up a new pair.
#include <asio/post.hpp>
#include <fstream>
#include <optional>
#include <thread>
#include <zmq.hpp>

#include "runtime/zmq/batch.hpp"
#include "runtime/zmq/keys/agent_keys.hpp"
#include "runtime/zmq/operator_client.hpp"
#include "tests/unit/zmq/zmq_rig.hpp"

namespace loom {
namespace {

using Catch::Matchers::Contains;
using test::heartbeat;
using test::PrivateFolder;
using test::Rig;

std::string framed(std::string_view envelope) {
  Batch batch;
  batch.add(envelope);
  return batch.bytes();
}

/// A DEALER with lawful keys whose connections are counted.
class CountingDealer {
 public:
  CountingDealer(const Rig& rig, const KeyPair& keys)
      : socket_(context_, zmq::socket_type::dealer), events_(context_, zmq::socket_type::pair) {
    socket_.set(zmq::sockopt::linger, 0);
    socket_.set(zmq::sockopt::reconnect_ivl, 5);
    socket_.set(zmq::sockopt::curve_serverkey, rig.controller_keys.public_key);
    socket_.set(zmq::sockopt::curve_publickey, keys.public_key);
    socket_.set(zmq::sockopt::curve_secretkey, keys.secret_key);
    REQUIRE(zmq_socket_monitor(socket_.handle(), "inproc://events", ZMQ_EVENT_ALL) == 0);
    events_.connect("inproc://events");
    socket_.connect(rig.endpoint());
  }
  void send(std::string_view envelope) {
    const std::string frame = framed(envelope);
    socket_.send(zmq::buffer(frame), zmq::send_flags::dontwait);
  }
  bool has_answer() {
    zmq::message_t frame;
    while (socket_.recv(frame, zmq::recv_flags::dontwait)) {
      if (frame.size() > 0) {
        return true;
      }
    }
    return false;
  }
  /// Has this happened to the connection since it was asked last?
  bool has_event(std::uint16_t wanted) {
    bool found = false;
    zmq::message_t part;
    while (events_.recv(part, zmq::recv_flags::dontwait)) {
      std::uint16_t event = 0;
      std::memcpy(&event, part.data(), sizeof event);
      found = found || event == wanted;
      (void)events_.recv(part);
    }
    return found;
  }

 private:
  zmq::context_t context_;
  zmq::socket_t socket_;
  zmq::socket_t events_;
};

Keyring without(Keyring keyring, const KeyPair& keys) {
  REQUIRE(keyring.remove(keys.public_key));
  return keyring;
}

TEST_CASE("a_revoked_key_loses_its_connection_and_is_turned_away_at_the_door") {
  Rig rig;
  const KeyPair keys = rig.known(Role::operator_, "ada");
  rig.known(Role::operator_, "grace");
  rig.listen();
  CountingDealer ada(rig, keys);
  ada.send(heartbeat({0}, 1));
  REQUIRE(rig.run_until([&] { return rig.received.size() == 1; }));
  const Peer peer = rig.received[0].from;
  rig.controller->send(peer, heartbeat({0}, 2));  // queued, and not on its way yet
  const auto dropped = rig.controller->counters().dropped;
  rig.controller->replace_keyring(without(rig.keyring, keys));
  CHECK(rig.controller->counters().dropped == dropped + 1);
  REQUIRE(rig.run_until([&] { return ada.has_event(ZMQ_EVENT_DISCONNECTED); }));
  REQUIRE(rig.run_until([&] { return ada.has_event(ZMQ_EVENT_HANDSHAKE_FAILED_AUTH); }));
  REQUIRE(rig.run_until([&] { return !rig.refused.empty(); }));
  CHECK_THAT(rig.refused[0].error.message, Contains("not in the keyring"));
  CHECK_FALSE(ada.has_answer());
  rig.controller->send(peer, heartbeat({0}, 3));  // an answer that was still being made
  CHECK(rig.controller->counters().dropped == dropped + 2);
  CHECK(rig.received.size() == 1);
}

TEST_CASE("a_connection_that_said_nothing_yet_is_ended_with_its_first_message_when_its_key_was_revoked") {
  Rig rig;
  const KeyPair keys = rig.known(Role::operator_, "ada");
  rig.known(Role::operator_, "grace");
  rig.listen();
  CountingDealer ada(rig, keys);
  REQUIRE(rig.run_until([&] { return ada.has_event(ZMQ_EVENT_HANDSHAKE_SUCCEEDED); }));
  rig.controller->replace_keyring(without(rig.keyring, keys));
  const auto before = rig.controller->counters().unauthorised;
  ada.send(heartbeat({0}, 1));
  REQUIRE(rig.run_until([&] { return rig.controller->counters().unauthorised > before; }));
  REQUIRE(rig.run_until([&] { return ada.has_event(ZMQ_EVENT_DISCONNECTED); }));
  CHECK(rig.received.empty());
}

TEST_CASE("messages_of_a_revoked_key_that_wait_in_the_socket_are_not_received") {
  Rig rig;
  const KeyPair keys = rig.known(Role::operator_, "ada");
  rig.known(Role::operator_, "grace");
  rig.listen();
  CountingDealer ada(rig, keys);
  ada.send(heartbeat({0}, 1));
  REQUIRE(rig.run_until([&] { return rig.received.size() == 1; }));
  // Received only after the keyring has changed, whenever they arrived.
  for (std::uint64_t i = 2; i < 50; ++i) {
    ada.send(heartbeat({0}, i));
  }
  rig.controller->replace_keyring(without(rig.keyring, keys));
  REQUIRE(rig.run_until([&] { return ada.has_event(ZMQ_EVENT_DISCONNECTED); }));
  CHECK(rig.received.size() == 1);
}

TEST_CASE("other_keys_keep_their_connections_when_one_is_revoked") {
  Rig rig;
  const KeyPair gone = rig.known(Role::viewer, "eve");
  const KeyPair keys = rig.known(Role::agent, "host-a", {{{0}, {9}}});
  rig.listen();
  const auto agents = rig.agents(keys);
  REQUIRE(rig.speak_until(**agents->port({5}), {5}, 1));
  rig.controller->replace_keyring(without(rig.keyring, gone));
  const auto before = rig.controller->counters().dropped;
  rig.controller->send(agent_peer({5}), heartbeat({5}, 2));  // it holds its node still
  CHECK(rig.controller->counters().dropped == before);
  REQUIRE(rig.speak_until(**agents->port({5}), {5}, 3));
}

TEST_CASE("an_agent_whose_nodes_change_loses_those_that_it_no_longer_has_at_once") {
  Rig rig;
  const KeyPair keys = rig.known(Role::agent, "host-a", {{{0}, {9}}});
  rig.listen();
  const auto agents = rig.agents(keys);
  REQUIRE(rig.speak_until(**agents->port({5}), {5}, 1));
  REQUIRE(rig.speak_until(**agents->port({6}), {6}, 1));
  Keyring fewer = rig.keyring;
  REQUIRE(fewer.add({keys.public_key, Role::agent, "host-a", {{{6}, {9}}}}));
  rig.controller->replace_keyring(fewer);
  rig.controller->send(agent_peer({5}), heartbeat({5}, 2));
  CHECK(rig.controller->counters().dropped == 1);
  REQUIRE_FALSE(rig.speak_until(**agents->port({5}), {5}, 3));
  CHECK_THAT(rig.refused.back().error.message, Contains("may not speak for node 5"));
  REQUIRE(rig.speak_until(**agents->port({6}), {6}, 4));  // over the connection that it had
}

TEST_CASE("a_changed_role_holds_from_the_next_message_on") {
  Rig rig;
  const KeyPair keys = rig.known(Role::operator_, "ada");
  rig.listen();
  CountingDealer ada(rig, keys);
  ada.send(heartbeat({0}, 1));
  REQUIRE(rig.run_until([&] { return rig.received.size() == 1; }));
  CHECK(rig.received[0].role == Role::operator_);
  Keyring demoted = rig.keyring;
  REQUIRE(demoted.add({keys.public_key, Role::viewer, "ada", {}}));
  rig.controller->replace_keyring(demoted);
  ada.send(heartbeat({0}, 2));
  REQUIRE(rig.run_until([&] { return rig.received.size() == 2; }));
  CHECK(rig.received[1].role == Role::viewer);
}

TEST_CASE("an_agent_whose_key_was_refused_comes_back_by_itself_when_it_is_granted_again") {
  Rig rig;
  const KeyPair keys = rig.known(Role::agent, "host-a", {{{0}, {9}}});
  rig.known(Role::operator_, "ada");
  rig.listen();
  const auto agents = rig.agents(keys);
  MessageSeam& port = **agents->port({5});
  REQUIRE(rig.speak_until(port, {5}, 1));
  rig.controller->replace_keyring(without(rig.keyring, keys));
  REQUIRE(rig.run_until([&] { return !rig.refused.empty(); }));
  rig.received.clear();
  rig.controller->replace_keyring(rig.keyring);
  REQUIRE(rig.run_until([&] {
    port.send(controller_peer(), heartbeat({5}, 2));
    return !rig.received.empty();
  }));
}

// --- a new pair ----------------------------------------------------------------------------------------------------------

TEST_CASE("an_agent_transport_goes_on_with_another_pair_and_keeps_its_ports") {
  const auto connections = GENERATE(Connections::shared, Connections::one_per_agent);
  Rig rig;
  const KeyPair before = rig.known(Role::agent, "host-a", {{{0}, {9}}});
  const KeyPair after = rig.known(Role::agent, "host-a", {{{0}, {9}}});
  rig.listen();
  const auto agents = rig.agents(before, connections);
  MessageSeam& five = **agents->port({5});
  MessageSeam& six = **agents->port({6});
  std::size_t answers = 0;
  five.on_receive([&](Peer, std::string_view, Role, std::string_view) { ++answers; });
  REQUIRE(rig.speak_until(five, {5}, 1));
  REQUIRE(rig.speak_until(six, {6}, 1));
  REQUIRE(agents->replace_keys(after, rig.controller_keys.public_key));
  rig.controller->replace_keyring(without(rig.keyring, before));
  rig.now += std::chrono::seconds{2};  // the old connection holds nothing
  REQUIRE(rig.speak_until(five, {5}, 2));
  REQUIRE(rig.speak_until(six, {6}, 2));
  rig.controller->send(agent_peer({5}), heartbeat({5}, 3));
  REQUIRE(rig.run_until([&] { return answers > 0; }));
}

TEST_CASE("a_pair_that_is_none_leaves_the_transport_as_it_was") {
  Rig rig;
  const KeyPair keys = rig.known(Role::agent, "host-a", {{{0}, {9}}});
  rig.listen();
  const auto agents = rig.agents(keys);
  REQUIRE(rig.speak_until(**agents->port({5}), {5}, 1));
  CHECK(agents->replace_keys({"short", keys.secret_key}, rig.controller_keys.public_key).error().code == ErrorCode::malformed);
  REQUIRE(rig.speak_until(**agents->port({5}), {5}, 2));
}

/// One agent process's key files, and a controller that lets it in.
struct Process {
  Rig rig;
  PrivateFolder folder;
  AgentKeyFiles files;
  KeyPair keys;
  std::unique_ptr<AgentTransport> transport;
  std::unique_ptr<PeerLinks> peers;
  std::optional<AgentKeys> live;
  std::vector<std::string> reported;
  std::vector<Error> problems;
  std::string published;

  explicit Process(std::string called = "the controller") {
    files.called = std::move(called);
    files.own = folder.path / "agents-0";
    files.controller = folder.path / "controller.pub";
    files.keyring = folder.path / "keyring";
    files.peers = {folder.path / "agents-0.pub"};
    keys = *generate_keys(files.own);
    REQUIRE(write_whole_file({files.controller, "public " + rig.controller_keys.public_key + "\n", 0644, true}));
    allow(keys);
    rig.listen();
    const auto loaded = load_agent_keys(files);
    REQUIRE(loaded);
    transport = rig.agents(loaded->own);
    PeerLinksOptions options;
    options.keys = loaded->own;
    options.keyring = loaded->keyring;
    options.processes = {{{{NodeId{0}, NodeId{9}}}, loaded->peers[0], [] { return Result<std::string>("tcp://127.0.0.1:1"); }}};
    peers = std::move(*PeerLinks::open(rig.io, std::move(options)));
    live.emplace(files, *loaded, *transport, *peers,
                 AgentKeysListener{[this](const std::string& sentence) { reported.push_back(sentence); },
                                   [this](const Error& error) { problems.push_back(error); },
                                   [this](const std::string& endpoint) -> Result<void> {
                                     published = endpoint;
                                     return {};
                                   }});
  }
  void allow(const KeyPair& pair) {
    const Grant agent{pair.public_key, Role::agent, "agents-0", {{{0}, {9}}}};
    REQUIRE(grant(files.keyring, agent));
    REQUIRE(rig.keyring.add(agent));
  }
};

// not made again within 20 s. In a lab (keys_lab_test, tests/strangers/keys.py) the old key is revoked once the new one is in
// use.
TEST_CASE("an_agent_process_takes_up_a_pair_that_was_replaced_on_disk") {
  Process process;
  Rig& rig = process.rig;
  MessageSeam& port = **process.transport->port({5});
  REQUIRE(rig.speak_until(port, {5}, 1));
  const KeyPair fresh = *generate_keys(process.files.own.string() + ".next");
  process.allow(fresh);
  rig.controller->replace_keyring(rig.keyring);
  process.live->look(KeysWatch::Cause::written);
  CHECK(process.published.empty());  // the pair in force is still the first one
  REQUIRE(replace_key_files(process.files.own.string() + ".next", process.files.own));
  const std::string listened = process.peers->endpoint();
  process.live->look(KeysWatch::Cause::written);
  CHECK(process.problems.empty());
  CHECK(process.published == process.peers->endpoint());
  CHECK(process.peers->endpoint() == listened);
  REQUIRE_FALSE(process.reported.empty());
  CHECK_THAT(process.reported.back(), Contains(fingerprint_of(fresh.public_key)));
  rig.controller->replace_keyring(without(rig.keyring, process.keys));
  REQUIRE(rig.speak_until(port, {5}, 2));
}

TEST_CASE("an_agent_process_does_not_take_up_a_pair_that_the_keyring_does_not_grant") {
  Process process;
  Rig& rig = process.rig;
  MessageSeam& port = **process.transport->port({5});
  REQUIRE(rig.speak_until(port, {5}, 1));
  const KeyPair stranger = *generate_keys(process.files.own.string() + ".next");
  REQUIRE(replace_key_files(process.files.own.string() + ".next", process.files.own));
  process.live->look(KeysWatch::Cause::written);
  process.live->look(KeysWatch::Cause::interval);
  REQUIRE(process.problems.size() == 1);  // told once
  CHECK_THAT(process.problems[0].message, Contains(fingerprint_of(stranger.public_key)) && Contains("does not grant"));
  CHECK_THAT(process.problems[0].next_command, Contains("loom keys grant agents-0"));
  REQUIRE(rig.speak_until(port, {5}, 2));  // with the old one
  process.allow(stranger);
  rig.controller->replace_keyring(rig.keyring);
  process.live->look(KeysWatch::Cause::written);
  CHECK_THAT(process.reported.back(), Contains("our key is " + fingerprint_of(stranger.public_key)));
}

TEST_CASE("an_agent_process_believes_nothing_of_a_folder_that_is_open_to_others") {
  Process process;
  REQUIRE(write_whole_file({process.files.controller, "public " + make_keys().public_key + "\n", 0644, true}));
  std::filesystem::permissions(process.folder.path, std::filesystem::perms::group_write, std::filesystem::perm_options::add);
  process.live->look(KeysWatch::Cause::written);
  CHECK(process.problems.size() == 2);  // of the keyring, and of our own keys
  CHECK(process.reported.empty());
  REQUIRE(process.rig.speak_until(**process.transport->port({5}), {5}, 1));
  std::filesystem::permissions(process.folder.path, std::filesystem::perms::owner_all);
}

TEST_CASE("an_agent_process_follows_another_key_of_the_controller_or_of_its_relay_and_says_whose_it_is") {
  const std::string called = GENERATE(as<std::string>{}, "the controller", "relay-0");
  Process process(called);
  Rig& rig = process.rig;
  const KeyPair fresh = make_keys();
  REQUIRE(rig.speak_until(**process.transport->port({5}), {5}, 1));
  const std::string endpoint = rig.endpoint();
  rig.controller.reset();
  rig.controller_keys = fresh;
  rig.listen(endpoint);
  REQUIRE(write_whole_file({process.files.controller, "public " + fresh.public_key + "\n", 0644, true}));
  process.live->look(KeysWatch::Cause::written);
  CHECK_THAT(process.reported.back(), Contains(called + "'s key is " + fingerprint_of(fresh.public_key)));
  REQUIRE(rig.speak_until(**process.transport->port({5}), {5}, 2));
}

}  // namespace
}  // namespace loom

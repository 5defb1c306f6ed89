// SPDX-License-Identifier: Apache-2.0
// The training processes of a node: what they say in lines, who of them makes a node ready, and the socket that carries it.
#include <catch2/catch.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <asio/io_context.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/read_until.hpp>
#include <asio/write.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "agents/training/training_clients.hpp"
#include "core/limits.hpp"
#include "runtime/training/training_socket.hpp"
#include "tests/run_until.hpp"

using namespace loom;
using Catch::Contains;
using What = TrainingWord::What;
namespace fs = std::filesystem;

namespace {

struct Clients {
  void tell(const TrainingWord& word) { clients.tell(word, Duration{1'000'000}); }
  std::vector<TrainingReady> heard;
  std::vector<std::pair<std::uint64_t, std::string>> said;
  TrainingClients clients{"node-3",
                          {[this](TrainingReady ready) { heard.push_back(ready); },
                           [this](std::uint64_t client, const std::string& line) { said.emplace_back(client, line); }}};
};

TrainingWord word(What what, std::uint64_t iteration) {
  return {what, JobId{4}, Revision{9}, iteration, false, Instant{Duration{7}}, Duration{80}};
}

/// A socket of a folder of its own, whose loop runs on this thread.
class Served {
 public:
  Served()
      : folder_(fs::temp_directory_path() / ("loom-training-" + std::to_string(getpid()) + "-" + std::to_string(++made_))) {
    auto opened = open();
    REQUIRE(opened);
    socket = *std::move(opened);
  }
  ~Served() {
    socket.reset();
    fs::remove_all(folder_);
  }
  Served(const Served&) = delete;
  Served& operator=(const Served&) = delete;

  Result<std::unique_ptr<TrainingSocket>> open() {
    return TrainingSocket::open(
        context, path(),
        {[this](std::uint64_t client) { joined.push_back(client); }, [this](std::uint64_t client) { left.push_back(client); },
         [this](std::uint64_t, std::string_view line) { lines.emplace_back(line); }});
  }
  std::string path() const { return (folder_ / "sub" / "node-3.sock").string(); }
  template <class Done>
  void run_until(Done done) {
    REQUIRE(test::run_until(context, done, std::chrono::minutes{1}));
  }
  asio::local::stream_protocol::socket client() {
    asio::local::stream_protocol::socket made(clients_);
    const std::size_t before = joined.size();
    made.connect(asio::local::stream_protocol::endpoint(path()));
    run_until([&] { return joined.size() > before || socket->counters().dropped > 0; });
    return made;
  }

  asio::io_context context;
  std::unique_ptr<TrainingSocket> socket;
  std::vector<std::uint64_t> joined;
  std::vector<std::uint64_t> left;
  std::vector<std::string> lines;

 private:
  inline static int made_ = 0;
  fs::path folder_;
  asio::io_context clients_;
};

void send(asio::local::stream_protocol::socket& socket, const std::string& text) { asio::write(socket, asio::buffer(text)); }

}  // namespace

TEST_CASE("a training process hears who its node is and what its light does, in lines of JSON") {
  Clients node;
  node.clients.joined(1);
  REQUIRE(node.said.size() == 1);
  CHECK(node.said[0].second == R"({"node":"node-3"})");
  node.tell(word(What::over, 0));
  CHECK(node.said.back().second == R"({"compute_ns":80,"job":4,"laid":0,"revision":9})");
  node.clients.heard(1, R"({"ready": 12})");
  CHECK(node.heard == std::vector<TrainingReady>{{1, false}});
  node.tell(word(What::lit, 1));
  CHECK(node.said.back().second == R"({"again":false,"at_ns":1000007,"job":4,"lit":12,"revision":9})");
  node.tell(word(What::over, 1));
  CHECK(node.said.back().second == R"({"compute_ns":80,"job":4,"over":12,"revision":9})");
  const std::size_t said = node.said.size();
  node.clients.joined(2);  // late: light that it did not ask for is none of its business
  CHECK(node.said.size() == said + 1);
  node.tell(word(What::none, 1));
  CHECK_THAT(node.said.back().second, Contains("none"));
}

TEST_CASE("a node wants light once all of its training processes do, and not before all have come") {
  Clients node;
  node.clients.joined(1);
  node.clients.heard(1, R"({"processes": 2})");
  node.clients.heard(1, R"({"ready": 1})");
  CHECK(node.heard.empty());
  node.clients.joined(2);
  CHECK(node.heard.empty());
  node.clients.heard(2, R"({"ready": 501})");  // each counts for itself
  CHECK(node.heard == std::vector<TrainingReady>{{1, false}});
  node.tell(word(What::lit, 1));
  CHECK_THAT(node.said[node.said.size() - 2].second, Contains(R"("lit":1,)"));
  CHECK_THAT(node.said.back().second, Contains(R"("lit":501,)"));
  node.clients.heard(1, R"({"ready": 1})");  // late
  CHECK(node.heard.size() == 1);
  node.tell(word(What::over, 1));
  node.clients.heard(1, R"({"ready": 2})");
  CHECK(node.heard.size() == 1);  // the second one still computes
  node.clients.heard(2, R"({"unsent": 501})");
  CHECK(node.heard.back() == TrainingReady{1, true});
  node.clients.left(1);
  node.clients.heard(2, R"({"ready": 502})");
  CHECK(node.heard.size() == 2);  // one of two, also when it was the other one who said that there are two
  node.clients.joined(3);
  node.clients.heard(3, R"({"ready": 1})");  // counts anew
  CHECK(node.heard.back() == TrainingReady{2, false});
  node.clients.joined(4);  // a third one that only looks on
  node.tell(word(What::lit, 2));
  CHECK(node.clients.counters().old == 1);
}

TEST_CASE("whoever was ready when light was laid anew still is, and what had its light is not ready again") {
  Clients node;
  node.clients.joined(1);
  node.tell(word(What::over, 0));
  node.clients.heard(1, R"({"ready": 5})");
  node.tell(word(What::lit, 1));
  node.tell(word(What::over, 1));
  std::size_t heard = node.heard.size();
  node.tell(word(What::none, 1));
  node.tell(word(What::over, 0));
  CHECK(node.heard.size() == heard);  // nobody has asked for anything
  CHECK_THAT(node.said.back().second, Contains(R"("laid":5)"));
  node.clients.heard(1, R"({"ready": 6})");
  node.tell(word(What::over, 0));
  CHECK(node.heard.size() == heard + 2);  // again: the agent has forgotten it
  node.tell(word(What::lit, node.heard.back().iteration));
  CHECK_THAT(node.said.back().second, Contains(R"("lit":6)"));
  node.tell(word(What::none, 2));  // in the middle of it
  node.tell(word(What::over, 0));
  CHECK_THAT(node.said.back().second, Contains(R"("laid":5)"));
  heard = node.heard.size();
  node.clients.heard(1, R"({"ready": 5})");
  CHECK(node.heard.size() == heard);
  node.clients.heard(1, R"({"ready": 6})");
  CHECK(node.heard.size() == heard + 1);

  node.tell(word(What::lit, node.heard.back().iteration));
  TrainingWord again = word(What::lit, node.heard.back().iteration);
  again.is_again = true;
  node.clients.heard(1, R"({"ready": 7})");  // early
  node.tell(again);
  CHECK_THAT(node.said.back().second, Contains(R"("lit":6)") && Contains(R"("again":true)"));
  node.clients.heard(1, R"({"ready": 20})");  // counts as it likes, as long as it ascends
  node.tell(word(What::over, node.heard.back().iteration));
  node.tell(word(What::lit, node.heard.back().iteration));
  CHECK_THAT(node.said.back().second, Contains(R"("lit":20)"));
  node.tell(word(What::over, 0));
  CHECK_THAT(node.said.back().second, Contains(R"("laid":6)"));  // the last one that was carried
  node.clients.left(1);
  node.clients.joined(2);  // training that was started again counts from 1
  heard = node.heard.size();
  node.clients.heard(2, R"({"ready": 1})");
  CHECK(node.heard.size() == heard + 1);
  TrainingWord other = word(What::over, 0);
  other.job = JobId{5};
  node.tell(other);
  CHECK_THAT(node.said.back().second, Contains(R"("laid":0)"));
}

TEST_CASE("what a training process may not say is answered with what was found and the limit") {
  Clients node;
  node.clients.joined(1);
  for (const char* line : {"", "ready 5", "[]", "{}", R"({"ready": 0})", R"({"ready": -1})", R"({"ready": "5"})",
                           R"({"ready": 1e3})", R"({"ready": 1, "unsent": 1})", R"({"processes": 65})", R"({"lit": 3})",
                           "{\"ready\": \xff}", R"({"ready": 18446744073709551616})", R"({"ready": 281474976710657})"}) {
    INFO(line);
    const std::size_t before = node.said.size();
    node.clients.heard(1, line);
    REQUIRE(node.said.size() == before + 1);
    CHECK_THAT(node.said.back().second, Contains("error") && Contains("found") && Contains("expected"));
  }
  CHECK(node.heard.empty());
  CHECK(node.clients.counters().refused == 14);
  node.clients.heard(7, R"({"ready": 1})");  // nobody
  CHECK(node.heard.empty());
}

TEST_CASE("lines cross a socket both ways, in order, however they are cut") {
  Served served;
  auto client = served.client();
  send(client, "one\ntw");
  served.run_until([&] { return served.lines.size() == 1; });
  send(client, "o\nthree\n");
  served.run_until([&] { return served.lines.size() == 3; });
  CHECK(served.lines == std::vector<std::string>{"one", "two", "three"});
  for (int i = 0; i < 100; ++i) {
    served.socket->say(served.joined[0], "word " + std::to_string(i));
  }
  std::string text;
  client.non_blocking(true);
  served.run_until([&] {
    char bytes[4096];
    asio::error_code problem;
    text.append(bytes, client.read_some(asio::buffer(bytes), problem));
    return text.ends_with("word 99\n");
  });
  CHECK(text.starts_with("word 0\nword 1\n"));
  client.close();
  served.run_until([&] { return served.left.size() == 1; });
  served.socket->say(served.joined[0], "gone");  // nobody hears it
}

TEST_CASE("a training process that says no end of a line, or reads nothing, is dropped and no other with it") {
  Served served;
  auto good = served.client();
  auto endless = served.client();
  send(endless, std::string(limits::kTrainingLineBytes + 1, 'x'));
  served.run_until([&] { return served.left.size() == 1; });
  CHECK(served.left[0] == served.joined[1]);
  auto deaf = served.client();
  for (int i = 0; i < 10'000 && served.left.size() == 1; ++i) {
    served.socket->say(served.joined[2], std::string(1'000, 'y'));
    served.context.poll();
  }
  CHECK(served.left.size() == 2);
  CHECK(served.socket->counters().dropped == 2);
  send(good, "still here\n");
  served.run_until([&] { return served.lines.size() == 1; });
}

TEST_CASE("a socket takes the place of one that nobody serves, and of nothing else") {
  Served served;
  const auto second = served.open();
  REQUIRE_FALSE(second);
  CHECK(second.error().code == ErrorCode::conflict);
  CHECK_THAT(second.error().message, Contains(served.path()));
  served.socket.reset();
  CHECK_FALSE(fs::exists(served.path()));

  {  // what an agent that was killed leaves
    asio::local::stream_protocol::acceptor abandoned(served.context, asio::local::stream_protocol::endpoint(served.path()));
  }
  REQUIRE(fs::exists(served.path()));
  auto again = served.open();
  REQUIRE(again);
  served.socket = *std::move(again);
  served.client();

  served.socket.reset();
  std::ofstream(served.path()) << "somebody's file";
  const auto third = served.open();
  REQUIRE_FALSE(third);
  CHECK_THAT(third.error().message, Contains("no socket"));
  CHECK(fs::exists(served.path()));

  asio::io_context context;
  const auto longer = TrainingSocket::open(context, "/tmp/" + std::string(limits::kSocketPathBytes, 'x'), {});
  REQUIRE_FALSE(longer);
  CHECK_THAT(longer.error().message, Contains("at most 107"));
}

// SPDX-License-Identifier: Apache-2.0
// HTTP exchanges whose other end is a scripted server on a thread: polite, chunked, halting, late, gone, no HTTP at all.
#include "drivers/bus/http/http_bus.hpp"

#include <catch2/catch.hpp>
#include <stop_token>
#include <string>
#include <thread>

#include "drivers/bus/stream.hpp"
#include "tests/drivers/tcp_peer.hpp"

namespace loom {
namespace {

using std::chrono::milliseconds;

Transaction get(std::string_view path, milliseconds deadline = milliseconds{5000}) {
  Transaction transaction;
  transaction.order = http_order({"GET", path});
  transaction.deadline = deadline;
  return transaction;
}

std::string text_of(const BusReply& reply) { return {reply.bytes.begin(), reply.bytes.end()}; }

std::string request_of(std::string_view method, std::string_view path, const TcpEndpoint& endpoint,
                       std::string_view more = "") {
  return std::string(method) + " " + std::string(path) + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(endpoint.port) +
         "\r\nUser-Agent: lightloom\r\nAccept: */*\r\n" + std::string(more) + "\r\n";
}

/// What the bus makes of one answer, after which the other end hangs up.
BusReply reply_to(std::string_view answer) {
  TcpPeer peer;
  HttpBus bus{peer.endpoint()};
  std::jthread device([&] {
    const auto client = peer.accept();
    client.receive(request_of("GET", "/x", peer.endpoint()).size());
    client.deliver(answer);
  });
  return bus.execute(get("/x"));
}

std::string cause_of(std::string_view answer) {
  const BusReply reply = reply_to(answer);
  const std::string status = reply.status == BusStatus::lost        ? "lost: "
                             : reply.status == BusStatus::malformed ? "malformed: "
                                                                    : "ok: ";
  const std::size_t colon = reply.cause.find(": ");
  return status + (colon == std::string::npos ? reply.cause : reply.cause.substr(colon + 2));
}

}  // namespace

TEST_CASE("http_exchanges_requests_over_one_connection_that_is_kept") {
  TcpPeer peer;
  HttpBus bus{peer.endpoint()};
  const std::string first = request_of("GET", "/waveshaper/devinfo", peer.endpoint());
  const std::string second = request_of("POST", "/waveshaper/loadprofile", peer.endpoint(),
                                        "Content-Type: application/json\r\nContent-Length: 20\r\n") +
                             "{\"type\":\"blockall\"}\n";
  std::string received;
  std::jthread device([&] {
    const auto client = peer.accept();
    received = client.receive(first.size());
    client.deliver("HTTP/1.1 200 OK\r\nContent-Le");
    client.deliver("ngth: 5\r\n\r\nhe");
    client.deliver("llo");
    received += client.receive(second.size());
    client.deliver("HTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
  });
  CHECK(text_of(bus.execute(get("/waveshaper/devinfo"))) == "200 OK\nhello");
  Transaction post;
  post.order = http_order({"POST", "/waveshaper/loadprofile", "{\"type\":\"blockall\"}\n"});
  post.deadline = milliseconds{5000};
  CHECK(text_of(bus.execute(post)) == "404 Not Found\nabcde");
  device.join();
  CHECK(received == first + second);
}

TEST_CASE("http_opens_again_what_the_device_closed_between_exchanges") {
  TcpPeer peer;
  HttpBus bus{peer.endpoint()};
  const std::size_t request = request_of("GET", "/x", peer.endpoint()).size();
  std::jthread device([&] {
    for (const char* answer : {"HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na",  // that closes without a word
                               "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nb",
                               "HTTP/1.1 200 OK\r\n\r\nc"}) {  // that ends where the connection does
      const auto client = peer.accept();
      client.receive(request);
      client.deliver(answer);
    }
  });
  CHECK(text_of(bus.execute(get("/x"))) == "200 OK\na");
  CHECK(text_of(bus.execute(get("/x"))) == "200 OK\nb");
  CHECK(text_of(bus.execute(get("/x"))) == "200 OK\nc");
}

TEST_CASE("http_never_takes_a_late_answer_for_the_next_one") {
  TcpPeer peer;
  HttpBus bus{peer.endpoint()};
  CHECK(bus.execute(get("/first", milliseconds{30})).status == BusStatus::timeout);
  std::jthread device([&] {
    const auto first = peer.accept();
    const auto second = peer.accept();  // the bus has turned its back on the first connection
    first.deliver("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlate");
    second.receive(10);
    second.deliver("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nprompt");
  });
  CHECK(text_of(bus.execute(get("/second"))) == "200 OK\nprompt");
}

TEST_CASE("http_a_drip_does_not_stretch_the_deadline") {
  TcpPeer peer;
  HttpBus bus{peer.endpoint()};
  std::jthread device([&](const std::stop_token& stop) {
    const auto client = peer.accept();
    client.receive(10);
    client.deliver("HTTP/1.1 200 OK\r\n\r\n");
    while (!stop.stop_requested() && client.try_deliver("x")) {
    }
  });
  const BusReply reply = bus.execute(get("/x", milliseconds{200}));
  CHECK((reply.status == BusStatus::timeout || reply.status == BusStatus::malformed));  // more than a reply may be before it
}

TEST_CASE("http_says_why_there_is_no_reply") {
  CHECK(cause_of("") == "lost: the connection was closed before the reply");
  CHECK(cause_of("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel") ==
        "malformed: the connection was closed after 3 of 5 bytes of the reply");
  CHECK(cause_of("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel") ==
        "malformed: the connection was closed after 3 bytes of the reply, before its end");
  CHECK(cause_of("HTTP/1.1 200 OK\r\nContent-Length: 1048577\r\n\r\n") == "malformed: a reply of more than 1048576 bytes");
  CHECK(cause_of("HTTP/1.1 200 OK\r\nContent-Length: 9999999999999990\r\n\r\nx") ==
        "malformed: a reply of more than 1048576 bytes");
  CHECK(cause_of("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nabc") == "malformed: 2 bytes after its end");
  CHECK_THAT(cause_of("SSH-2.0-OpenSSH_9.2p1\r\n"), Catch::StartsWith("malformed: no HTTP reply: "));
  CHECK_THAT(cause_of("HTTP/1.1 200 OK\r\nX: " + std::string(9000, 'x')), Catch::StartsWith("malformed: no HTTP reply: "));
  CHECK(text_of(reply_to("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n")) == "503 Busy\n");
}

TEST_CASE("http_keeps_the_cause_of_a_connection_that_nobody_takes") {
  TcpEndpoint endpoint;
  {
    const TcpPeer peer;
    endpoint = peer.endpoint();
  }
  const BusReply reply = HttpBus{endpoint}.execute(get("/x"));
  CHECK(reply.status == BusStatus::lost);
  CHECK(reply.cause == "127.0.0.1 port " + std::to_string(endpoint.port) + ": Connection refused (errno 111)");
}

TEST_CASE("http_hears_why_a_request_was_refused_before_all_of_it_was_said") {
  TcpPeer peer;
  HttpBus bus{peer.endpoint()};
  std::jthread device([&] {
    const auto client = peer.accept();
    client.receive(100);
    client.deliver("HTTP/1.1 413 Payload Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    client.receive(150'000 + 100);
  });
  Transaction post;
  post.order = http_order({"POST", "/x", std::string(150'000, 'x')});
  post.deadline = milliseconds{5000};
  CHECK(text_of(bus.execute(post)) == "413 Payload Too Large\n");
}

TEST_CASE("http_refuses_what_is_no_request_and_what_belongs_to_a_connection") {
  HttpBus bus{{"127.0.0.1", 1}};
  Transaction transaction;
  transaction.order = Registers{0, 1, {}};
  CHECK(bus.execute(transaction).status == BusStatus::exception);
  transaction.order = Frame{{'G', 'E', 'T'}, 0, {}};
  CHECK(bus.execute(transaction).status == BusStatus::exception);
  transaction = get("/x");
  transaction.connection = 1;
  const BusReply reply = bus.execute(transaction);
  CHECK(reply.status == BusStatus::lost);
  CHECK_THAT(reply.cause, Catch::Contains("the connection that this belongs to was lost"));
}

}  // namespace loom

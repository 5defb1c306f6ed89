// SPDX-License-Identifier: Apache-2.0
// The registry's text, and who may read it: what is printed of a value, which addresses are refused and with which sentence.
#include "runtime/metrics/metrics.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include "runtime/metrics/metrics_server.hpp"
#include "tests/unit/runtime/journal_folder.hpp"

namespace loom::test {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

std::string sentence(const Result<std::unique_ptr<MetricsServer>>& refused, ErrorCode code) {
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == code);
  return refused.error().message;
}

}  // namespace

TEST_CASE("samples of one name stand under one HELP and TYPE, and a counter of seconds is one") {
  MetricList list;
  list.counter("lightloom_orders_total", "Orders.", 3, {{"kind", "good"}});
  list.counter("lightloom_orders_total", "Orders.", 1, {{"kind", "bad"}});
  list.seconds("lightloom_dark_seconds_total", "Darkness.", milliseconds{1500}, {{"job", "7"}});
  list.gauge("lightloom_nodes", "Nodes.", 8);
  CHECK(prometheus_text(list) ==
        "# HELP lightloom_orders_total Orders.\n# TYPE lightloom_orders_total counter\n"
        "lightloom_orders_total{kind=\"good\"} 3\nlightloom_orders_total{kind=\"bad\"} 1\n"
        "# HELP lightloom_dark_seconds_total Darkness.\n# TYPE lightloom_dark_seconds_total counter\n"
        "lightloom_dark_seconds_total{job=\"7\"} 1.5\n"
        "# HELP lightloom_nodes Nodes.\n# TYPE lightloom_nodes gauge\nlightloom_nodes 8\n");
}

TEST_CASE("a histogram counts a duration in every bucket whose bound it does not exceed, and in the one without a bound") {
  DurationHistogram durations;
  durations.add(microseconds{10});  // a bound belongs to its bucket
  durations.add(microseconds{11});
  durations.add(milliseconds{700});
  durations.add(seconds{60});
  CHECK(durations.count() == 4);
  MetricList list;
  list.histogram("lightloom_op_seconds", "Operations.", durations, {{"op", "fire"}});
  const std::string text = prometheus_text(list);
  INFO(text);
  using Catch::Matchers::Contains;
  CHECK_THAT(text, Contains("# TYPE lightloom_op_seconds histogram\n"));
  CHECK_THAT(text, Contains("lightloom_op_seconds_count{op=\"fire\"} 4\n"));
  CHECK_THAT(text, Contains("lightloom_op_seconds_bucket{op=\"fire\",le=\"1.0000000000000001e-05\"} 1\n") ||
                       Contains("lightloom_op_seconds_bucket{op=\"fire\",le=\"1e-05\"} 1\n"));
  CHECK_THAT(text, Contains(",le=\"0.5\"} 2\n"));
  CHECK_THAT(text, Contains(",le=\"1\"} 3\n"));
  CHECK_THAT(text, Contains(",le=\"10\"} 3\n"));
  CHECK_THAT(text, Contains(",le=\"+Inf\"} 4\n"));
}

TEST_CASE("histograms of several machines add up to that of all their durations") {
  DurationHistogram one;
  one.add(milliseconds{2});
  DurationHistogram other;
  other.add(milliseconds{2});
  other.add(seconds{20});
  one += other;
  CHECK(one.count() == 3);
  CHECK(one.sum() == milliseconds{20'004});
  CHECK(one.count(DurationHistogram::kBounds.size()) == 1);
}

TEST_CASE("metrics are served on loopback alone, and an address that cannot be had gets a sentence with one that can") {
  using Catch::Matchers::Contains;
  const Metrics metrics;
  HandLoop loop;
  const auto open = [&](const std::string& address) { return MetricsServer::open(address, metrics, loop.post()); };
  CHECK_THAT(sentence(open("0.0.0.0:1"), ErrorCode::refused), Contains("--metrics 0.0.0.0:1") && Contains("only on loopback"));
  CHECK_THAT(sentence(open("[::]:9101"), ErrorCode::refused), Contains("only on loopback"));
  for (const char* wrong : {"", "9101", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:9x", "somewhere:9101"}) {
    CAPTURE(wrong);
    CHECK_THAT(sentence(open(wrong), ErrorCode::invalid_argument),
               Contains("not ADDRESS:PORT") && Contains("nearest: --metrics 127.0.0.1:9101"));
  }
  const auto first = open("127.0.0.1:0");
  REQUIRE(first.has_value());
  const std::string url = (*first)->url();
  const std::string taken = url.substr(7, url.rfind('/') - 7);
  CHECK_THAT(sentence(open(taken), ErrorCode::unreachable),
             Contains("--metrics " + taken) && Contains("another program listens on that port") && Contains("127.0.0.1:0"));
}

TEST_CASE("a daemon's file says where its metrics are as long as it serves them, and goes where none are served") {
  const Folder folder;
  const Metrics metrics;
  HandLoop loop;
  const std::filesystem::path file = folder.journal().parent_path() / "controller.metrics";
  std::ofstream(file) << "http://127.0.0.1:1/metrics\n";
  {
    const PublishedUrl nowhere(nullptr, file);
  }
  CHECK_FALSE(std::filesystem::exists(file));
  const auto server = MetricsServer::open("127.0.0.1:0", metrics, loop.post());
  REQUIRE(server.has_value());
  {
    const PublishedUrl url(server->get(), file);
    std::ifstream written(file);
    std::string line;
    REQUIRE(std::getline(written, line));
    CHECK(line == (*server)->url());
  }
  CHECK_FALSE(std::filesystem::exists(file));
}

}  // namespace loom::test

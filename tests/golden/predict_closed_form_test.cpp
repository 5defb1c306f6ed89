// SPDX-License-Identifier: Apache-2.0
// Predictions against closed forms, and the recurrence against them where both apply.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <random>

#include "controller/predict/collective_time.hpp"
#include "controller/predict/predict.hpp"
#include "controller/predict/prediction_text.hpp"
#include "controller/workload/fabric_settings.hpp"
#include "controller/workload/models/zoo.hpp"
#include "tests/oracle/closed_form.hpp"

namespace loom {
namespace {

std::uint32_t below(std::mt19937& chance, std::size_t limit) { return static_cast<std::uint32_t>(chance() % limit); }

Prediction predicted(std::string_view workload, std::string_view fabric, std::uint32_t nodes, Settings workload_settings,
                     Settings fabric_settings = {}) {
  const auto job = make_workload(workload, {nodes, std::move(workload_settings)});
  REQUIRE(job);
  const auto model = fabric == "oddl" ? make_oddl_model(gigabits(100), nodes, fabric_settings)
                                      : make_fabric_model(fabric, gigabits(100), nodes, fabric_settings);
  REQUIRE(model);
  const auto prediction = predict(*job, {*model});
  REQUIRE(prediction);
  return *prediction;
}

TEST_CASE("vgg19_on_1024_nodes_equals_the_published_closed_form") {
  // 2 x 1023/1024 x 574,668,960 B at 100 Gb/s = 91.857 ms, and 2046 latencies (docs/systems/oddl.md#calibration: 91.86 ms,
  // 155.9 ms with C = 64).
  const Prediction bare = predicted("vgg19", "oddl", 1024, {{"overlap", "none"}}, {{"latency_us", "0"}});
  const double wire_ns = 2.0 * 1023 / 1024 * 574'668'960 * 8 / 100;
  CHECK(static_cast<double>(bare.exposed.count()) == Approx(wire_ns).epsilon(0).margin(1));
  CHECK(milliseconds_of(bare.exposed) == Approx(91.857).margin(0.001));
  CHECK(milliseconds_of(bare.iteration) == Approx(155.857).margin(0.001));
  const Prediction late = predicted("vgg19", "oddl", 1024, {{"overlap", "none"}});
  CHECK(late.exposed - bare.exposed == std::chrono::microseconds{2046});
  CHECK(late.dark == Duration{0});
}

TEST_CASE("ring_collectives_equal_their_closed_forms_exactly") {
  const LinkTerms link{0.25, 1000};
  const auto time = [&](CollectiveKind kind) { return uniform_ns({.kind = kind, .bytes = Bytes{4096}}, 16, link); };
  CHECK(time(CollectiveKind::all_reduce) == 2.0 * 15 / 16 * 4096 * 0.25 + 30 * 1000);
  CHECK(time(CollectiveKind::all_gather) == 15.0 / 16 * 4096 * 0.25 + 15 * 1000);
  CHECK(time(CollectiveKind::reduce_scatter) == 15.0 / 16 * 4096 * 0.25 + 15 * 1000);
  CHECK(time(CollectiveKind::all_to_all) == 15.0 / 16 * 4096 * 0.25 + 1000);
  CHECK(time(CollectiveKind::barrier) == 30 * 1000);
  CHECK(time(CollectiveKind::broadcast) == 15.0 * 4096 * 0.25 + 15 * 1000);  // one piece: store and forward
}

TEST_CASE("the_recurrence_agrees_with_the_closed_form_on_uniform_links") {
  const unsigned seed = 3;
  INFO("seed " << seed);
  std::mt19937 chance{seed};
  for (int round = 0; round < 100; ++round) {
    const std::uint32_t nodes = 2 + below(chance, 60);
    const LinkTerms link{0.01 * (1 + below(chance, 100)), static_cast<double>(below(chance, 5000))};
    const auto bytes = static_cast<std::int64_t>(below(chance, 10'000'000));
    CAPTURE(nodes, bytes, link.ns_per_byte, link.latency_ns);
    const std::vector<LinkTerms> links(nodes, link);
    const double recurrence = ring_ns(links, 2 * (nodes - 1), static_cast<double>(bytes) / nodes);
    CHECK(recurrence == Approx(uniform_ns({.bytes = Bytes{bytes}}, nodes, link)).epsilon(1e-12));
  }
}

TEST_CASE("a_ring_takes_the_same_time_from_whichever_rank_it_is_counted") {
  const unsigned seed = 5;
  INFO("seed " << seed);
  std::mt19937 chance{seed};
  for (int round = 0; round < 50; ++round) {
    std::vector<LinkTerms> links(2 + below(chance, 30));
    for (LinkTerms& link : links) {
      link.ns_per_byte = 0.08 * (1 + below(chance, 4));
      link.latency_ns = static_cast<double>(100 * (below(chance, 30)));
    }
    const auto steps = static_cast<std::uint32_t>(2 * (links.size() - 1));
    const double before = ring_ns(links, steps, 1000);
    std::rotate(links.begin(), links.begin() + below(chance, links.size()), links.end());
    CHECK(ring_ns(links, steps, 1000) == Approx(before).epsilon(1e-12));
  }
}

TEST_CASE("one_slow_link_sets_the_pace_of_the_ring") {
  std::vector<LinkTerms> links(8, {0.08, 0});
  const double even = ring_ns(links, 14, 1'000'000);
  links[3].ns_per_byte = 0.16;
  CHECK(ring_ns(links, 14, 1'000'000) == Approx(2 * even));  // every chunk waits for it, round after round
}

TEST_CASE("uneven_all_to_all_takes_what_its_busiest_rank_takes") {
  Collective collective{.kind = CollectiveKind::all_to_all, .bytes = Bytes{100}};
  collective.splits = {Bytes{5}, Bytes{10}, Bytes{20}, Bytes{70}, Bytes{0}, Bytes{30}, Bytes{1}, Bytes{2}, Bytes{3}};
  CHECK(busiest_rank_bytes(collective, 3) == 100);  // rank 1 sends 70 and 30; nobody receives more than 71
}

TEST_CASE("oversubscription_divides_every_rate") {
  const Prediction full = predicted("vgg19", "fat-tree", 1024, {{"overlap", "none"}}, {{"latency_us", "0"}});
  const Prediction half =
      predicted("vgg19", "fat-tree", 1024, {{"overlap", "none"}}, {{"latency_us", "0"}, {"oversubscription", "2"}});
  CHECK(static_cast<double>(half.exposed.count()) == Approx(2.0 * static_cast<double>(full.exposed.count())).margin(1));
  bool labelled = false;
  for (const std::string& assumption : half.assumptions) {
    labelled = labelled || assumption.find("uncalibrated") != std::string::npos;
  }
  CHECK(labelled);
}

TEST_CASE("oddl_all_to_all_pays_a_guard_a_timeslot_and_a_map_change_a_group") {
  const Settings workload{{"overlap", "none"}, {"compute_ms", "1"}};
  const Settings fabric{
      {"retune_us", "10"}, {"control_us", "0"}, {"blank_us", "1"}, {"acquisition_us", "1"}, {"wss_settle_ms", "2"}};
  const Prediction one_group = predicted("dlrm", "oddl", 32, workload, fabric);
  // Two all-to-alls of 31 timeslots, one guard to go back to the ring.
  CHECK(one_group.dark == std::chrono::microseconds{12 * (2 * 31 + 1)});
  const Prediction two_groups = predicted("dlrm", "oddl", 64, workload, fabric);
  // 63 timeslots and two map changes each (into the first map, and on to the second), then one into the ring's.
  CHECK(two_groups.dark == std::chrono::microseconds{12 * 2 * 63 + 2002 * (2 * 2 + 1)});
  CHECK(predicted("dlrm", "ideal-switch", 64, workload).dark == Duration{0});
  CHECK(two_groups.exposed >= two_groups.dark);
}

TEST_CASE("oddl_is_labelled_a_reconstruction_wherever_it_is_printed") {
  const Prediction prediction = predicted("vgg19", "oddl", 1024, {});
  CHECK(prediction_table(prediction).find("reconstruction") != std::string::npos);
  CHECK(predict_json(prediction)["assumptions"].dump().find("oddl (reconstruction)") != std::string::npos);
}

TEST_CASE("predict_answers_with_the_fixed_keys") {
  const auto answer = predict_json(predicted("vgg19", "ideal-switch", 1024, {{"overlap", "none"}}));
  for (const char* key : {"api_version", "workload", "fabric", "nodes", "bandwidth_gbps", "iteration_ms", "compute_ms",
                          "exposed_comm_ms", "dark_ms", "assumptions"}) {
    CHECK(answer.contains(key));
  }
  CHECK(answer["bandwidth_gbps"] == 100.0);
  CHECK(answer["nodes"] == 1024);
  CHECK(answer["iteration_ms"].get<double>() ==
        Approx(answer["compute_ms"].get<double>() + answer["exposed_comm_ms"].get<double>()));
  CHECK(answer["compute_ms"] == 64.0);
}

TEST_CASE("unknown_fabrics_settings_and_rates_are_refused_by_name") {
  CHECK(make_fabric_model("fattree", gigabits(100), 4, {}).error().message.find("'fat-tree'") != std::string::npos);
  CHECK(make_oddl_model(gigabits(100), 4, {{"retune", "1"}}).error().message.find("'retune_us'") != std::string::npos);
  CHECK(make_oddl_model(BitRate{0}, 4, {}).error().code == ErrorCode::out_of_range);
  CHECK(parse_bit_rate("100G").value() == gigabits(100));
  CHECK(parse_bit_rate("400 Gb/s").value() == gigabits(400));
  CHECK(parse_bit_rate("25000000000 b/s").value() == gigabits(25));
  CHECK(parse_bit_rate("100").error().message.find("has no unit: write '100G'") != std::string::npos);
  CHECK(parse_bit_rate("25000000000").error().message.find("write '25G'") != std::string::npos);
  CHECK(parse_bit_rate("0.5").error().message.find("write '0.5G'") != std::string::npos);
  CHECK_FALSE(parse_bit_rate("100X"));
  CHECK_FALSE(parse_bit_rate(""));
  CHECK_FALSE(parse_bit_rate("-1G"));
  CHECK_FALSE(parse_bit_rate("nan"));
  const SplitSettings split = split_settings({{"batch", "8"}, {"fabric.latency_us", "2"}});
  CHECK(split.workload == Settings{{"batch", "8"}});
  CHECK(split.fabric == Settings{{"latency_us", "2"}});
}

TEST_CASE("a_faulty_job_is_refused") {
  const auto model = make_fabric_model("ideal-switch", gigabits(100), 4, {});
  REQUIRE(model);
  JobSpec job;
  job.node_count = 4;
  job.collectives = {{.ranks = {0, 9}, .bytes = Bytes{1}}};
  CHECK(predict(job, {*model}).error().code == ErrorCode::invalid_argument);
  job.node_count = 0;
  CHECK(predict(job, {*model}).error().code == ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace loom

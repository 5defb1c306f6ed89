// SPDX-License-Identifier: Apache-2.0
// The model zoo against published totals, and settings that are refused by name.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <numeric>

#include "controller/workload/models/layers.hpp"
#include "controller/workload/models/zoo.hpp"

namespace loom {
namespace {

std::int64_t bytes_of(const JobSpec& job) {
  return std::accumulate(job.collectives.begin(), job.collectives.end(), std::int64_t{0},
                         [](std::int64_t sum, const Collective& c) { return sum + c.bytes.count * c.count; });
}

Result<JobSpec> job_of(std::string_view name, Settings values, std::uint32_t nodes = 1024) {
  return make_workload(name, {nodes, std::move(values)});
}

TEST_CASE("parameters_equal_the_published_totals_to_the_last") {
  CHECK(parameters_of(vgg16_layers()) == 138'357'544);
  CHECK(parameters_of(vgg19_layers()) == 143'667'240);
  CHECK(parameters_of(resnet50_layers()) == 25'557'032);
}

TEST_CASE("multiply_accumulates_agree_with_the_published_figures") {
  CHECK(multiply_accumulates_of(vgg16_layers()) / 1'000'000 == 15'470);
  CHECK(multiply_accumulates_of(vgg19_layers()) / 1'000'000 == 19'632);
  CHECK(multiply_accumulates_of(resnet50_layers()) / 1'000'000 == 4'089);
}

TEST_CASE("single_layers_agree_with_the_published_tables") {
  const auto vgg = vgg19_layers();
  REQUIRE(vgg.size() == 19);
  CHECK(vgg[0].parameters == 1792);
  CHECK(vgg[4].parameters == 295'168);
  CHECK(vgg[16].name == "fc6");
  CHECK(vgg[16].parameters == 102'764'544);
  const auto resnet = resnet50_layers();
  REQUIRE(resnet.size() == 18);
  CHECK(resnet[0].parameters == 9536);
  CHECK(resnet[1].parameters == 75'008);
  CHECK(resnet[14].name == "layer4.0");
  CHECK(resnet[14].parameters == 6'039'552);
  CHECK(resnet[17].parameters == 2'049'000);
}

TEST_CASE("every_gradient_is_reduced_once_whatever_the_buckets") {
  for (const char* bucket_mb : {"0", "1", "25", "100", "100000"}) {
    const auto job = job_of("vgg19", {{"bucket_mb", bucket_mb}});
    REQUIRE(job);
    CHECK(bytes_of(*job) == 574'668'960);
  }
  const auto serial = job_of("vgg19", {{"overlap", "none"}});
  REQUIRE(serial);
  REQUIRE(serial->collectives.size() == 1);
  CHECK(serial->collectives[0].bytes.count == 574'668'960);
  CHECK(serial->collectives[0].ready == kForever);
}

TEST_CASE("buckets_become_ready_in_reverse_layer_order_within_the_backward_pass") {
  const auto job = job_of("vgg19", {});
  REQUIRE(job);
  CHECK(job->compute == std::chrono::milliseconds{64});
  Duration before = job->compute / 3;
  for (const Collective& bucket : job->collectives) {
    CHECK(bucket.kind == CollectiveKind::all_reduce);
    CHECK(bucket.ready >= before);
    before = bucket.ready;
  }
  CHECK(before == job->compute);
  CHECK(job->collectives[0].bytes.count == 4 * (4'097'000 + 16'781'312));  // fc8 and fc7
  CHECK(job->collectives[1].bytes.count == 4 * 102'764'544);               // fc6 alone fills a bucket
}

TEST_CASE("compute_time_is_a_named_input") {
  const auto inferred = job_of("vgg19", {});
  REQUIRE(inferred);
  CHECK(inferred->assumptions[0].find("A100") != std::string::npos);
  CHECK(inferred->assumptions[0].find("64.000") != std::string::npos);
  const auto given = job_of("vgg19", {{"compute_ms", "127.5"}});
  REQUIRE(given);
  CHECK(given->compute == std::chrono::microseconds{127'500});
  CHECK(given->assumptions[0].find("given") != std::string::npos);
  const auto doubled = job_of("vgg19", {{"batch", "64"}});
  REQUIRE(doubled);
  CHECK(doubled->compute == std::chrono::milliseconds{128});
}

TEST_CASE("dlrm_moves_embeddings_both_ways_and_reduces_its_mlps") {
  const auto job =
      job_of("dlrm", {{"l", "128"}, {"tables", "64"}, {"dim", "128"}, {"bottom", "2048-2048"}, {"top", "16-1"}}, 64);
  REQUIRE(job);
  REQUIRE(job->collectives.size() == 4);
  CHECK(job->collectives[0].kind == CollectiveKind::all_to_all);
  CHECK(job->collectives[0].bytes.count == 128 * 64 * 128 * 4);
  CHECK(job->collectives[1].bytes == job->collectives[0].bytes);
  CHECK(job->collectives[0].needed <= job->compute / 3);
  const std::int64_t interaction = 65 * 64 / 2 + 128;
  CHECK(job->collectives[2].bytes.count == 4 * (interaction * 16 + 16 + 16 + 1));
  CHECK(job->collectives[3].bytes.count == 4 * (2048 * 2048 + 2048 + 2048 * 128 + 128));
}

TEST_CASE("an_unknown_setting_is_refused_with_the_nearest_one") {
  const auto job = job_of("vgg19", {{"overlp", "none"}});
  REQUIRE_FALSE(job);
  CHECK(job.error().code == ErrorCode::invalid_argument);
  CHECK(job.error().message.find("'overlp'") != std::string::npos);
  CHECK(job.error().message.find("'overlap'") != std::string::npos);
}

TEST_CASE("an_unknown_workload_is_refused_with_the_nearest_one") {
  const auto job = job_of("vg19", {});
  REQUIRE_FALSE(job);
  CHECK(job.error().code == ErrorCode::not_found);
  CHECK(job.error().message.find("'vgg19'") != std::string::npos);
}

TEST_CASE("unlawful_values_are_refused") {
  CHECK(job_of("vgg19", {{"batch", "0"}}).error().code == ErrorCode::out_of_range);
  CHECK(job_of("vgg19", {{"batch", "3x"}}).error().code == ErrorCode::invalid_argument);
  CHECK(job_of("vgg19", {{"compute_ms", "nan"}}).error().code == ErrorCode::out_of_range);
  CHECK(job_of("vgg19", {{"compute_ms", "-1"}}).error().code == ErrorCode::out_of_range);
  CHECK(job_of("vgg19", {{"overlap", "some"}}).error().code == ErrorCode::invalid_argument);
  CHECK(job_of("dlrm", {{"l", "1"}, {"batch", "1"}}).error().code == ErrorCode::invalid_argument);
  CHECK(job_of("dlrm", {{"top", "12--3"}}).error().code == ErrorCode::invalid_argument);
  CHECK(job_of("dlrm", {{"top", "12-0"}}).error().code == ErrorCode::out_of_range);
  CHECK(job_of("dlrm", {{"top", ""}}).error().code == ErrorCode::invalid_argument);
  CHECK(job_of("vgg19", {}, 0).error().code == ErrorCode::out_of_range);
  CHECK(job_of("vgg19", {}, 65'537).error().code == ErrorCode::out_of_range);
}

TEST_CASE("settings_are_read_as_key_equals_value") {
  const std::vector<std::string> texts{"a=1", "b=x=y"};
  const auto settings = parse_settings(texts);
  REQUIRE(settings);
  CHECK(settings->at("b") == "x=y");
  CHECK_FALSE(parse_settings(std::vector<std::string>{"a"}));
  CHECK_FALSE(parse_settings(std::vector<std::string>{"=1"}));
  CHECK_FALSE(parse_settings(std::vector<std::string>{"a=1", "a=2"}));
}

}  // namespace
}  // namespace loom

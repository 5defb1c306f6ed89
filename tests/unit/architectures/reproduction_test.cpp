// SPDX-License-Identifier: Apache-2.0
// Published figures: every row that is judged lies within what was accepted before it was run, but for those whose reason
// docs/reproduction.md gives.
#include "controller/arena/reproduction/reproduction.hpp"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <map>

#include "controller/arena/reproduction/oddl_claims.hpp"
#include "core/config/calibration_file.hpp"
#include "tests/skip.hpp"

namespace loom {
namespace {

std::string data_folder() {
  const char* folder = std::getenv("LIGHTLOOM_DATA");
  return folder != nullptr ? folder : LOOM_SOURCE_DIR "/../shared/data";
}

void check_target(std::string_view target) {
  const auto figures = reproduce(target, data_folder());
  if (!figures && figures.error().code == ErrorCode::not_found) {
    return testing::skip(std::string(target) + ": " + figures.error().message);
  }
  INFO((figures ? std::string{} : figures.error().message));
  REQUIRE(figures);
  CHECK_FALSE(figures->empty());
  for (const Figure& figure : *figures) {
    INFO(figure.target << " " << figure.what << ": " << figure.ours << figure.our_words);
    CHECK((!figure.is_judged() || figure.is_within()));
  }
}

TEST_CASE("published_figures_come_out_within_the_tolerances_written_down_before") {
  for (const std::string_view target : reproducible_targets()) {
    if (target != "T7" && target != "T8" && target != "T15" && target != "T16") {
      check_target(target);
    }
  }
}

// T15 takes minutes: `loom reproduce T15`.
TEST_CASE("candles_strategy_is_found_and_serves_a_shared_cluster") {
  check_target("T7");
  check_target("T8");
}

TEST_CASE("a_faster_reconfiguration_than_20_us_is_worth_little") { check_target("T16"); }

TEST_CASE("a_target_that_nobody_knows_is_refused_with_the_known_ones") {
  const auto figures = reproduce("T99", ".");
  REQUIRE_FALSE(figures);
  CHECK(figures.error().code == ErrorCode::invalid_argument);
  CHECK(figures.error().message.find("T13") != std::string::npos);
}

TEST_CASE("a_target_without_its_files_says_what_it_needs_and_how_to_give_it") {
  for (const char* folder : {"", "/absent"}) {
    const auto figures = reproduce("T4", folder);
    REQUIRE_FALSE(figures);
    CHECK(figures.error().code == ErrorCode::not_found);
    CHECK(figures.error().message.find("traces/topoopt/100vgg_16.fbuf") != std::string::npos);
    CHECK(figures.error().message.find("--data FOLDER") != std::string::npos);
  }
}

TEST_CASE("the_claim_is_read_calibrated_uncalibrated_and_as_chosen_and_only_the_calibrated_reading_is_judged") {
  const auto figures = reproduce("T13", "");
  REQUIRE(figures);
  CHECK(figures->size() == 3 * (1 + kSipRingVariants.size()) + 1);  // of the oversubscribed tree nothing but the tree
  std::map<std::string, std::size_t> rows;
  for (const Figure& figure : *figures) {
    const std::string reading = figure.what.substr(0, figure.what.find(": VGG19"));
    ++rows[reading];
    CHECK((!figure.is_judged() || reading == "calibrated reconstruction"));
    CHECK((figure.label == "chosen") == reading.starts_with("chosen: "));
  }
  CHECK(rows == std::map<std::string, std::size_t>{{"calibrated reconstruction", 5},
                                                   {"uncalibrated", 5},
                                                   {"chosen: no overlap", 5},
                                                   {"chosen: no overlap, fat-tree 2:1 oversubscribed", 1}});
  for (const Figure& figure : *figures) {
    const bool is_tree = figure.what.find("fat-tree (") != std::string::npos;
    const bool has_note = std::any_of(figure.assumptions.begin(), figure.assumptions.end(), [](const std::string& each) {
      return each.find("without latency on either side") != std::string::npos;
    });
    CHECK(is_tree == has_note);
  }
  CHECK(std::count_if(figures->begin(), figures->end(), [](const Figure& each) { return each.is_judged(); }) == 2);
  const auto& assumed = figures->front().assumptions;
  CHECK(std::any_of(assumed.begin(), assumed.end(), [](const auto& each) { return each.find("0.444") != std::string::npos; }));
}

TEST_CASE("a_sweeps_point_where_the_rows_stand_is_the_row_and_more_compute_makes_every_fabric_more_alike") {
  const auto figures = reproduce("T13", "");
  const std::array<double, 3> compute{50, 100, 200};
  const auto sweep = sweep_compute_time(compute);
  REQUIRE(figures);
  REQUIRE(sweep);
  for (std::size_t i = 0; i < sweep->lines.size(); ++i) {
    const std::vector<double>& values = sweep->lines[i].values;
    CHECK(values[1] == (*figures)[i].ours);
    CHECK(std::abs(values[0] - 1) >= std::abs(values[1] - 1));  // a rival without stops is a little below 1
    CHECK(std::abs(values[1] - 1) >= std::abs(values[2] - 1));
  }
}

TEST_CASE("a_better_fat_tree_brings_its_ratio_down_and_moves_no_ring") {
  const std::array<double, 2> efficiencies{0.444, 0.8};
  const auto sweep = sweep_tree_efficiency(efficiencies);
  REQUIRE(sweep);
  CHECK(sweep->lines[0].values[0] > sweep->lines[0].values[1]);
  for (std::size_t i = 1; i < sweep->lines.size(); ++i) {
    CHECK(sweep->lines[i].values[0] == sweep->lines[i].values[1]);
  }
}

TEST_CASE("tuning_time_moves_all_to_alls_and_leaves_a_ring_alone") {
  const std::array<double, 3> tunings{0.001, 10, 10'000};
  const auto sweep = sweep_tuning_time(tunings);
  REQUIRE(sweep);
  REQUIRE(sweep->lines.size() == 2 * kGrantedWorkloads.size());
  for (const SweepLine& line : sweep->lines) {
    INFO(line.name);
    const bool is_ring = line.name.starts_with("VGG19");
    CHECK((line.values[0] == line.values[1]) == is_ring);
    CHECK((line.values[1] > line.values[2]) != is_ring);
  }
}

TEST_CASE("the_calibration_file_has_the_knobs_that_the_claims_are_reproduced_with") {
  const auto file = load_calibration(LOOM_SOURCE_DIR "/configs/calibration/oddl_paper.yaml");
  REQUIRE(file);
  const Settings& knobs = oddl_calibration();
  CHECK(Settings(file.value->settings.begin(), file.value->settings.end()) == knobs);
}

}  // namespace
}  // namespace loom

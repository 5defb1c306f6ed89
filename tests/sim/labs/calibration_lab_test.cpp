// SPDX-License-Identifier: Apache-2.0
// A lab of real processes whose rings are not what their fabric says, worked as an operator would.
#include <catch2/catch.hpp>
#include <cmath>

#include "tests/sim/labs/lab.hpp"

using namespace loom;
using namespace loom::test;
using Catch::Matchers::Contains;

namespace {

std::size_t lit_circuits(const Lab& lab) {
  const auto answer = lab.ask("circuit list");
  return static_cast<std::size_t>(std::ranges::count(answer["circuits"], "lit", [](const auto& row) { return row["light"]; }));
}

bool comes_to_light(const Lab& lab) {
  const Instant begin = monotonic_now();
  while (monotonic_now() - begin < std::chrono::seconds{20}) {
    const std::size_t circuits = lab.ask("circuit list")["circuits"].size();
    if (circuits > 0 && lit_circuits(lab) == circuits) {
      return true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{100});
  }
  return false;
}

}  // namespace

TEST_CASE("a lab whose rings nobody has measured is lit after one command") {
  const Lab lab;
  const Finished up = lab.run("lab up " LOOM_SOURCE_DIR "/configs/examples/rings_4.yaml");
  INFO(up.words);
  REQUIRE(up.code == 0);

  const Finished early = lab.run("job submit dlrm --nodes 4 --name early --wait --timeout 2s");
  CHECK(early.code == 124);  // nobody knows where its rings stand: it does not come to light
  CHECK_THAT(early.words, Contains("was never calibrated"));
  CHECK(lit_circuits(lab) == 0);
  CHECK_THAT(lab.run("circuit list").output, Contains("was never calibrated"));
  CHECK_THAT(lab.run("ring show ring-3").output, Contains("ring-3") && !Contains("ring-1"));
  const Finished busy = lab.run("device calibrate heater-0");
  CHECK(busy.code == 3);
  CHECK_THAT(busy.words, Contains("ring-0"));
  REQUIRE(lab.run("job cancel early --wait").code == 0);

  const auto rows = lab.ask("device show heater-0");
  CHECK(rows["devices"][0]["calibration"].is_null());
  const auto measured = lab.ask("device calibrate --all --wait");
  CHECK(measured["rings"] == 8);
  CHECK(measured["troubles"].empty());
  CHECK(measured["residual_ghz"] < 2.0);
  const auto heater = lab.ask("device show heater-0")["devices"][0];
  CHECK(heater["calibration"]["version"] == 1);
  CHECK(heater["calibration"]["age_s"] < 60.0);
  CHECK(heater["calibration"]["residual_ghz"] <= measured["residual_ghz"]);
  CHECK(heater["received_dbm"].is_number());
  CHECK(lab.ask("calibration list")["calibrations"].size() == 4);
  double furthest = 0;
  const auto diff = lab.ask("calibration diff heater-0");
  CHECK(diff["rings"].size() == 2);
  for (const auto& ring : diff["rings"]) {
    furthest = std::max(furthest, std::abs(ring["cold_resonance_ghz"].get<double>()));
  }
  CHECK(furthest > 10);

  const auto fibres = lab.ask("fibre check");
  CHECK(fibres["checked"] == 8);
  CHECK(fibres["findings"].empty());

  const auto lasers = lab.ask("device calibrate --lasers --wait");
  CHECK(lasers["troubles"].empty());
  CHECK(lasers["lasers"] == 8);
  const auto calibrations = lab.ask("calibration list")["calibrations"];
  REQUIRE(calibrations.size() == 12);
  for (const auto& row : calibrations) {
    for (const auto& channel : row["channels"]) {
      CHECK(std::abs(channel["offset_db"].get<double>()) < 1.0);  // a photodiode's steps, and a ring's slope beside its top
    }
  }
  const auto laser = std::ranges::find_if(calibrations, [](const auto& row) { return row["rings"].empty(); });
  REQUIRE(laser != calibrations.end());
  CHECK((*laser)["residual_ghz"].is_null());
  const std::string name = (*laser)["name"];
  CHECK_THAT(lab.run("calibration show " + name).output, Contains("beside its figures"));
  CHECK(lab.ask("calibration diff " + name)["against"] == "the fabric's figures");

  REQUIRE(lab.run("job submit dlrm --nodes 4 --name late --wait").code == 0);
  CHECK(comes_to_light(lab));
  REQUIRE(lab.run("lab restart controller").code == 0);  // what was measured is kept
  CHECK(comes_to_light(lab));
  CHECK(lab.ask("device show heater-0")["devices"][0]["calibration"]["version"] == 1);
}

// SPDX-License-Identifier: Apache-2.0
// Two plays of one graph that must come to the same, part by part and link by link.
#pragma once

#include <catch2/catch.hpp>

#include "controller/predict/engine/predictor.hpp"

namespace loom::random_graphs {

/// Runs both; returns the iteration.
inline double require_same_play(Predictor& quick, Predictor& slow) {
  const auto quick_time = quick.run();
  const auto slow_time = slow.run();
  REQUIRE(quick_time);
  REQUIRE(slow_time);
  REQUIRE(*quick_time == Approx(*slow_time).epsilon(1e-9));
  for (std::size_t part = 0; part < quick.parts().size(); ++part) {
    CAPTURE(part, quick.network().name);
    REQUIRE(quick.parts()[part].start == Approx(slow.parts()[part].start).epsilon(1e-9).margin(1e-6));
    REQUIRE(quick.parts()[part].finish == Approx(slow.parts()[part].finish).epsilon(1e-9).margin(1e-6));
  }
  const auto carried = quick.carried();
  const auto carried_slowly = slow.carried();
  for (std::size_t link = 0; link < carried.size(); ++link) {
    REQUIRE(carried[link] == Approx(carried_slowly[link]).epsilon(1e-7).margin(1e-3));
  }
  return *quick_time;
}

}  // namespace loom::random_graphs

// SPDX-License-Identifier: Apache-2.0
// Figures of ODDL's fast plane, played on the senders and arbiters themselves: the four-node testbed against the ideal switch
// (T14), and how it and T13's ratios hang on tuning time and control latency. controller/schedule cannot make them, as the
// machines are the agents'. Virtual time; a function of the seeds. oddl (reconstruction).
#pragma once

#include <array>
#include <span>
#include <vector>

#include "controller/arena/reproduction/reproduction.hpp"
#include "controller/arena/reproduction/sweep.hpp"
#include "core/result.hpp"

namespace loom {

/// us; 0.1 us to 10 ms.
inline constexpr std::array<double, 11> kControlLatencies{0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000, 3000, 10000};
/// us; 1 ns to 10 ms.
inline constexpr std::array<double, 15> kTestbedTunings{0.001, 0.003, 0.01, 0.03, 0.1,  0.3,  1,    3,
                                                        10,    30,    100,  300,  1000, 3000, 10000};

/// T14's rows. Errors: of the workloads and of the play; internal (a stream was given up, or light met light).
Result<std::vector<Figure>> granted_testbed();

/// The testbed's slow-down in % against the lasers' tuning time, in us.
Result<Sweep> sweep_testbed_tuning(std::span<const double> tune_us = kTestbedTunings);
/// The same against the one-way latency of the control channel, in us.
Result<Sweep> sweep_testbed_control(std::span<const double> control_us = kControlLatencies);
/// T13's rivals over granted ODDL, one group of 32 nodes, against the control channel's latency in us.
Result<Sweep> sweep_control_latency(std::span<const double> control_us = kControlLatencies);

}  // namespace loom

// SPDX-License-Identifier: Apache-2.0
// What a study of a cluster draws, and how its figures are summed up: shares of a mix, exponential gaps, servers, percentiles.
// Generators are handed in; the same seed draws the same everywhere.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace loom {

/// 0 .. 1, without 1.
double unit(std::mt19937_64& random);
/// By inversion: - mean x ln(1 - u).
double exponential(double mean, double unit);
/// An index, each as often as its part of the sum. Precondition: a sum above 0.
std::size_t drawn_by_share(std::span<const double> shares, std::mt19937_64& random);
/// Every order as likely as any other (Fisher-Yates, but for the rest of a division).
void shuffle(std::vector<std::uint32_t>& values, std::mt19937_64& random);

/// Of the values, the least that `part` of them do not exceed (nearest rank). Precondition: not empty.
double percentile(std::vector<double> values, double part);
double mean(std::span<const double> values);

}  // namespace loom

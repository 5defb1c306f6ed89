// SPDX-License-Identifier: Apache-2.0
// A map of who holds the wavelengths of rings: a column a segment between neighbouring nodes, a row a wavelength of one
// direction of one ring. Values in, a drawing out.
#pragma once

#include <string>

#include "cli/render/figure.hpp"
#include "controller/architectures/sip_ring/occupancy.hpp"

namespace loom::cli {

/// Columns, and rows, that a map has at most: a column is a pixel then.
inline constexpr std::size_t kOccupancyNodesMax = 1'024;
inline constexpr std::size_t kOccupancyRowsMax = 1'024;

/// Errors: unsupported (more nodes or wavelengths than that), with both numbers.
Result<void> check(const RingOccupancy& map);

/// A colour a job, in two shades, so that neighbouring circuits of a row are told apart where a circuit is three pixels wide or
/// wider; narrower ones of one job run together into one rectangle. The caption begins with the sums. Precondition: check().
svg::Drawing draw(const RingOccupancy& map, const std::string& title);

/// A row a cell that is held.
std::string csv_of(const RingOccupancy& map);

/// How full the rings are, as sentences.
std::vector<std::string> sentences_of(const RingOccupancy& map);

}  // namespace loom::cli

// A drawing as a file: SVG as it is drawn, or the same drawing as PDF.
#pragma once

#include <string>

#include "core/result.hpp"

namespace loom::cli {

/// `.pdf` is written as PDF (vectors and text, not pixels), anything else as the SVG that it is. Errors: storage (it cannot be
/// written), internal (the SVG is none).
Result<void> write_figure(const std::string& path, const std::string& svg);

/// "a.svg" or "a.pdf" makes "a.csv".
std::string data_path(const std::string& figure);

/// A cell of CSV: quoted where it must be.
std::string csv_cell(const std::string& text);

}  // namespace loom::cli

// SPDX-License-Identifier: Apache-2.0
// A drawing as files: SVG as it is drawn, or the same drawing as PDF; beside it the CSV behind it, and its caption as text
// where that is not drawn.
#pragma once

#include <string>
#include <vector>

#include "cli/output_file.hpp"
#include "cli/render/svg.hpp"
#include "core/result.hpp"

namespace loom::cli {

struct Picture {
  svg::Drawing drawing;
  std::string csv;
};

/// Where a figure goes.
struct PictureFiles {
  std::string option = "--plot";  ///< that named it, for errors
  std::string picture;            ///< NAME.svg or NAME.pdf; empty: only the CSV is written
  std::string data{};             ///< CSV; empty: NAME.csv
  bool has_caption = true;        ///< false: nothing stands below the drawing, NAME.caption.txt has it
};

/// Before anything is computed. Errors: invalid_argument (a name that ends otherwise, one file for both), storage (a folder
/// that is not there), each naming option and file.
Result<void> check(const PictureFiles& files);

/// What was written, for people. PDF is vectors and text, not pixels. Errors: those of check(); storage (a file cannot be
/// written), internal (the drawing is no SVG).
Result<std::string> write(const PictureFiles& files, const Picture& picture);

/// Errors: internal (`svg` is none).
Result<std::string> pdf_of(const std::string& svg);

/// All that write() would write, for check_apart().
std::vector<NamedFile> written_files(const PictureFiles& files);

/// "a.svg" or "a.pdf" makes "a.csv".
std::string data_path(const std::string& figure);

/// A cell of CSV: quoted where it must be (RFC 4180).
std::string csv_cell(const std::string& text);

}  // namespace loom::cli

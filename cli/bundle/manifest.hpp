// SPDX-License-Identifier: Apache-2.0
// What a run bundle says of itself: manifest.json (docs/bundles.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/bundle/archive.hpp"

namespace loom::cli {

inline constexpr const char* kManifestName = "manifest.json";

struct BundleFile {
  std::string path;      ///< in the archive
  std::string role;      ///< input, answer, output, figure
  std::string named_by;  ///< of inputs: the option, "argument", or the file that names it
  std::size_t bytes = 0;
  std::string sha256;
};

/// What the comparison leaves out: a key of JSON or column of CSV, or files by the end of their name.
struct BundleRule {
  std::string key;  ///< empty: it is about files
  std::string suffix;
  std::string why;
};

struct BundleManifest {
  std::string version;               ///< of the program that made it
  std::vector<std::string> command;  ///< without the program's name
  std::string folder;                ///< where it ran, below inputs/; empty: inputs/ itself
  std::vector<std::string> folders;  ///< that must be there when it runs, below inputs/
  std::optional<std::string> seed;   ///< as the command line has it
  int exit_code = 0;
  std::vector<BundleFile> files;
  std::vector<BundleRule> not_compared;
};

/// Times that this program took on that machine, and what fonts change.
const std::vector<BundleRule>& bundle_rules();

std::string text_of(const BundleManifest& manifest);

/// Errors: malformed (no JSON, a key that lacks or is of another kind: which), unsupported (a later form), refused (a path that
/// leads out).
Result<BundleManifest> manifest_of(const std::string& text);

/// Every file is listed, has its length and its digest. Errors: refused, naming the first that does not.
Result<void> check_digests(const BundleManifest& manifest, const BundleContents& contents);

}  // namespace loom::cli

// SPDX-License-Identifier: Apache-2.0
// A search on disk: JSON, whole or refused. A file of another kind, model, measurement or version says which it is.
#pragma once

#include <filesystem>
#include <string>

#include "cli/plan/search.hpp"

namespace loom::cli {

std::string text_of(const Search& search);
/// `source` names it in errors. Errors: malformed (not JSON, cut short, a field missing or of another type), wrong_version,
/// invalid_argument (a JSON file that is no search, or values that no search can have).
Result<Search> read_search(const std::string& text, const std::string& source);

/// Written beside it first and then renamed, so that there is always a whole one. Errors: storage.
Result<void> save_search(const std::filesystem::path& path, const Search& search);
/// Errors: not_found, out_of_range (kConfigFileBytes), and as read_search.
Result<Search> load_search(const std::filesystem::path& path);

/// Hex digest of what was measured: of the operators' times as the search uses them.
std::string digest_of(const OpTimes& times);

}  // namespace loom::cli

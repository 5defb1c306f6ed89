// SPDX-License-Identifier: Apache-2.0
// Reading: rows of the controller, listed or one of them, as a table or JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/command_line.hpp"
#include "core/messages/operator.hpp"
#include "core/messages/report_fields.hpp"

namespace loom::cli {

/// Rows of a reply, on stdout.
void print_rows(const Globals& globals, const OperatorReply& reply);

/// All rows, or the one that a number or a name stands for (not_found complains and fails); an empty word: all.
int show(const Globals& globals, Noun noun, const std::string& word = {});

/// A positional argument that is a number or a name.
void add_named(CLI::App& verb, const std::string& placeholder, std::string& word, const std::string& what);

/// `loom NOUN list` and `loom NOUN show NOUN`. `what`: "nodes and their agents", instead of the plural. `footer`: below the
/// help of the noun and of its verbs.
CLI::App& add_reading(CLI::App& app, CommandLine& line, const ListName& name, const std::string& what = {},
                      const std::string& footer = {});

}  // namespace loom::cli

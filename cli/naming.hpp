// SPDX-License-Identifier: Apache-2.0
// What a command line names: a number, or a name that stands for one. Numbers are taken as they are; a name is looked up among
// the rows that the controller lists.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/messages/operator.hpp"
#include "core/result.hpp"

namespace loom::cli {

class Connection;

/// A row as far as it can be named.
struct NamedRow {
  std::uint64_t id = 0;
  std::string name;
  bool is_over = false;  ///< a job that has ended: it is meant only where no other of its name runs
};

/// The row that `word` stands for. `what`: of what kind it is, in a sentence ("node").
/// Errors: not_found, with the nearest name; invalid_argument, with the ids of all that have this name.
Result<std::uint64_t> pick(std::string_view what, const std::string& word, const std::vector<NamedRow>& rows);

/// Digits are the number; else asks the controller for the rows of `noun`: nodes, devices and jobs by name, circuits as
/// FROM:TO, alarms by what they are about. Errors: as pick; those of the connection.
Result<std::uint64_t> find_id(Connection& connection, Noun noun, const std::string& word);

/// The names that find_id knows, for completion; those that stand for more than one row are left out.
Result<std::vector<std::string>> names_known(Connection& connection, Noun noun);

}  // namespace loom::cli

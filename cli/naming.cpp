// SPDX-License-Identifier: Apache-2.0
// Words to numbers.
#include "cli/naming.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

#include "cli/connection.hpp"
#include "cli/render/columns.hpp"
#include "cli/render/term.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

constexpr std::size_t kIdsNamed = 8;

std::optional<std::uint64_t> number_of(const std::string& word) {
  std::uint64_t value = 0;
  const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), value);
  return problem == std::errc{} && end == word.data() + word.size() ? std::optional(value) : std::nullopt;
}

/// A row that has a number begins with it.
template <DescribedRow Row>
std::optional<std::uint64_t> number_of(const Row& row) {
  return RowFields<Row>::kFields([&](const auto& first, const auto&...) -> std::optional<std::uint64_t> {
    if constexpr (requires { (row.*first.member).value; }) {
      return (row.*first.member).value;
    }
    return std::nullopt;
  });
}

template <class Row>
NamedRow named(const Row& row) {
  if constexpr (requires { row.circuit.source; }) {
    return {row.circuit.id.value, format_text("{}:{}", row.circuit.source.value, row.circuit.destination.value)};
  } else if constexpr (requires { row.alarm.code; }) {
    return {row.id.value, value_text(row.alarm.code)};
  } else if constexpr (requires {
                         row.job;
                         row.name;
                         row.state;
                       }) {
    return {row.job.value, row.name, row.state == "ended" || row.state == "refused"};
  } else if constexpr (DescribedRow<Row> && requires { row.name; }) {
    const auto number = number_of(row);
    return number ? NamedRow{*number, row.name} : NamedRow{};
  } else {
    return {};  // it has no name
  }
}

std::vector<NamedRow> rows_of(const OperatorReply& reply) {
  return std::visit(
      []<class Rows>(const Rows& rows) {
        std::vector<NamedRow> all;
        if constexpr (requires { rows.begin(); }) {
          for (const auto& row : rows) {
            all.push_back(named(row));
          }
        }
        std::erase_if(all, [](const NamedRow& row) { return row.name.empty(); });
        return all;
      },
      reply.rows);
}

std::string_view word_of(Noun noun) {
  switch (noun) {
    case Noun::nodes:
      return "node";
    case Noun::devices:
    case Noun::calibrations:
      return "device";
    case Noun::jobs:
    case Noun::schedules:
      return "job";
    case Noun::circuits:
    case Noun::explanation:
      return "circuit";
    case Noun::alarms:
      return "alarm";
    case Noun::rings:
      return "ring";
    case Noun::receivers:
      return "receiver";
    case Noun::ways:
      return "way";
    default:
      return "row";
  }
}

/// Whose rows have the names: a circuit is explained, and a job's schedule shown, by the names of circuits and jobs.
Noun listed(Noun noun) {
  switch (noun) {
    case Noun::explanation:
      return Noun::circuits;
    case Noun::schedules:
      return Noun::jobs;
    case Noun::calibrations:
      return Noun::devices;
    default:
      return noun;
  }
}

}  // namespace

Result<std::uint64_t> pick(std::string_view what, const std::string& word, const std::vector<NamedRow>& rows) {
  std::vector<const NamedRow*> found;
  std::vector<std::string> names;
  for (const NamedRow& row : rows) {
    names.push_back(row.name);
    if (row.name == word) {
      found.push_back(&row);
    }
  }
  if (std::ranges::count(found, false, &NamedRow::is_over) == 1) {
    std::erase_if(found, [](const NamedRow* row) { return row->is_over; });
  }
  const std::string next = format_text("loom {} list", what);
  if (found.empty()) {
    const std::string near = nearest(word.substr(0, 128), names);
    return fail(ErrorCode::not_found,
                format_text("there is no {} '{}'{}", what, word.substr(0, 128),
                            near.empty() ? "" : format_text("; did you mean '{}'?", near)),
                next);
  }
  if (found.size() > 1) {
    std::string ids;
    for (std::size_t i = 0; i < std::min(found.size(), kIdsNamed); ++i) {
      ids += format_text("{}{}", i == 0 ? "" : ", ", found[i]->id);
    }
    return fail(ErrorCode::invalid_argument,
                format_text("'{}' is the name of {} {}s: {}{}; name one by its number", word, found.size(), what, ids,
                            found.size() > kIdsNamed ? ", ..." : ""),
                next);
  }
  return found.front()->id;
}

Result<std::uint64_t> find_id(Connection& connection, Noun noun, const std::string& word) {
  if (const auto number = number_of(word)) {
    return *number;
  }
  const auto reply = connection.ask(Query{listed(noun), {}});
  if (!reply) {
    return std::unexpected(reply.error());
  }
  return pick(word_of(noun), word, rows_of(*reply));
}

Result<std::vector<std::string>> names_known(Connection& connection, Noun noun) {
  const auto reply = connection.ask(Query{listed(noun), {}});
  if (!reply) {
    return std::unexpected(reply.error());
  }
  std::map<std::string, std::size_t> count;
  const std::vector<NamedRow> rows = rows_of(*reply);
  for (const NamedRow& row : rows) {
    count[row.name] += row.is_over ? 0U : 1U;
  }
  std::vector<std::string> names;
  for (const auto& [name, times] : count) {
    if (times == 1) {
      names.push_back(name);
    }
  }
  return names;
}

}  // namespace loom::cli

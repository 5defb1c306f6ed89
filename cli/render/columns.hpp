// SPDX-License-Identifier: Apache-2.0
// Rows as tables: a column is a header and what of a row stands in it. A row without columns of its own is printed by its field
// table (core/messages/report_fields.hpp), so that a new kind of row can be listed before anybody has given it a form.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cli/render/json.hpp"
#include "cli/render/term.hpp"
#include "core/fabric/grid.hpp"

namespace loom::cli {

/// "0-2,5", and how many there are where that is long.
std::string ranges_of(const std::vector<NodeId>& nodes);
/// "1,4"; "-": none.
std::string list_of(const std::vector<JobId>& jobs);

/// As a person reads it in a cell.
template <class Value>
std::string value_text(const Value& value) {
  if constexpr (std::is_same_v<Value, std::string>) {
    return value;
  } else if constexpr (std::is_same_v<Value, bool>) {
    return value ? "yes" : "no";
  } else if constexpr (std::is_arithmetic_v<Value>) {
    return std::to_string(value);
  } else if constexpr (std::is_same_v<Value, std::vector<NodeId>>) {
    return ranges_of(value);
  } else if constexpr (std::is_same_v<Value, std::vector<JobId>>) {
    return list_of(value);
  } else if constexpr (requires { value.has_value(); }) {
    return value.has_value() ? value_text(*value) : "-";
  } else if constexpr (requires { text_of(value); }) {
    return text_of(value);
  } else if constexpr (requires { to_string(value); }) {
    return std::string(to_string(value));
  } else if constexpr (requires { value.value; }) {
    return std::to_string(value.value);
  } else if constexpr (requires(Json parts) { spread(parts, value); }) {
    Json parts = Json::object();
    spread(parts, value);
    return parts.dump();
  } else {
    return value_json(value, {}).dump();
  }
}

template <class Row>
struct Column {
  const char* header;
  std::string (*cell)(const Row& row);
};

/// The cell of a member that is printed as its type is.
template <auto Member>
inline constexpr auto kCell = [](const auto& row) { return value_text(row.*Member); };

template <class Row, std::size_t N>
std::string table_of(const Column<Row> (&columns)[N], const std::vector<Row>& rows) {
  std::vector<std::string> header;
  for (const Column<Row>& column : columns) {
    header.emplace_back(column.header);
  }
  Table table(std::move(header));
  for (const Row& row : rows) {
    std::vector<std::string> cells;
    cells.reserve(N);
    for (const Column<Row>& column : columns) {
      cells.push_back(column.cell(row));
    }
    table.add(std::move(cells));
  }
  return table.text();
}

/// Every field that has a key, under its key without the unit.
template <ListedRow Row>
std::string text_of(const std::vector<Row>& rows) {
  std::vector<std::string> header;
  for_each_field<Row>([&](const auto& field) {
    std::string_view key = field.json;
    if (key != kNotShown && key != kSpread) {
      key.remove_suffix(key.ends_with("_ns") || key.ends_with("_ms") ? 3 : 0);
      header.emplace_back(key);
    }
  });
  Table table(std::move(header));
  for (const Row& row : rows) {
    std::vector<std::string> cells;
    for_each_field<Row>([&](const auto& field) {
      if (std::string_view(field.json) != kNotShown && std::string_view(field.json) != kSpread) {
        cells.push_back(value_text(row.*field.member));
      }
    });
    table.add(std::move(cells));
  }
  return table.text();
}

}  // namespace loom::cli

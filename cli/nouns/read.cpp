// SPDX-License-Identifier: Apache-2.0
// Ask, print.
#include "cli/nouns/read.hpp"

#include <algorithm>
#include <cstdio>
#include <type_traits>
#include <variant>

#include "cli/command_line.hpp"
#include "cli/connection.hpp"
#include "cli/naming.hpp"
#include "cli/nouns/nouns.hpp"
#include "cli/nouns/rows.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

std::size_t count_of(const OperatorReply& reply) {
  return std::visit(
      [](const auto& rows) -> std::size_t {
        using Rows = std::decay_t<decltype(rows)>;
        if constexpr (std::is_same_v<Rows, std::monostate>) {
          return 0;
        } else if constexpr (DescribedRow<Rows>) {
          return 1;
        } else {
          return rows.size();
        }
      },
      reply.rows);
}

/// Calls `visit` with the ListName of every kind of row that can be listed.
template <class Visit, class... Rows>
void for_each_list(Visit visit, std::type_identity<OneOf<std::monostate, Rows...>>) {
  const auto see = [&]<class Row>(std::type_identity<std::vector<Row>>) { visit(RowFields<Row>::kList); };
  const auto pass = [&]<class Rows_>(std::type_identity<Rows_> rows) {
    if constexpr (requires { see(rows); }) {
      see(rows);
    }
  };
  (pass(std::type_identity<Rows>{}), ...);
}

/// What there is one of.
std::string singular_of(Noun noun) {
  std::string word = "status";
  for_each_list([&](const ListName& name) { word = name.noun == noun ? name.singular : word; },
                std::type_identity<ReplyRows>{});
  return word;
}

}  // namespace

void print_rows(const Globals& globals, const OperatorReply& reply) {
  std::visit(
      [&](const auto& rows) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(rows)>, std::monostate>) {
          if (globals.json) {
            print(json_of(rows));
          } else {
            std::fputs(text_of(rows).c_str(), stdout);
          }
        }
      },
      reply.rows);
}

int show(const Globals& globals, Noun noun, const std::string& word_typed) {
  auto connection = Connection::open(globals);
  if (!connection) {
    return give_up(connection.error());
  }
  std::optional<std::uint64_t> id;
  if (!word_typed.empty()) {
    const auto found = find_id(*connection, noun, word_typed);
    if (!found) {
      return give_up(found.error());
    }
    id = *found;
  }
  const auto reply = connection->ask(Query{noun, id});
  if (!reply) {
    return give_up(reply.error());
  }
  const std::string word = singular_of(noun);
  if (id.has_value() && count_of(*reply) == 0) {
    return give_up({ErrorCode::not_found, format_text("there is no {} {}", word, *id)},
                   format_text("loom {}{}", word, noun == Noun::history ? "" : " list"));
  }
  if (count_of(*reply) == 0) {
    print_note(format_text("there is nothing to show: no {}{}", word, noun == Noun::circuits ? " is lit" : ""));
  }
  print_rows(globals, *reply);
  return kDone;
}

void add_named(CLI::App& verb, const std::string& placeholder, std::string& word, const std::string& what) {
  verb.add_option(placeholder, word, what)->required()->check([](const std::string& typed) {
    return typed.empty() ? std::string("an empty word names nothing") : std::string();
  });
}

CLI::App& add_reading(CLI::App& app, CommandLine& line, const ListName& name, const std::string& what,
                      const std::string& footer) {
  const std::string plural = what.empty() ? name.plural : what;
  const Noun noun = name.noun;
  CLI::App* group = app.add_subcommand(name.singular, "The controller's " + plural);
  group->require_subcommand(1);
  group->footer(footer);  // before the verbs, which take it over
  line.when(*group->add_subcommand("list", "All " + plural), [noun](const Globals& globals) { return show(globals, noun); });
  CLI::App* one = group->add_subcommand("show", "One of the " + plural);
  auto& word = line.keep<std::string>();
  std::string placeholder(name.singular);
  std::ranges::transform(placeholder, placeholder.begin(),
                         [](char c) { return static_cast<char>(c == ' ' ? '_' : c & ~0x20); });
  add_named(*one, placeholder, word,
            noun == Noun::circuits ? "Its number, or FROM:TO by the numbers of its nodes" : "Its number or name");
  line.when(*one, [noun, &word](const Globals& globals) { return show(globals, noun, word); });
  return *group;
}

void add_other_lists(CLI::App& app, CommandLine& line) {
  for_each_list(
      [&](const ListName& name) {
        const std::string noun = std::string(name.singular).substr(0, std::string(name.singular).find(' '));
        if (app.get_subcommands([&](const CLI::App* known) { return known->get_name() == noun; }).empty()) {
          add_reading(app, line, name);
        }
      },
      std::type_identity<ReplyRows>{});
}

}  // namespace loom::cli

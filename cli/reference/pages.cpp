// SPDX-License-Identifier: Apache-2.0
// Tables of the programs as pages.
#include "cli/reference/pages.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <map>
#include <sstream>

#include "cli/catalogue/catalogue.hpp"
#include "cli/options.hpp"
#include "cli/reference/config_keys.hpp"
#include "cli/reference/help.hpp"
#include "cli/render/term.hpp"
#include "core/text/format_text.hpp"
#include "runtime/program/program_page.hpp"

namespace loom::cli {
namespace {

/// A bar would end a cell.
std::string cell_of(const std::string& text) {
  std::string cell;
  for (const char c : text) {
    cell += c == '|' ? "\\|" : c == '\n' ? "<br>" : std::string(1, c);
  }
  return cell;
}

/// Paragraphs of at most so many columns; a list of code spans is not parted.
std::string wrapped(const std::string& text) {
  constexpr std::size_t kColumns = 118;
  std::string lines;
  std::size_t column = 0;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const bool is_first = lines.empty();
    const bool is_next = !is_first && column + 1 + word.size() > kColumns;
    lines += is_first ? "" : is_next ? "\n" : " ";
    column = is_first || is_next ? word.size() : column + 1 + word.size();
    lines += word;
  }
  return lines;
}

std::string in_code(const std::string& text) { return text.empty() ? "" : format_text("`{}`", text); }

std::string without_marks(std::string text) {
  std::erase(text, '`');
  return text;
}

Page exit_code_page() {
  PageTable table{"", "", "", {"code", "meaning"}, {}};
  for (const ExitCodeWords& each : exit_codes()) {
    table.rows.push_back({std::to_string(static_cast<int>(each.code)), std::string(each.meaning)});
  }
  return {"Exit codes",
          "How every command of `loom` ends; `loom job run` ends as its command does, 128 + n where signal n ended it.",
          {table}};
}

Page environment_page() {
  PageTable table{"", "", "", {"variable", "who", "meaning"}, {}};
  for (const EnvironmentWords& each : environment_words()) {
    table.rows.push_back({in_code(std::string(each.name)), std::string(each.who), std::string(each.meaning)});
  }
  return {"Environment",
          "Variables that you may set, or that a command of yours finds set. A flag has precedence over its variable.",
          {table}};
}

Page alarm_page() {
  Page page{"Alarms",
            "What each alarm of `loom alarm list` means, what causes it, and what to do. Its evidence names the device, the "
            "value and the "
            "limit, and its row what to type next.",
            {}};
  PageTable table{"", "", "", {"alarm", "meaning", "cause", "what to do"}, {}};
  for (const AlarmWords& each : alarm_words()) {
    table.rows.push_back({in_code(std::string(to_string(each.code))), std::string(each.meaning), std::string(each.cause),
                          std::string(each.remedy)});
  }
  page.tables.push_back(std::move(table));
  return page;
}

PageTable settings_table(std::string heading, std::string text, std::span<const SettingWords> words) {
  PageTable table{std::move(heading), std::move(text), "", {"key", "unit or words", "absent", "meaning"}, {}};
  for (const SettingWords& each : words) {
    table.rows.push_back(
        {in_code(std::string(each.key)), std::string(each.unit), std::string(each.absent), std::string(each.meaning)});
  }
  return table;
}

/// `jobs[].traffic[]`, with the words that tell it from others of its place.
std::string heading_of(const ConfigSection& section) {
  std::string text = section.kind + (section.path.empty() ? "" : format_text(": {}", section.path));
  return section.where.empty() ? text : format_text("{} ({})", text, section.where);
}

Page config_page() {
  Page page{"Keys of configuration files",
            "Every key of every kind of file, as `loom config keys [KIND] [KEY]` prints them: what it takes, in which range, "
            "what holds without it, "
            "and what it means. Types, ranges and defaults are the readers' own. A number has its unit behind it (`10 ms`, "
            "`100 GHz`); `loom "
            "config check FILE` names every error of a file.",
            {}};
  std::map<std::string, std::string> seen;  // maps that files share, by their keys
  for (const ConfigSection& section : config_sections()) {
    PageTable table{heading_of(section), section.summary + ".", "", {"key", "takes", "absent", "meaning"}, {}};
    std::string sum;
    for (const ConfigKey& key : keys_of(section)) {
      table.rows.push_back({in_code(key.key), key.takes, key.absent, key.meaning});
      sum += format_text("{}|{}|{}|{}\n", key.key, key.takes, key.absent, key.meaning);
    }
    const auto [first, is_new] = seen.emplace(sum, table.heading);
    if (!is_new) {
      table.rows.clear();
      table.text += format_text(" As {}.", in_code(first->second));
    }
    page.tables.push_back(std::move(table));
  }
  page.tables.push_back(settings_table(
      "settings of workloads",
      "`settings:` of jobs and `--set KEY=VALUE`; which of them a model has, and its defaults: `loom workload show NAME`.",
      workload_words()));
  page.tables.push_back(settings_table(
      "settings of compared fabrics",
      "`--set fabric.KEY=VALUE` of `loom predict` and `loom arena`; which of them a fabric has: `loom fabric show NAME`.",
      compare_words()));
  return page;
}

void add_command(const CLI::App& app, const std::string& path, std::vector<PageTable>& tables) {
  const auto subs = app.get_subcommands([](const CLI::App*) { return true; });
  std::string usage = path;
  PageTable table{path, "", "", {"argument", "default", "meaning"}, {}};
  bool takes_options = false;
  for (const CLI::Option* option : app.get_options([](const CLI::Option*) { return true; })) {
    const bool is_positional = option->get_positional();
    if (is_positional) {
      const std::string name = option->get_name(true);
      const std::string many = option->get_expected_max() > 1 ? name + " ..." : name;
      usage += option->get_required() ? format_text(" {}", many) : format_text(" [{}]", many);
    }
    const bool is_help = option->check_lname("help");
    takes_options = takes_options || (!is_positional && !is_help);
    if (!is_help) {
      const std::string required = option->get_required() ? "required" : "";
      table.rows.push_back({in_code(shape_of(*option)),
                            option->get_default_str().empty() ? required : in_code(option->get_default_str()),
                            option->get_description()});
    }
  }
  usage += takes_options ? " [OPTIONS]" : "";
  usage += subs.empty() ? "" : " COMMAND";
  table.text = app.get_description() + ".";
  table.usage = usage;
  tables.push_back(std::move(table));
  for (const CLI::App* sub : subs) {
    add_command(*sub, format_text("{} {}", path, sub->get_name()), tables);
  }
}

Page command_page(const CLI::App& app) {
  Page page{"Commands",
            "Every command of `loom`, as its `--help` has it. What stands under `loom` is understood by all of them.",
            {}};
  add_command(app, "loom", page.tables);
  return page;
}

struct Topic {
  std::string name;
  Page (*page)(const CLI::App& app);
};

const std::vector<Topic>& topics() {
  static const std::vector<Topic> kTopics{{"commands", command_page},
                                          {"config", [](const CLI::App&) { return config_page(); }},
                                          {"alarms", [](const CLI::App&) { return alarm_page(); }},
                                          {"exit-codes", [](const CLI::App&) { return exit_code_page(); }},
                                          {"environment", [](const CLI::App&) { return environment_page(); }}};
  return kTopics;
}

}  // namespace

std::string to_markdown(const Page& page) {
  std::string text = format_text("# {}\n\n{}\n", page.title, wrapped(page.text));
  for (const PageTable& table : page.tables) {
    text += table.heading.empty() ? "" : format_text("\n## {}\n", table.heading);
    text += table.text.empty() ? "" : format_text("\n{}\n", wrapped(table.text));
    text += table.usage.empty() ? "" : format_text("\n`{}`\n", table.usage);
    if (table.rows.empty()) {
      continue;
    }
    std::string header = "|";
    std::string line = "|";
    for (const std::string& column : table.columns) {
      header += format_text(" {} |", column);
      line += "---|";
    }
    text += format_text("\n{}\n{}\n", header, line);
    for (const auto& row : table.rows) {
      text += "|";
      for (const std::string& cell : row) {
        text += cell.empty() ? " |" : format_text(" {} |", cell_of(cell));
      }
      text += "\n";
    }
  }
  return text;
}

std::string to_text(const Page& page) {
  std::string text = format_text("{}\n", without_marks(page.text));
  for (const PageTable& table : page.tables) {
    text += format_text("\n{}{}", table.heading.empty() ? "" : table.heading + "\n",
                        table.text.empty() ? "" : without_marks(table.text) + "\n");
    Table rows(table.columns);
    for (std::vector<std::string> row : table.rows) {
      std::ranges::transform(row, row.begin(), without_marks);
      rows.add(std::move(row));
    }
    text += table.rows.empty() ? "" : rows.text();
  }
  return text;
}

const std::vector<std::string>& page_names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    std::ranges::transform(topics(), std::back_inserter(names), &Topic::name);
    return names;
  }();
  return kNames;
}

std::optional<std::string> page_of(const CLI::App& app, std::string_view name, bool markdown) {
  const auto topic = std::ranges::find(topics(), name, &Topic::name);
  // `loom help config` is the command's: its keys are `loom config keys`.
  const bool is_command = !app.get_subcommands([&](const CLI::App* sub) { return sub->get_name() == name; }).empty();
  if (topic == topics().end() || (is_command && !markdown)) {
    return std::nullopt;
  }
  const Page page = topic->page(app);
  return markdown ? to_markdown(page) : to_text(page);
}

}  // namespace loom::cli

// SPDX-License-Identifier: Apache-2.0
// CLI11's options as troff.
#include "runtime/program/program_page.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>

#include "core/message.hpp"
#include "core/text/format_text.hpp"
#include "core/text/version.hpp"

namespace loom {
namespace {

/// As groff shows it unchanged: hyphens are ASCII's, so that an option can be copied, and no line is taken for a request.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool begins_line = out.empty() || out.back() == '\n';
    switch (c) {
      case '\\':
        out += "\\e";
        break;
      case '-':
        out += "\\-";
        break;
      case '~':
        out += "\\(ti";
        break;
      case '^':
        out += "\\(ha";
        break;
      case '`':
        out += "\\(ga";
        break;
      case '.':
      case '\'':
        out += begins_line ? "\\&" : "";
        out += c == '\'' ? "\\(aq" : ".";
        break;
      default:
        out += c;
    }
  }
  return out;
}

/// An argument of a macro: one word.
std::string one_word(std::string_view text) {
  std::string out = "\"";
  for (const char c : escaped(text)) {
    out += c == '"' ? "\\(dq" : std::string(1, c);
  }
  return out + "\"";
}

void add_entry(std::string& out, const std::string& tag, const std::string& meaning) {
  out += format_text(".TP\n.B {}\n{}\n", one_word(tag), meaning.empty() ? "\\&" : escaped(meaning));
}

void add_options(std::string& out, const CLI::App& app) {
  for (const CLI::Option* option : app.get_options([](const CLI::Option* each) { return !each->get_group().empty(); })) {
    if (option->check_lname("help")) {
      continue;
    }
    std::string meaning = option->get_description();
    if (!option->get_default_str().empty()) {
      meaning += format_text(" (default: {})", option->get_default_str());
    } else if (option->get_required() && !option->get_positional()) {
      meaning += " (required)";
    }
    add_entry(out, shape_of(*option), meaning);
  }
}

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

/// "loom node drain NODE [OPTIONS]".
std::string usage_of(const CLI::App& app, const std::string& path) {
  std::string usage = path;
  bool takes_options = false;
  for (const CLI::Option* option : app.get_options([](const CLI::Option*) { return true; })) {
    const bool is_positional = option->get_positional();
    if (is_positional) {
      const std::string name = option->get_name(true) + (option->get_expected_max() > 1 ? " ..." : "");
      usage += option->get_required() ? format_text(" {}", name) : format_text(" [{}]", name);
    }
    takes_options = takes_options || (!is_positional && !option->check_lname("help"));
  }
  usage += takes_options ? " [OPTIONS]" : "";
  return usage + (commands_of(app).empty() ? "" : " COMMAND");
}

void add_commands(std::string& out, const CLI::App& app, const std::string& path) {
  for (const CLI::App* command : commands_of(app)) {
    const std::string at = format_text("{} {}", path, command->get_name());
    out += format_text(".SS {}\n{}.\n", one_word(usage_of(*command, at)), escaped(command->get_description()));
    add_options(out, *command);
    add_commands(out, *command, at);
  }
}

void add_section(std::string& out, const ManSection& section) {
  out += format_text(".SH {}\n", one_word(section.title));
  for (const std::string& paragraph : section.paragraphs) {
    out += format_text("{}{}\n", &paragraph == &section.paragraphs.front() ? "" : ".PP\n", escaped(paragraph));
  }
  for (const auto& [tag, meaning] : section.entries) {
    add_entry(out, tag, meaning);
  }
}

/// A flag that prints and ends the program, before anybody misses an option that is required.
void add_printer(CLI::App& app, const std::string& flag, std::function<std::string()> text, const std::string& meaning) {
  app.add_flag_callback(
      flag,
      [text = std::move(text)] {
        std::fputs(text().c_str(), stdout);
        std::exit(std::fflush(stdout) == 0 ? 0 : 1);
      },
      meaning);
}

}  // namespace

std::string version_text(std::string_view program, std::string_view more) {
  return format_text("{} {}\nspeaks wire version {}, reads configuration files of schema version {}{}{}\n", program,
                     build_version(), kWireVersion, kSchemaVersion, more.empty() ? "" : ", ", more);
}

void add_program_page(CLI::App& app, ProgramPage page, std::string_view more_versions) {
  add_printer(
      app, "--version", [name = page.name, more = std::string(more_versions)] { return version_text(name, more); },
      "Print the versions of this program, of the wire and of the files that it reads, and exit");
  add_printer(
      app, "--man-page", [&app, page = std::move(page)] { return man_page(app, page); },
      "Print the manual page, for man -l -, and exit");
}

std::string shape_of(const CLI::Option& option) {
  std::string name = option.get_name(option.get_lnames().empty());
  if (!option.get_positional() || !option.get_lnames().empty()) {
    name += option.get_expected_min() > 0 ? format_text(" {}", option.get_type_name()) : "";
  }
  return name;
}

std::string man_page(const CLI::App& app, const ProgramPage& page) {
  std::string upper = page.name;
  for (char& c : upper) {
    c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  // No date: the same source has the same page, and the version says when.
  std::string out = format_text(".\\\" Written by {} --man-page.\n.TH {} {} \"\" {} \"Lightloom\"\n", page.name,
                                one_word(upper), page.section, one_word(format_text("Lightloom {}", build_version())));
  out += ".ad l\n";  // words as long as paths leave nothing to adjust
  out += format_text(".SH NAME\n{} \\- {}\n", escaped(page.name), escaped(page.summary));
  out += format_text(".SH SYNOPSIS\n.B {}\n", escaped(usage_of(app, page.name)));
  add_section(out, {"DESCRIPTION", page.description, {}});
  out += ".SH OPTIONS\n";
  add_options(out, app);
  if (!commands_of(app).empty()) {
    out += ".SH COMMANDS\n";
    add_commands(out, app, page.name);
  }
  for (const ManSection& section : page.sections) {
    add_section(out, section);
  }
  out += ".SH \"SEE ALSO\"\n";
  for (const std::string& each : page.see_also) {
    const std::size_t open = each.find('(');
    out += format_text(".BR {} {}{}\n", escaped(each.substr(0, open)), each.substr(open),
                       &each == &page.see_also.back() ? "" : " ,");
  }
  return out;
}

}  // namespace loom

// SPDX-License-Identifier: Apache-2.0
// One list of (path, words) for all shells; the shells differ only in how they ask for it.
#include "cli/completion.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>
#include <vector>

#include "cli/catalogue/catalogue.hpp"
#include "cli/catalogue/shipped.hpp"
#include "cli/connection.hpp"
#include "cli/naming.hpp"
#include "cli/reference/config_keys.hpp"
#include "cli/reference/pages.hpp"
#include "cli/render/term.hpp"
#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

/// A command and what may follow it.
struct Place {
  std::string path;  ///< "", "node", "node drain"
  std::vector<std::string> verbs;
  std::vector<std::string> flags;
  bool takes_file = false;
  std::vector<std::string> kinds{};                               ///< of words that `loom completion words KIND` prints
  std::vector<std::pair<std::string, std::string>> flag_kinds{};  ///< the same of a flag's value
};

/// What a positional argument or a flag's value may be, by the name that help has for it.
constexpr std::array<std::pair<std::string_view, std::string_view>, 16> kKindOf{{{"NODE", "nodes"},
                                                                                 {"DEVICE", "devices"},
                                                                                 {"JOB", "jobs"},
                                                                                 {"CIRCUIT", "circuits"},
                                                                                 {"ALARM", "alarms"},
                                                                                 {"WORKLOAD", "workloads"},
                                                                                 {"SCENARIO", "scenarios"},
                                                                                 {"WORKLOAD_NAME", "workloads"},
                                                                                 {"FABRIC_NAME", "fabrics"},
                                                                                 {"MODEL", "models"},
                                                                                 {"KIND", "kinds"},
                                                                                 {"WORDS", "topics"},
                                                                                 {"--workload", "workloads"},
                                                                                 {"--fabric", "fabrics"},
                                                                                 {"--fabrics", "fabrics"},
                                                                                 {"--scenario", "scenarios"}}};

std::string kind_of(std::string_view name) {
  const auto found = std::ranges::find(kKindOf, name, &std::pair<std::string_view, std::string_view>::first);
  return found == kKindOf.end() ? std::string() : std::string(found->second);
}

void add_kinds(const CLI::App& app, Place& place) {
  for (const CLI::Option* option : app.get_options([](const CLI::Option*) { return true; })) {
    if (const std::string kind = option->get_positional() ? kind_of(option->get_name(true)) : ""; !kind.empty()) {
      place.kinds.push_back(kind);
    }
    for (const std::string& flag : option->get_lnames()) {
      if (const std::string kind = kind_of("--" + flag); !kind.empty()) {
        place.flag_kinds.emplace_back("--" + flag, kind);
      }
    }
  }
}

std::vector<std::string> flags_of(const CLI::App& app) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : app.get_options([](const CLI::Option*) { return true; })) {
    for (const std::string& name : option->get_lnames()) {
      flags.push_back("--" + name);
    }
  }
  return flags;
}

bool takes_file(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options([](const CLI::Option*) { return true; })) {
    const std::string name = option->get_name(true, true);
    if (option->get_positional() && (name.find("FILE") != std::string::npos || name.find("SCENARIO") != std::string::npos ||
                                     name.find("TRACE") != std::string::npos || name.find("WORKLOAD") != std::string::npos)) {
      return true;
    }
  }
  return false;
}

void collect(const CLI::App& app, const std::string& path, const std::vector<std::string>& inherited,
             std::vector<Place>& places) {
  Place place{path, {}, flags_of(app), takes_file(app)};
  add_kinds(app, place);
  for (const std::string& flag : inherited) {
    if (std::find(place.flags.begin(), place.flags.end(), flag) == place.flags.end()) {
      place.flags.push_back(flag);
    }
  }
  const auto subs = app.get_subcommands([](const CLI::App*) { return true; });
  for (const CLI::App* sub : subs) {
    place.verbs.push_back(sub->get_name());
  }
  places.push_back(place);
  for (const CLI::App* sub : subs) {
    collect(*sub, path.empty() ? sub->get_name() : format_text("{} {}", path, sub->get_name()), inherited, places);
  }
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : " ") + word;
  }
  return text;
}

/// bash; zsh runs the same function under bashcompinit.
std::string bash_script(const std::vector<Place>& places) {
  std::string text =
      "# source <(loom completion bash)\n"
      "_loom() {\n"
      "  local current=\"${COMP_WORDS[COMP_CWORD]}\" path=\"\" word verbs=\"\" flags=\"\" files=\"\" kinds=\"\" state=() i\n"
      "  local before=\"${COMP_WORDS[COMP_CWORD-1]}\"\n"
      "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
      "    word=\"${COMP_WORDS[i]}\"\n"
      "    case \"$word\" in --state) state=(--state \"${COMP_WORDS[i+1]}\") ;; esac\n"
      "    case \"$word\" in -*) continue ;; esac\n"
      "    case \"${path:+$path }$word\" in\n";
  std::string known;
  for (const Place& place : places) {
    if (!place.path.empty()) {
      known += format_text("{}{}'", known.empty() ? "'" : " | '", place.path);
    }
  }
  text += format_text("      {}) path=\"${{path:+$path }}$word\" ;;\n    esac\n  done\n  case \"$path\" in\n", known);
  for (const Place& place : places) {
    text += format_text("    '{}') verbs='{}'; flags='{}'; kinds='{}'{} ;;\n", place.path, joined(place.verbs),
                        joined(place.flags), joined(place.kinds), place.takes_file ? "; files=1" : "");
  }
  text += "  esac\n  case \"$path $before\" in\n";
  for (const Place& place : places) {
    for (const auto& [flag, kind] : place.flag_kinds) {
      text += format_text("    '{} {}') verbs=''; kinds='{}'; files=1 ;;\n", place.path, flag, kind);
    }
  }
  text +=
      "  esac\n"
      "  case \"$current\" in -*) kinds='' ;; esac\n"
      "  for word in $kinds; do\n"
      "    verbs=\"$verbs $(loom \"${state[@]}\" completion words \"$word\" 2>/dev/null)\"\n"
      "  done\n"
      "  case \"$current\" in\n"
      "    -*) COMPREPLY=($(compgen -W \"$flags\" -- \"$current\")) ;;\n"
      "    *) COMPREPLY=($(compgen -W \"$verbs\" -- \"$current\") ${files:+$(compgen -f -- \"$current\")}) ;;\n"
      "  esac\n"
      "}\n"
      "complete -o filenames -F _loom loom\n";
  return text;
}

std::string fish_script(const std::vector<Place>& places) {
  std::string text =
      "# loom completion fish | source\n"
      "function __loom_path\n"
      "  set -l path\n"
      "  for word in (commandline -opc)[2..-1]\n"
      "    string match -q -- '-*' $word; or set path $path $word\n"
      "  end\n"
      "  string join ' ' -- $path\n"
      "end\n"
      "complete -c loom -f\n";
  for (const Place& place : places) {
    const std::string at =
        format_text("complete -c loom -n 'string match -q -- \"{}{}\" (__loom_path)'", place.path, place.takes_file ? "*" : "");
    if (!place.verbs.empty()) {
      text += format_text("{} -a '{}'\n", at, joined(place.verbs));
    }
    for (const std::string& kind : place.kinds) {
      text += format_text(
          "complete -c loom -n 'string match -q -- \"{}*\" (__loom_path)' -a '(loom completion words {} 2>/dev/null)'\n",
          place.path, kind);
    }
    if (place.takes_file) {
      text += at + " -F\n";
    }
    for (const std::string& flag : place.flags) {
      text += format_text("{} -l {}\n", at, flag.substr(2));
    }
  }
  return text;
}

/// A shell waits for it with every key, so a controller has no longer than this.
constexpr Duration kPatience = std::chrono::milliseconds{300};

std::vector<std::string> names_in(const nlohmann::ordered_json& object, const char* list) {
  std::vector<std::string> names;
  for (const auto& each : object[list]) {
    names.push_back(each["name"].get<std::string>());
  }
  return names;
}

std::vector<std::string> config_kinds() {
  std::vector<std::string> kinds;
  for (const ConfigSection& section : config_sections()) {
    if (std::ranges::find(kinds, section.kind) == kinds.end()) {
      kinds.push_back(section.kind);
    }
  }
  return kinds;
}

std::vector<std::string> scenario_paths() {
  std::vector<std::string> paths;
  for (const ShippedFile& file : shipped_files(config_folder() / "scenarios")) {
    paths.push_back(file.path);
  }
  return paths;
}

}  // namespace

std::vector<std::string> completion_words(const Globals& globals, std::string_view kind) {
  static constexpr std::array<std::pair<std::string_view, Noun>, 5> kAsked{{{"nodes", Noun::nodes},
                                                                            {"devices", Noun::devices},
                                                                            {"jobs", Noun::jobs},
                                                                            {"circuits", Noun::circuits},
                                                                            {"alarms", Noun::alarms}}};
  for (const auto& [word, noun] : kAsked) {
    if (kind == word) {
      Globals hasty = globals;
      hasty.timeout = std::min(globals.timeout, kPatience);
      auto connection = Connection::open(hasty);
      const auto names =
          connection ? names_known(*connection, noun) : Result<std::vector<std::string>>(std::vector<std::string>{});
      return names.value_or(std::vector<std::string>{});
    }
  }
  return kind == "workloads"   ? names_in(workload_list(), "workloads")
         : kind == "fabrics"   ? names_in(fabric_list(), "fabrics")
         : kind == "scenarios" ? scenario_paths()
         : kind == "kinds"     ? config_kinds()
         : kind == "topics"    ? page_names()
                               : std::vector<std::string>{};
}

Result<std::string> completion_script(const CLI::App& app, const std::string& shell) {
  std::vector<Place> places;
  collect(app, "", flags_of(app), places);
  if (shell == "bash") {
    return bash_script(places);
  }
  if (shell == "zsh") {
    return "#compdef loom\n# source <(loom completion zsh)\nautoload -U +X bashcompinit && bashcompinit\n" +
           bash_script(places);
  }
  if (shell == "fish") {
    return fish_script(places);
  }
  return fail(ErrorCode::invalid_argument, format_text("'{}' is none of bash, zsh, fish", shell), "loom completion bash");
}

}  // namespace loom::cli

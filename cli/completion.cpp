// One list of (path, words) for all shells; the shells differ only in how they ask for it.
#include "cli/completion.hpp"

#include <vector>

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
};

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
      "  local current=\"${COMP_WORDS[COMP_CWORD]}\" path=\"\" word verbs=\"\" flags=\"\" files=\"\" i\n"
      "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
      "    word=\"${COMP_WORDS[i]}\"\n"
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
    text += format_text("    '{}') verbs='{}'; flags='{}'{} ;;\n", place.path, joined(place.verbs), joined(place.flags),
                        place.takes_file ? "; files=1" : "");
  }
  text +=
      "  esac\n"
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
    if (place.takes_file) {
      text += at + " -F\n";
    }
    for (const std::string& flag : place.flags) {
      text += format_text("{} -l {}\n", at, flag.substr(2));
    }
  }
  return text;
}

}  // namespace

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

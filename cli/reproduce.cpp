// A table of figures.
#include "cli/reproduce.hpp"

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/rows.hpp"
#include "cli/term.hpp"
#include "controller/schedule/reproduction.hpp"

namespace loom::cli {
namespace {

std::string number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3f", value);
  return text.data();
}

std::string range(const Figure& figure) {
  if (figure.most >= 1e9) {
    return figure.least > 0 ? number(figure.least) + " or more" : "any";
  }
  return number(figure.least) + " .. " + number(figure.most);
}

nlohmann::ordered_json json_of(const Figure& figure) {
  nlohmann::ordered_json row;
  row["target"] = figure.target;
  row["label"] = figure.label;
  row["what"] = figure.what;
  row["published"] = figure.published > 0 ? nlohmann::ordered_json(figure.published) : nlohmann::ordered_json();
  row["ours"] = figure.ours;
  row["least"] = figure.least;
  row["most"] = figure.most >= 1e9 ? nlohmann::ordered_json() : nlohmann::ordered_json(figure.most);
  row["within"] = figure.is_within();
  return row;
}

}  // namespace

int reproduce(const Globals& globals, const ReproduceOrder& order) {
  std::vector<std::string> targets = order.targets;
  if (targets.empty()) {
    for (const std::string_view target : reproducible_targets()) {
      targets.emplace_back(target);
    }
  }
  auto object = answer();
  object["figures"] = nlohmann::ordered_json::array();
  object["absent"] = nlohmann::ordered_json::array();
  Table table({"target", "check", "what", "published", "ours", "off", "accepted", ""});
  bool all_within = true;
  Progress progress;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    progress.show("reproducing", i, targets.size());
    const auto figures = loom::reproduce(targets[i], order.data);
    if (!figures) {
      const bool is_absent =
          figures.error().code == ErrorCode::not_found && figures.error().message.find('/') != std::string::npos;
      if (!is_absent) {
        return give_up(figures.error(), "loom reproduce --help");
      }
      say(targets[i] + " is left out: " + figures.error().message);
      object["absent"].push_back(targets[i]);
      continue;
    }
    for (const Figure& figure : *figures) {
      all_within = all_within && figure.is_within();
      const std::string off =
          figure.published > 0 ? number(100 * (figure.ours / figure.published - 1)) + " %" : std::string("-");
      table.add({figure.target, figure.label, figure.what, figure.published > 0 ? number(figure.published) : "-",
                 number(figure.ours), off, range(figure), figure.is_within() ? "ok" : "OFF"});
      object["figures"].push_back(json_of(figure));
    }
  }
  const bool is_partial = !object["absent"].empty();
  if (globals.json) {
    std::printf("%s\n", object.dump(2).c_str());
  } else {
    std::fputs(table.text().c_str(), stdout);
  }
  return !all_within ? kFailed : is_partial ? kPartial : kDone;
}

}  // namespace loom::cli

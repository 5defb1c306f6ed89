// SPDX-License-Identifier: Apache-2.0
// One rule after the other.
#include "cli/lab/policy.hpp"

#include <algorithm>

#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

std::string verb_of(LabUse use) { return use == LabUse::up ? "loom lab up" : "loom lab run"; }

std::string again(const LabClaim& claim, const char* option) {
  return format_text("{} {} {} --state {}", verb_of(claim.use), claim.asked.scenario, option, claim.folder);
}

std::string fabric_of(const LabManifest& manifest) {
  return format_text("{} (fabric {}, {}{}", manifest.scenario, manifest.fabric, manifest.agent_processes,
                     manifest.agent_processes == 1 ? " agent process)" : " agent processes)");
}

bool is_same_lab(const LabManifest& one, const LabManifest& other) {
  return one.scenario == other.scenario && one.fabric_digest == other.fabric_digest &&
         one.agent_processes == other.agent_processes;
}

/// Why the journals are of another lab: what differs, of both.
std::string difference(const LabManifest& earlier, const LabManifest& asked) {
  if (fabric_of(earlier) != fabric_of(asked)) {
    return format_text("the journals in it are of {}, asked for is {}", fabric_of(earlier), fabric_of(asked));
  }
  return format_text("the journals in it are of {}, whose fabric or algorithm has changed since", fabric_of(earlier));
}

}  // namespace

std::string listing(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
  }
  return text;
}

Result<LabBeginning> decide_beginning(const std::optional<LabManifest>& earlier, const std::vector<std::string>& running,
                                      const LabClaim& claim) {
  if (!running.empty() && !claim.replace) {
    const bool has_controller =
        std::any_of(running.begin(), running.end(), [](const std::string& each) { return each.starts_with("lightloomd"); });
    const std::string controller =
        has_controller ? "" : " (its controller does not: `loom lab restart controller` starts it again)";
    return fail(ErrorCode::refused,
                format_text("a lab of {} runs in {}: {}{}; it is not replaced unasked. `loom lab down` stops it, --replace "
                            "does that and starts this one",
                            earlier->scenario, claim.folder, listing(running), controller),
                "loom lab down --state " + claim.folder);
  }
  LabBeginning beginning;
  beginning.stops_what_runs = !running.empty();
  if (!earlier || earlier->use == LabUse::none) {
    return beginning;
  }
  if (claim.fresh) {
    beginning.sentence = format_text("  forgetting the journals and logs of {} (--fresh); keys stay", earlier->scenario);
    return beginning;
  }
  if (claim.use != LabUse::up) {
    if (earlier->use == LabUse::up) {
      return fail(
          ErrorCode::refused,
          format_text("{} holds the journals of a lab that `loom lab up` began ({}); a scenario plays from its beginning, and "
                      "they are not thrown away unasked. --fresh forgets them, another --state leaves them alone",
                      claim.folder, earlier->scenario),
          again(claim, "--fresh"));
    }
    return beginning;
  }
  if (earlier->use == LabUse::run) {
    beginning.sentence = format_text("  forgetting the journals of the played scenario {}; keys stay", earlier->scenario);
    return beginning;
  }
  if (!is_same_lab(*earlier, claim.asked)) {
    return fail(ErrorCode::refused,
                format_text("{}: {}. --fresh forgets them, another --state leaves them alone", claim.folder,
                            difference(*earlier, claim.asked)),
                again(claim, "--fresh"));
  }
  beginning.keeps_journals = true;
  beginning.sentence =
      format_text("  going on from the journals in {}: jobs come back into light (--fresh forgets them)", claim.folder);
  return beginning;
}

}  // namespace loom::cli

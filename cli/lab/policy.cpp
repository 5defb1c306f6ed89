// One rule after the other.
#include "cli/lab/policy.hpp"

#include <algorithm>

namespace loom::cli {
namespace {

std::string verb_of(LabUse use) { return use == LabUse::up ? "loom lab up" : "loom lab run"; }

std::string again(const LabClaim& claim, const char* option) {
  return verb_of(claim.use) + " " + claim.asked.scenario + " " + option + " --state " + claim.folder;
}

std::string fabric_of(const LabManifest& manifest) {
  return manifest.scenario + " (fabric " + manifest.fabric + ", " + std::to_string(manifest.agent_processes) +
         (manifest.agent_processes == 1 ? " agent process)" : " agent processes)");
}

bool is_same_lab(const LabManifest& one, const LabManifest& other) {
  return one.scenario == other.scenario && one.fabric_digest == other.fabric_digest &&
         one.agent_processes == other.agent_processes;
}

/// Why the journals are of another lab: what differs, of both.
std::string difference(const LabManifest& earlier, const LabManifest& asked) {
  if (fabric_of(earlier) != fabric_of(asked)) {
    return "the journals in it are of " + fabric_of(earlier) + ", asked for is " + fabric_of(asked);
  }
  return "the journals in it are of " + fabric_of(earlier) + ", whose fabric or algorithm has changed since";
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
                "a lab of " + earlier->scenario + " runs in " + claim.folder + ": " + listing(running) + controller +
                    "; it is not replaced unasked. `loom lab down` stops it, --replace does that and starts this one",
                "loom lab down --state " + claim.folder);
  }
  LabBeginning beginning;
  beginning.stops_what_runs = !running.empty();
  if (!earlier || earlier->use == LabUse::none) {
    return beginning;
  }
  if (claim.fresh) {
    beginning.sentence = "  forgetting the journals and logs of " + earlier->scenario + " (--fresh); keys stay";
    return beginning;
  }
  if (claim.use != LabUse::up) {
    if (earlier->use == LabUse::up) {
      return fail(ErrorCode::refused,
                  claim.folder + " holds the journals of a lab that `loom lab up` began (" + earlier->scenario +
                      "); a scenario plays from its beginning, and they are not thrown away unasked. --fresh forgets them, "
                      "another --state leaves them alone",
                  again(claim, "--fresh"));
    }
    return beginning;
  }
  if (earlier->use == LabUse::run) {
    beginning.sentence = "  forgetting the journals of the played scenario " + earlier->scenario + "; keys stay";
    return beginning;
  }
  if (!is_same_lab(*earlier, claim.asked)) {
    return fail(
        ErrorCode::refused,
        claim.folder + ": " + difference(*earlier, claim.asked) + ". --fresh forgets them, another --state leaves them alone",
        again(claim, "--fresh"));
  }
  beginning.keeps_journals = true;
  beginning.sentence = "  going on from the journals in " + claim.folder + ": jobs come back into light (--fresh forgets them)";
  return beginning;
}

}  // namespace loom::cli

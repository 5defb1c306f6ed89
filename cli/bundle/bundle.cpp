// SPDX-License-Identifier: Apache-2.0
// Gathers, runs, writes; reads, checks, runs again, compares.
#include "cli/bundle/bundle.hpp"

#include <cstdio>
#include <set>

#include "cli/bundle/inputs.hpp"
#include "cli/bundle/stage.hpp"
#include "cli/command_line.hpp"
#include "cli/render/answer.hpp"
#include "cli/render/term.hpp"
#include "core/text/format_text.hpp"
#include "core/text/version.hpp"

namespace loom::cli {
namespace {

constexpr const char* kInputs = "inputs/";
constexpr const char* kOutputs = "outputs/";
constexpr const char* kAnswerName = "answer.json";

struct CreateOptions {
  std::string path;
  std::vector<std::string> command;
  std::vector<std::string> included;
};
struct VerifyOptions {
  std::string path;
  bool has_no_run = false;
};

bool is_figure(const std::string& path) { return path.ends_with(".svg") || path.ends_with(".pdf"); }

void add_member(const std::string& path, const char* role, std::string bytes, BundleManifest& manifest,
                BundleContents& contents) {
  manifest.files.push_back({path, role, {}, bytes.size(), sha256_of(bytes)});
  contents.emplace(path, std::move(bytes));
}

std::string command_text(const std::vector<std::string>& command) {
  std::string text = "loom";
  for (const std::string& word : command) {
    text += " " + word;
  }
  return text;
}

std::string safe(std::string text) {
  for (char& c : text) {
    const auto byte = static_cast<unsigned char>(c);
    c = byte < 0x20 || byte == 0x7f ? '?' : c;
  }
  return text;
}

int create(const Globals& globals, const CreateOptions& order) {
  const auto made = create_bundle(order.path, own_program(), order.command, order.included);
  if (!made) {
    return give_up(made.error(), "loom bundle create --help");
  }
  if (globals.json) {
    auto object = answer();
    object["bundle"] = order.path;
    object["manifest_sha256"] = made->manifest_sha256;
    object["exit_code"] = made->manifest.exit_code;
    object["files"] = Json::array();
    for (const BundleFile& file : made->manifest.files) {
      object["files"].push_back({{"path", file.path}, {"role", file.role}, {"bytes", file.bytes}, {"sha256", file.sha256}});
    }
    print(object);
    return kDone;
  }
  Table table({"file", "role", "bytes", "sha256"});
  for (const BundleFile& file : made->manifest.files) {
    table.add({file.path, file.role, std::to_string(file.bytes), file.sha256.substr(0, 16) + "..."});
  }
  std::fputs(table.text().c_str(), stdout);
  std::printf("manifest sha256: %s\n", made->manifest_sha256.c_str());
  print_note(format_text("bundled to {}; on another machine: loom bundle verify {}", order.path, order.path));
  return kDone;
}

Json json_of(const BundleVerified& verified) {
  auto object = answer();
  object["version"] = verified.manifest.version;
  object["this_version"] = build_version();
  object["command"] = verified.manifest.command;
  object["manifest_sha256"] = verified.manifest_sha256;
  object["digests"] = verified.manifest.files.size();
  object["was_run"] = verified.was_run;
  object["identical"] = verified.was_run ? Json(verified.comparison.differing == 0) : Json();
  object["numbers_compared"] = verified.comparison.numbers;
  object["left_out"] = Json::object();
  for (const auto& [rule, count] : verified.comparison.left_out) {
    object["left_out"][rule] = count;
  }
  object["differing"] = verified.comparison.differing;
  object["differences"] = Json::array();
  for (const BundleDifference& each : verified.comparison.differences) {
    object["differences"].push_back({{"file", each.file},
                                     {"place", each.place},
                                     {"recorded", each.recorded},
                                     {"now", each.now},
                                     {"by", each.by.empty() ? Json() : Json(each.by)}});
  }
  return object;
}

void print_words(const BundleVerified& verified) {
  std::printf("made by loom %s (this is %s): %s\n", safe(verified.manifest.version).c_str(),
              std::string(build_version()).c_str(), safe(command_text(verified.manifest.command)).c_str());
  std::printf("digests: all %zu files are as the manifest says; manifest sha256: %s\n", verified.manifest.files.size(),
              verified.manifest_sha256.c_str());
  if (!verified.was_run) {
    std::printf("not run again (--no-run)\n");
    return;
  }
  const Comparison& comparison = verified.comparison;
  for (const auto& [rule, count] : comparison.left_out) {
    std::printf("left out by the manifest's rule: %s, %zu times\n", safe(rule).c_str(), count);
  }
  if (comparison.differing == 0) {
    std::printf("run again: identical, %zu numbers of %zu files\n", comparison.numbers, comparison.files);
    return;
  }
  for (const BundleDifference& each : comparison.differences) {
    std::printf("%s %s: %s recorded, %s now%s\n", safe(each.file).c_str(), safe(each.place).c_str(), each.recorded.c_str(),
                each.now.c_str(), each.by.empty() ? "" : (", by " + each.by).c_str());
  }
  std::printf("run again: %zu differ%s\n", comparison.differing,
              comparison.differing > comparison.differences.size() ? ", the first of them above" : "");
}

int verify(const Globals& globals, const VerifyOptions& order) {
  const auto verified = verify_bundle(order.path, order.has_no_run ? "" : own_program());
  if (!verified) {
    const ErrorCode code = verified.error().code;
    give_up(verified.error(), "loom bundle verify --help");
    return code == ErrorCode::malformed || code == ErrorCode::unsupported ? kRefused : exit_code_of(code);
  }
  if (globals.json) {
    print(json_of(*verified));
  } else {
    print_words(*verified);
  }
  return verified->comparison.differing == 0 ? kDone : kFailed;
}

}  // namespace

Result<BundleMade> create_bundle(const std::string& path, const std::string& program, const std::vector<std::string>& command,
                                 const std::vector<std::string>& included) {
  auto order = bundled(command, included);
  if (!order) {
    return std::unexpected(std::move(order).error());
  }
  const auto stage = Stage::make(order->contents, order->folders);
  if (!stage) {
    return std::unexpected(stage.error());
  }
  auto run = stage->run(program, order->command, order->folder);
  if (!run) {
    return std::unexpected(std::move(run).error());
  }
  if (run->exit_code != kDone && run->exit_code != kPartial) {
    return fail(ErrorCode::refused,
                format_text("{} ended with {} over the bundled inputs; if it lacks a file, --include it",
                            command_text(order->command), run->exit_code),
                "loom bundle create " + path + " --include FILE -- ...");
  }
  BundleMade made;
  made.manifest = {std::string(build_version()),
                   order->command,
                   order->folder,
                   order->folders,
                   order->seed,
                   run->exit_code,
                   {},
                   bundle_rules()};
  BundleContents contents;
  for (BundleFile& input : order->inputs) {
    contents.emplace(kInputs + input.path, std::move(order->contents[input.path]));
    input.path = kInputs + input.path;
    made.manifest.files.push_back(std::move(input));
  }
  add_member(kAnswerName, "answer", std::move(run->answer), made.manifest, contents);
  for (auto& [name, bytes] : run->outputs) {
    add_member(kOutputs + name, is_figure(name) ? "figure" : "output", std::move(bytes), made.manifest, contents);
  }
  const std::string text = text_of(made.manifest);
  made.manifest_sha256 = sha256_of(text);
  contents.emplace(kManifestName, text);
  LOOM_TRY(write_bundle(path, contents, kManifestName));
  return made;
}

Result<BundleVerified> verify_bundle(const std::string& path, const std::string& program) {
  const auto contents = read_bundle(path);
  if (!contents) {
    return std::unexpected(contents.error());
  }
  const auto named = [&](const Error& error) { return fail(error.code, format_text("{}: {}", path, error.message)); };
  const auto text = contents->find(kManifestName);
  if (text == contents->end()) {
    return fail(ErrorCode::malformed,
                format_text("{}: it has no {}; a bundle is what loom bundle create wrote", path, kManifestName));
  }
  BundleVerified verified;
  auto manifest = manifest_of(text->second);
  if (!manifest) {
    return named(manifest.error());
  }
  verified.manifest = *std::move(manifest);
  verified.manifest_sha256 = sha256_of(text->second);
  if (const auto checked = check_digests(verified.manifest, *contents); !checked) {
    return named(checked.error());
  }
  if (const auto checked = check_bundled_command(verified.manifest.command, verified.manifest.folder); !checked) {
    return named(checked.error());
  }
  if (program.empty()) {
    return verified;
  }
  BundleContents inputs;
  BundleContents recorded;
  for (const auto& [name, bytes] : *contents) {
    if (name.starts_with(kInputs)) {
      inputs.emplace(name.substr(std::string_view(kInputs).size()), bytes);
    } else if (name != kManifestName) {
      recorded.emplace(name, bytes);
    }
  }
  const auto stage = Stage::make(inputs, verified.manifest.folders);
  if (!stage) {
    return std::unexpected(stage.error());
  }
  const auto run = stage->run(program, verified.manifest.command, verified.manifest.folder);
  if (!run) {
    return std::unexpected(run.error());
  }
  verified.was_run = true;
  verified.exit_code = run->exit_code;
  BundleContents now{{kAnswerName, run->answer}};
  for (const auto& [name, bytes] : run->outputs) {
    now.emplace(kOutputs + name, bytes);
  }
  compare_runs(verified.manifest, run->exit_code, recorded, now, verified.comparison);
  return verified;
}

void add_bundle(CLI::App& app, CommandLine& line) {
  CLI::App* noun = app.add_subcommand("bundle", "A run with its inputs and outputs, for another machine to repeat");
  noun->require_subcommand(1);
  auto& order = line.keep<CreateOptions>();
  CLI::App* make = noun->add_subcommand("create", "Run a command over its inputs alone, and keep all of it in one file");
  make->add_option("FILE", order.path, "Bundle to write, .tar.gz")->required();
  make->add_option("COMMAND", order.command, "Behind --: arena, plan, predict, reproduce ... as typed, without loom")
      ->required();
  make->add_option("--include", order.included, "File that the command reads and does not name; repeatable")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  make->footer("loom bundle create run.tar.gz -- arena --workload vgg19 --nodes 16 --plot arena.svg --csv arena.csv");
  line.when(*make, create, order);
  auto& check = line.keep<VerifyOptions>();
  CLI::App* judge = noun->add_subcommand("verify", "Check every digest, run it again, and compare number by number");
  judge->add_option("FILE", check.path, "What loom bundle create wrote")->required();
  judge->add_flag("--no-run", check.has_no_run, "Digests alone");
  judge->footer(
      "Exit codes: 0 identical, 1 a number differs, 3 refused (altered, truncated, too large, a path that leads out).");
  line.when(*judge, verify, check);
}

}  // namespace loom::cli

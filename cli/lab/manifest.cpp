// SPDX-License-Identifier: Apache-2.0
// JSON with a magic word and a version; whatever is not exactly as written by to_text() is refused.
#include "cli/lab/manifest.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kMagic = "lightloom lab";
constexpr std::int64_t kVersion = 1;
constexpr std::size_t kFilesMost = 65'536;
constexpr std::size_t kProcessesMost = 65'536;
constexpr std::array<std::string_view, 4> kUses{"none", "lab up", "lab run", "lab run --keep"};

std::string hex(std::uint64_t value) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, 16).ptr;
  return {digits.data(), end};
}

/// Reads keys of one object; remembers the first fault and says on which key.
class Reader {
 public:
  Reader(const Json& object, std::string where) : object_(object), where_(std::move(where)) {
    if (!object.is_object()) {
      blame("an object was expected");
    }
  }

  const Json* find(const char* key) {
    if (!object_.is_object()) {
      return nullptr;
    }
    const auto at = object_.find(key);
    if (at == object_.end()) {
      blame(format_text("key '{}' is missing", key));
      return nullptr;
    }
    return &*at;
  }
  std::string text(const char* key) {
    const Json* value = find(key);
    if (value != nullptr && !value->is_string()) {
      blame(format_text("'{}' is no text", key));
    }
    return value != nullptr && value->is_string() ? value->get<std::string>() : std::string{};
  }
  bool has(const char* key) const { return object_.is_object() && object_.contains(key); }
  std::uint64_t number(const char* key, std::uint64_t most) {
    const Json* value = find(key);
    if (value == nullptr) {
      return 0;
    }
    if (!value->is_number_unsigned() || value->get<std::uint64_t>() > most) {
      blame(format_text("'{}' is no whole number of 0..{}", key, most));
      return 0;
    }
    return value->get<std::uint64_t>();
  }
  std::uint64_t digest(const char* key) {
    const std::string digits = text(key);
    std::uint64_t value = 0;
    const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (problem != std::errc{} || end != digits.data() + digits.size()) {
      blame(format_text("'{}' is no hexadecimal number", key));
    }
    return value;
  }
  bool flag(const char* key) {
    const Json* value = find(key);
    if (value != nullptr && !value->is_boolean()) {
      blame(format_text("'{}' is neither true nor false", key));
    }
    return value != nullptr && value->is_boolean() && value->get<bool>();
  }
  const Json& list(const char* key, std::size_t most) {
    static const Json kNone = Json::array();
    const Json* value = find(key);
    if (value != nullptr && (!value->is_array() || value->size() > most)) {
      blame(format_text("'{}' is no list of at most {}", key, most));
      return kNone;
    }
    return value == nullptr ? kNone : *value;
  }
  void blame(const std::string& what) {
    if (fault_.empty()) {
      fault_ = where_ + what;
    }
  }
  const std::string& fault() const { return fault_; }

 private:
  const Json& object_;
  std::string where_;
  std::string fault_;
};

LabProcess read_process(Reader& reader) {
  LabProcess process;
  process.name = reader.text("name");
  process.pid = static_cast<int>(reader.number("pid", std::numeric_limits<int>::max()));
  process.start_ticks = reader.number("start_ticks", std::numeric_limits<std::int64_t>::max());
  process.boot_id = reader.text("boot_id");
  process.executable = reader.text("executable");
  process.started = reader.text("started");
  process.metrics = reader.has("metrics") ? reader.text("metrics") : "";  // labs of an earlier loom have none
  if (process.pid <= 1) {
    reader.blame("'pid' is no number of a process that a lab can have started");
  }
  if (!is_bare_name(process.name)) {
    reader.blame(format_text("'{}' is no name of a process", process.name));
  }
  if (!process.executable.starts_with("/") || process.boot_id.empty()) {
    reader.blame(format_text("process {} has no program or no boot", process.name));
  }
  return process;
}

LabManifest read_manifest(Reader& reader) {
  LabManifest manifest;
  const std::string use = reader.text("use");
  const auto known = std::ranges::find(kUses, use);
  if (known == kUses.end()) {
    reader.blame(format_text("'use' is '{}', none of none, lab up, lab run, lab run --keep", use));
  } else {
    manifest.use = static_cast<LabUse>(known - kUses.begin());
  }
  manifest.scenario = reader.text("scenario");
  manifest.fabric = reader.text("fabric");
  manifest.fabric_digest = reader.digest("fabric_digest");
  manifest.agent_processes = static_cast<std::uint32_t>(reader.number("agent_processes", kProcessesMost));
  manifest.record = reader.flag("record");
  manifest.inspector_dir = reader.text("inspector_dir");
  manifest.training_dir = reader.has("training_dir") ? reader.text("training_dir") : std::string{};
  manifest.emulates = !reader.has("emulates") || reader.flag("emulates");
  manifest.metrics = reader.has("metrics") && reader.flag("metrics");
  manifest.connections = reader.has("connections") ? reader.text("connections") : "shared";
  manifest.realtime = reader.has("realtime") && reader.flag("realtime");
  manifest.address = reader.text("address");
  for (const Json& file : reader.list("files", kFilesMost)) {
    std::string name = file.is_string() ? file.get<std::string>() : file.dump();
    if (!file.is_string() || !is_bare_name(name)) {
      reader.blame(format_text("'files' names '{}', which is no file of this folder", name));
    }
    manifest.files.push_back(std::move(name));
  }
  std::ranges::sort(manifest.files);
  for (const Json& object : reader.list("processes", kProcessesMost)) {
    Reader inner(object, "a process: ");
    manifest.note(read_process(inner));
    if (!inner.fault().empty()) {
      reader.blame(inner.fault());
    }
  }
  return manifest;
}

}  // namespace

std::string_view to_string(LabUse use) { return kUses[static_cast<std::size_t>(use)]; }

bool LabManifest::names(std::string_view file) const { return std::ranges::binary_search(files, file); }

const LabProcess* LabManifest::process(std::string_view name) const {
  const auto found = std::ranges::find(processes, name, &LabProcess::name);
  return found == processes.end() ? nullptr : &*found;
}

void LabManifest::note(LabProcess process) {
  const auto known = std::ranges::find(processes, process.name, &LabProcess::name);
  if (known == processes.end()) {
    processes.push_back(std::move(process));
  } else {
    *known = std::move(process);
  }
}

bool is_bare_name(std::string_view name) {
  const bool is_plain = std::ranges::all_of(name, [](unsigned char c) { return c > 0x1F && c != 0x7F && c != '/'; });
  return is_plain && !name.empty() && name.size() <= 255 && name != "." && name != ".." && name != "keys" &&
         !name.starts_with("lab.json") && name != "lab.lock";
}

std::string to_text(const LabManifest& manifest) {
  Json object{{"magic", kMagic}, {"version", kVersion}};
  object["note"] = "what loom made here; loom lab down stops it, files not named here are never touched";
  object["use"] = to_string(manifest.use);
  object["scenario"] = manifest.scenario;
  object["fabric"] = manifest.fabric;
  object["fabric_digest"] = hex(manifest.fabric_digest);
  object["agent_processes"] = manifest.agent_processes;
  object["record"] = manifest.record;
  object["inspector_dir"] = manifest.inspector_dir;
  object["training_dir"] = manifest.training_dir;
  object["emulates"] = manifest.emulates;
  object["metrics"] = manifest.metrics;
  object["connections"] = manifest.connections;
  object["realtime"] = manifest.realtime;
  object["address"] = manifest.address;
  object["files"] = manifest.files;
  Json& processes = object["processes"] = Json::array();
  for (const LabProcess& process : manifest.processes) {
    processes.push_back({{"name", process.name},
                         {"pid", static_cast<unsigned>(process.pid)},
                         {"start_ticks", process.start_ticks},
                         {"boot_id", process.boot_id},
                         {"executable", process.executable},
                         {"started", process.started},
                         {"metrics", process.metrics}});
  }
  return object.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<LabManifest> parse_manifest(std::string_view text) {
  const Json object = Json::parse(text, nullptr, false);
  if (object.is_discarded() || !object.is_object()) {
    return fail(ErrorCode::malformed, "it is no whole JSON object");
  }
  Reader reader(object, "");
  if (reader.text("magic") != kMagic) {
    return fail(ErrorCode::malformed, format_text("it is no manifest of a lab (no magic '{}')", kMagic));
  }
  const Json* version = reader.find("version");
  if (version == nullptr || !version->is_number_integer() || *version < 1) {
    return fail(ErrorCode::malformed, "its version is no whole number from 1");
  }
  if (*version != kVersion) {
    return fail(
        ErrorCode::wrong_version,
        format_text("it has version {}, this loom knows {}: a newer loom wrote it, use that one", version->dump(), kVersion));
  }
  LabManifest manifest = read_manifest(reader);
  if (!reader.fault().empty()) {
    return fail(ErrorCode::malformed, reader.fault());
  }
  return manifest;
}

}  // namespace loom::cli

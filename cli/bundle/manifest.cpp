// SPDX-License-Identifier: Apache-2.0
// To JSON and back.
#include "cli/bundle/manifest.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "core/text/format_text.hpp"

namespace loom::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kForm = 1;
constexpr std::size_t kManifestBytesMax = std::size_t{4} << 20U;

Error malformed(const std::string& what) { return Error{ErrorCode::malformed, format_text("{}: {}", kManifestName, what)}; }

/// Reads keys of one object; the first that is wrong stays in `error`.
struct Reader {
  const Json& object;
  const std::string& place;
  std::optional<Error>& error;

  template <class Value>
  Value get(const char* key, const char* kind, bool (Json::*is_kind)() const noexcept) const {
    const auto found = object.find(key);
    if (found == object.end() || !((*found).*is_kind)()) {
      error = error ? error : malformed(format_text("{}'{}' lacks or is no {}", place, key, kind));
      return {};
    }
    return found->get<Value>();
  }
  std::string text(const char* key) const { return get<std::string>(key, "text", &Json::is_string); }
  std::vector<std::string> texts(const char* key) const {
    const auto found = object.find(key);
    const bool are_texts = found != object.end() && found->is_array() &&
                           std::ranges::all_of(*found, [](const Json& each) { return each.is_string(); });
    if (!are_texts) {
      error = error ? error : malformed(format_text("{}'{}' lacks or is no list of texts", place, key));
      return {};
    }
    return found->get<std::vector<std::string>>();
  }
};

BundleFile file_of(const Json& entry, const std::string& place, std::optional<Error>& error) {
  const Reader reader{entry, place, error};
  BundleFile file;
  file.path = reader.text("path");
  file.role = reader.text("role");
  file.bytes = reader.get<std::size_t>("bytes", "whole number", &Json::is_number_unsigned);
  file.sha256 = reader.text("sha256");
  if (const auto named = entry.find("named_by"); named != entry.end() && named->is_string()) {
    file.named_by = named->get<std::string>();
  }
  return file;
}

BundleRule rule_of(const Json& entry, const std::string& place, std::optional<Error>& error) {
  const Reader reader{entry, place, error};
  const bool is_key = entry.contains("key");
  return {is_key ? reader.text("key") : "", is_key ? "" : reader.text("file_suffix"), reader.text("why")};
}

/// "a", "a/b" or "": below the bundle's inputs.
Result<void> check_folder(const std::string& folder) { return folder.empty() ? Result<void>{} : check_bundle_path(folder); }

template <class Read>
void read_list(const Json& object, const char* key, std::optional<Error>& error, Read read) {
  const auto list = object.find(key);
  if (list == object.end() || !list->is_array()) {
    error = error ? error : malformed(format_text("'{}' lacks or is no list", key));
    return;
  }
  for (std::size_t i = 0; i < list->size(); ++i) {
    const std::string place = format_text("{}[{}].", key, i);
    if (!(*list)[i].is_object()) {
      error = error ? error : malformed(place + " is no object");
      return;
    }
    read((*list)[i], place);
  }
}

}  // namespace

const std::vector<BundleRule>& bundle_rules() {
  static const std::vector<BundleRule> rules{
      {"elapsed_ms", "", "how long this program took on that machine"},
      {"schedule_ms", "", "how long choosing a topology took on that machine"},
      {"", ".pdf", "the fonts of the machine that drew it are in it; draw an SVG or write a CSV to have it compared"}};
  return rules;
}

std::string text_of(const BundleManifest& manifest) {
  Json object{{"kind", "loom-bundle"}, {"form", kForm}, {"version", manifest.version}, {"command", manifest.command}};
  object["folder"] = manifest.folder;
  object["folders"] = manifest.folders;
  object["seed"] = manifest.seed ? Json(*manifest.seed) : Json();
  object["exit_code"] = manifest.exit_code;
  object["files"] = Json::array();
  for (const BundleFile& file : manifest.files) {
    Json entry{{"path", file.path}, {"role", file.role}};
    if (!file.named_by.empty()) {
      entry["named_by"] = file.named_by;
    }
    entry["bytes"] = file.bytes;
    entry["sha256"] = file.sha256;
    object["files"].push_back(std::move(entry));
  }
  object["not_compared"] = Json::array();
  for (const BundleRule& rule : manifest.not_compared) {
    object["not_compared"].push_back(
        {{rule.key.empty() ? "file_suffix" : "key", rule.key.empty() ? rule.suffix : rule.key}, {"why", rule.why}});
  }
  return object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<BundleManifest> manifest_of(const std::string& text) {
  if (text.size() > kManifestBytesMax) {
    return std::unexpected(malformed(format_text("{} bytes, at most {} (kManifestBytesMax)", text.size(), kManifestBytesMax)));
  }
  const Json object = Json::parse(text, nullptr, false);
  if (!object.is_object() || object.value("kind", Json()) != "loom-bundle") {
    return std::unexpected(malformed("no JSON object of kind loom-bundle"));
  }
  if (object.value("form", Json()) != kForm) {
    return fail(ErrorCode::unsupported,
                format_text("{}: its form is not {}, the one that this loom reads", kManifestName, kForm));
  }
  std::optional<Error> error;
  const Reader reader{object, "", error};
  BundleManifest manifest;
  manifest.version = reader.text("version");
  manifest.command = reader.texts("command");
  manifest.folder = reader.text("folder");
  manifest.folders = reader.texts("folders");
  manifest.exit_code = reader.get<int>("exit_code", "whole number", &Json::is_number_integer);
  if (const auto seed = object.find("seed"); seed != object.end() && seed->is_string()) {
    manifest.seed = seed->get<std::string>();
  }
  read_list(object, "files", error,
            [&](const Json& entry, const std::string& place) { manifest.files.push_back(file_of(entry, place, error)); });
  read_list(object, "not_compared", error, [&](const Json& entry, const std::string& place) {
    manifest.not_compared.push_back(rule_of(entry, place, error));
  });
  if (error) {
    return std::unexpected(*error);
  }
  LOOM_TRY(check_folder(manifest.folder));
  for (const std::string& folder : manifest.folders) {
    LOOM_TRY(check_folder(folder));
  }
  return manifest;
}

Result<void> check_digests(const BundleManifest& manifest, const BundleContents& contents) {
  std::set<std::string> listed{kManifestName};
  for (const BundleFile& file : manifest.files) {
    const auto found = contents.find(file.path);
    if (found == contents.end()) {
      return fail(ErrorCode::refused, format_text("{}: listed in {}, but not in the archive", file.path, kManifestName));
    }
    if (!listed.insert(file.path).second) {
      return fail(ErrorCode::refused, format_text("{}: listed twice in {}", file.path, kManifestName));
    }
    if (found->second.size() != file.bytes) {
      return fail(ErrorCode::refused,
                  format_text("{}: {} bytes, {} says {}", file.path, found->second.size(), kManifestName, file.bytes));
    }
    if (const std::string digest = sha256_of(found->second); digest != file.sha256) {
      return fail(ErrorCode::refused, format_text("{}: altered: its SHA-256 is {}, {} says {}", file.path, digest,
                                                  kManifestName, file.sha256.substr(0, 64)));
    }
  }
  for (const auto& [path, bytes] : contents) {
    if (!listed.contains(path)) {
      return fail(ErrorCode::refused, format_text("{}: in the archive, but not listed in {}", path, kManifestName));
    }
  }
  return {};
}

}  // namespace loom::cli

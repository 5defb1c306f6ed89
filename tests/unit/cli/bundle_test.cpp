// SPDX-License-Identifier: Apache-2.0
// Bundles: what is altered, truncated or leads out is refused; what differs is named by file, place and amount.
#include <archive.h>
#include <archive_entry.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "cli/bundle/bundle.hpp"
#include "cli/bundle/inputs.hpp"
#include "cli/bundle/stage.hpp"

namespace loom::cli {
namespace {

namespace fs = std::filesystem;

/// A folder of this test's own.
struct Folder {
  fs::path path = fs::temp_directory_path() / "loom-bundle-test-XXXXXX";
  Folder() {
    std::string name = path.string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code fault;
    fs::remove_all(path, fault);
  }
  std::string at(const std::string& name) const { return (path / name).string(); }
};

BundleManifest manifest_for(const BundleContents& contents) {
  BundleManifest manifest;
  manifest.version = "1";
  manifest.command = {"arena", "--json"};
  manifest.not_compared = bundle_rules();
  for (const auto& [path, bytes] : contents) {
    manifest.files.push_back({path, "answer", "", bytes.size(), sha256_of(bytes)});
  }
  return manifest;
}

std::string write_sound(const Folder& folder, BundleContents contents) {
  const BundleManifest manifest = manifest_for(contents);
  contents[kManifestName] = text_of(manifest);
  REQUIRE(write_bundle(folder.at("b.tar.gz"), contents, kManifestName));
  return folder.at("b.tar.gz");
}

/// One member as no writer of ours makes it.
std::string write_strange(const Folder& folder, const std::string& name, unsigned type) {
  archive* opened = archive_write_new();
  archive_write_add_filter_gzip(opened);
  archive_write_set_format_pax_restricted(opened);
  REQUIRE(archive_write_open_filename(opened, folder.at("s.tar.gz").c_str()) == ARCHIVE_OK);
  archive_entry* entry = archive_entry_new();
  archive_entry_set_pathname(entry, name.c_str());
  archive_entry_set_filetype(entry, type);
  archive_entry_set_perm(entry, 0644);
  archive_entry_set_size(entry, 0);
  if (type == AE_IFLNK) {
    archive_entry_set_symlink(entry, "/etc/passwd");
  }
  REQUIRE(archive_write_header(opened, entry) == ARCHIVE_OK);
  archive_entry_free(entry);
  archive_write_close(opened);
  archive_write_free(opened);
  return folder.at("s.tar.gz");
}

TEST_CASE("sha256_is_the_published_one") {
  CHECK(sha256_of("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_CASE("a_sound_bundle_verifies_and_the_same_contents_give_the_same_bytes") {
  const Folder folder;
  const std::string path = write_sound(folder, {{"answer.json", "{}"}, {"outputs/a.csv", "x\n1\n"}});
  const auto verified = verify_bundle(path, "");
  REQUIRE(verified);
  CHECK(verified->manifest.files.size() == 2);
  CHECK_FALSE(verified->was_run);
  const std::string first = *read_whole(path);
  CHECK(*read_whole(write_sound(folder, {{"answer.json", "{}"}, {"outputs/a.csv", "x\n1\n"}})) == first);
}

TEST_CASE("an_altered_a_missing_and_an_added_file_are_named") {
  const BundleContents sound{{"answer.json", "{\"a\": 1}"}};
  const BundleManifest manifest = manifest_for(sound);
  const auto message = [&](const BundleContents& contents) {
    const auto checked = check_digests(manifest, contents);
    return checked ? std::string{} : checked.error().message;
  };
  CHECK(message(sound).empty());
  CHECK(message({{"answer.json", "{\"a\": 2}"}}).starts_with("answer.json: altered"));
  CHECK(message({{"answer.json", "{}"}}) == "answer.json: 2 bytes, manifest.json says 8");
  CHECK(message({}) == "answer.json: listed in manifest.json, but not in the archive");
  CHECK(message({{"answer.json", "{\"a\": 1}"}, {"x", ""}}) == "x: in the archive, but not listed in manifest.json");
}

TEST_CASE("a_truncated_archive_is_refused_wherever_it_ends") {
  const Folder folder;
  std::string noise;  // that gzip cannot make short
  for (unsigned i = 0, state = 1; i < 200'000; ++i) {
    state = state * 1664525U + 1013904223U;
    noise += static_cast<char>(state >> 24U);
  }
  const std::string bytes = *read_whole(write_sound(folder, {{"answer.json", noise}}));
  for (const std::size_t size : {std::size_t{0}, std::size_t{5}, std::size_t{100}, bytes.size() / 2, bytes.size() - 9}) {
    std::ofstream(folder.at("t.tar.gz"), std::ios::binary) << bytes.substr(0, size);
    const auto verified = verify_bundle(folder.at("t.tar.gz"), "");
    INFO(size);
    REQUIRE_FALSE(verified);
    CHECK(verified.error().code == ErrorCode::malformed);
  }
}

TEST_CASE("names_that_lead_out_and_links_are_refused") {
  const Folder folder;
  for (const char* name : {"../x", "/etc/x", "a/../../x", "a//x", "./x", "a\\x"}) {
    const auto read = read_bundle(write_strange(folder, name, AE_IFREG));
    INFO(name);
    REQUIRE_FALSE(read);
    CHECK(read.error().code == ErrorCode::refused);
  }
  for (const unsigned type : {AE_IFLNK, AE_IFIFO, AE_IFDIR}) {
    const auto read = read_bundle(write_strange(folder, "x", type));
    REQUIRE_FALSE(read);
    CHECK(read.error().code == ErrorCode::refused);
  }
}

TEST_CASE("a_bomb_is_refused_by_its_unpacked_size") {
  const Folder folder;
  archive* opened = archive_write_new();
  archive_write_add_filter_gzip(opened);
  archive_write_set_format_pax_restricted(opened);
  REQUIRE(archive_write_open_filename(opened, folder.at("bomb.tar.gz").c_str()) == ARCHIVE_OK);
  archive_entry* entry = archive_entry_new();
  archive_entry_set_pathname(entry, "answer.json");
  archive_entry_set_filetype(entry, AE_IFREG);
  archive_entry_set_size(entry, static_cast<la_int64_t>(kBundleMemberBytesMax + 1'000'000));
  REQUIRE(archive_write_header(opened, entry) == ARCHIVE_OK);
  const std::string zeroes(1'000'000, '\0');
  for (std::size_t written = 0; written <= kBundleMemberBytesMax; written += zeroes.size()) {
    archive_write_data(opened, zeroes.data(), zeroes.size());
  }
  archive_entry_free(entry);
  archive_write_close(opened);
  archive_write_free(opened);
  const auto read = read_bundle(folder.at("bomb.tar.gz"));
  REQUIRE_FALSE(read);
  CHECK(read.error().message.find("kBundleMemberBytesMax") != std::string::npos);
}

TEST_CASE("a_stranger's_command_that_is_none_of_a_bundle's_or_leads_out_is_refused") {
  CHECK(check_bundled_command({"arena", "--plot", "a.svg"}, ""));
  CHECK(check_bundled_command({"arena", "--plot", "../a.svg"}, "x"));
  CHECK_FALSE(check_bundled_command({"arena", "--plot", "../a.svg"}, ""));
  CHECK_FALSE(check_bundled_command({"arena", "--plot=/etc/a.svg"}, ""));
  CHECK_FALSE(check_bundled_command({"keys", "list"}, ""));
  CHECK_FALSE(check_bundled_command({}, ""));
}

TEST_CASE("a_manifest_says_which_key_is_wrong") {
  BundleManifest manifest = manifest_for({{"answer.json", "1"}});
  const std::string sound = text_of(manifest);
  REQUIRE(manifest_of(sound));
  CHECK(text_of(*manifest_of(sound)) == sound);
  CHECK(manifest_of("[").error().message == "manifest.json: no JSON object of kind loom-bundle");
  std::string other = sound;
  other.replace(other.find("\"bytes\": 1"), 10, "\"bytes\": -");
  CHECK_FALSE(manifest_of(other));
  other = sound;
  other.replace(other.find("\"form\": 1"), 9, "\"form\": 2");
  CHECK(manifest_of(other).error().code == ErrorCode::unsupported);
  manifest.folder = "../x";
  CHECK(manifest_of(text_of(manifest)).error().code == ErrorCode::refused);
}

Comparison compared(const std::string& file, const std::string& recorded, const std::string& now) {
  Comparison comparison;
  compare_file(file, recorded, now, bundle_rules(), comparison);
  return comparison;
}

TEST_CASE("a_number_that_differs_is_named_with_its_place_and_amount") {
  const auto json = compared("answer.json", R"({"rows": [{"iteration_ms": 2, "schedule_ms": 1}]})",
                             R"({"rows": [{"iteration_ms": 2.5, "schedule_ms": 9}]})");
  REQUIRE(json.differing == 1);
  CHECK(json.differences[0].place == "/rows/0/iteration_ms");
  CHECK(json.differences[0].by == "0.5 (25 %)");
  CHECK(json.left_out.at("schedule_ms") == 1);
  const auto csv = compared("a.csv", "name,ms\n\"a,b\",4\n", "name,ms\n\"a,b\",3\n");
  REQUIRE(csv.differing == 1);
  CHECK(csv.differences[0].place == "row 1, column ms");
  CHECK(csv.differences[0].by == "-1 (-25 %)");
  const auto svg = compared("a.svg", "<rect x=\"1\"/>\n<rect x=\"2\"/>\n", "<rect x=\"1\"/>\n<rect x=\"3\"/>\n");
  REQUIRE(svg.differing == 1);
  CHECK(svg.differences[0].place == "line 2");
}

TEST_CASE("what_is_the_same_is_identical_and_what_lacks_is_named") {
  CHECK(compared("answer.json", "{\"a\": [1, 2]}", "{\"a\": [1, 2]}").differing == 0);
  CHECK(compared("answer.json", "{\"a\": [1, 2]}", "{\"a\": [1, 2]}").numbers == 2);
  CHECK(compared("answer.json", "{\"a\": [1, 2]}", "{\"a\": [1]}").differences[0].place == "/a/1");
  CHECK(compared("answer.json", "{\"a\": 1}", "{\"b\": 1}").differing == 2);
  CHECK(compared("a.pdf", "one", "other").left_out.at(".pdf") == 1);
  Comparison runs;
  BundleManifest manifest;
  compare_runs(manifest, 4, {{"answer.json", "{}"}, {"outputs/a", ""}}, {{"answer.json", "{}"}, {"outputs/b", ""}}, runs);
  CHECK(runs.differing == 3);  // exit code, a, b
}

TEST_CASE("files_that_a_named_file_names_come_along") {
  const Folder folder;
  std::ofstream(folder.at("fabric.yaml")) << "kind: fabric\n";
  std::ofstream(folder.at("scenario.yaml")) << "fabric: fabric.yaml\n";
  const auto made =
      bundled({"plan", "--scenario", folder.at("scenario.yaml"), "--plot=" + folder.at("a.svg"), "--seed", "7"}, {});
  REQUIRE(made);
  REQUIRE(made->inputs.size() == 2);
  CHECK(made->inputs[0].named_by == "the text of scenario.yaml");
  CHECK(made->inputs[1].named_by == "--scenario");
  CHECK(made->seed == "7");
  CHECK(made->command.back() == "--json");
  CHECK_FALSE(made->command[2].starts_with("/"));
  CHECK(bundled({"plan"}, {folder.at("none")}).error().code == ErrorCode::not_found);
  CHECK(bundled({"plan", "--data", folder.at("")}, {}).error().code == ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace loom::cli

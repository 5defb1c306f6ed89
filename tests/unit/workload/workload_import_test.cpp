// SPDX-License-Identifier: Apache-2.0
// Importers on small traces that the tests make: both generations, damaged, incomplete, hostile.
#include <archive.h>
#include <archive_entry.h>

#include <unistd.h>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "controller/workload/import/import.hpp"
#include "controller/workload/import/trace_text.hpp"
#include "controller/workload/models/zoo.hpp"

namespace loom {
namespace {

/// A folder of this test's own, gone with it.
class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / ("loom_import_" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream{path_ / name, std::ios::binary} << bytes;
    return (path_ / name).string();
  }

  /// `members` as a .tar.gz, or, with one nameless member, as a .gz.
  std::string pack(const std::string& name, const std::vector<std::pair<std::string, std::string>>& members) const {
    const std::string file = (path_ / name).string();
    archive* packed = archive_write_new();
    archive_write_add_filter_gzip(packed);
    if (members[0].first.empty()) {
      archive_write_set_format_raw(packed);
    } else {
      archive_write_set_format_ustar(packed);
    }
    REQUIRE(archive_write_open_filename(packed, file.c_str()) == ARCHIVE_OK);
    for (const auto& [member, bytes] : members) {
      archive_entry* entry = archive_entry_new();
      archive_entry_set_pathname(entry, member.empty() ? "data" : member.c_str());
      archive_entry_set_size(entry, static_cast<la_int64_t>(bytes.size()));
      archive_entry_set_filetype(entry, AE_IFREG);
      archive_entry_set_perm(entry, 0644);
      REQUIRE(archive_write_header(packed, entry) == ARCHIVE_OK);
      REQUIRE(archive_write_data(packed, bytes.data(), bytes.size()) == static_cast<la_ssize_t>(bytes.size()));
      archive_entry_free(entry);
    }
    archive_write_close(packed);
    archive_write_free(packed);
    return file;
  }

 private:
  std::filesystem::path path_;
};

std::string trace_of(const std::string& schema, const std::string& nodes) {
  return R"({"schema": ")" + schema + R"(", "pid": 1, "nodes": [)" + nodes + "]}";
}

/// Old generation: tensor, sequence, group address, rank, name, splits.
std::string old_record(int id, int rank, const std::string& name, const std::string& elements, const std::string& sent = "[]",
                       const std::string& received = "[]") {
  return R"({"name": "record_param_comms", "id": )" + std::to_string(id) + R"(, "inputs": [[5, 6, 0, )" + elements +
         R"(, 4, "cuda:0"], 7, 94594108284448, )" + std::to_string(rank) + ", \"" + name + "\", " + sent + ", " + received +
         R"(], "outputs": [[8, 9, 0, )" + elements + R"(, 4, "cuda:0"]]})";
}

const std::string kOldRank0 = trace_of("1.0.1", R"({"name": "aten::add", "id": 1, "inputs": [], "outputs": []},)" +
                                                    old_record(2, 0, "allreduce", "1000") + "," +
                                                    old_record(3, 0, "all_to_allv", "8", "[2, 6]", "[2, 1]"));
const std::string kOldRank1 =
    trace_of("1.0.1", old_record(2, 1, "allreduce", "1000") + "," + old_record(3, 1, "all_to_allv", "8", "[1, 7]", "[6, 7]"));

/// New generation: the same under inputs.values, and attributes.
std::string new_record(int id, const std::string& name, const std::string& attributes, const std::string& group = "0") {
  return R"({"id": )" + std::to_string(id) + R"(, "name": "record_param_comms", "ctrl_deps": 1,
    "inputs": {"values": [[[5, 6, 0, 10, 4, "cuda:0"]], 3, [")" +
         group + R"(", "desc"], 1, ")" + name + R"(", [], [], 0, 1, 2]},
    "outputs": {"values": [[[5, 6, 0, 10, 4, "cuda:0"]]]}, "attrs": [)" +
         attributes + "]}";
}
std::string text_attribute(const std::string& name, const std::string& value) {
  return R"({"name": ")" + name + R"(", "type": "string", "value": ")" + value + R"("})";
}
std::string number_attribute(const std::string& name, int value) {
  return R"({"name": ")" + name + R"(", "type": "int64", "value": )" + std::to_string(value) + "}";
}

bool mentions(const std::vector<std::string>& sentences, const std::string& word) {
  return std::any_of(sentences.begin(), sentences.end(),
                     [&](const std::string& s) { return s.find(word) != std::string::npos; });
}

TEST_CASE("reads_old_traces_of_several_ranks_with_their_real_splits") {
  const Folder folder;
  const auto summary = import_trace(folder.pack("two.tar.gz", {{"t/eg_1.json", kOldRank1}, {"t/eg_0.json", kOldRank0}}));
  REQUIRE(summary);
  CHECK(summary->ranks == 2);
  CHECK(summary->nodes == 5);
  REQUIRE(summary->job.collectives.size() == 2);
  CHECK(summary->job.collectives[0].kind == CollectiveKind::all_reduce);
  CHECK(summary->job.collectives[0].bytes.count == 4000);
  CHECK(summary->job.collectives[1].splits == std::vector<Bytes>{Bytes{8}, Bytes{24}, Bytes{4}, Bytes{28}});
  CHECK(summary->job.node_count == 2);
}

TEST_CASE("one_trace_reads_the_same_plain_gzipped_and_tarred") {
  const Folder folder;
  const auto plain = import_trace(folder.write("a.json", kOldRank0));
  const auto zipped = import_trace(folder.pack("a.json.gz", {{"", kOldRank0}}));
  const auto tarred = import_trace(folder.pack("a.tar.gz", {{"a.json", kOldRank0}}));
  REQUIRE(plain);
  REQUIRE(zipped);
  REQUIRE(tarred);
  CHECK(plain->job.collectives == zipped->job.collectives);
  CHECK(plain->job.collectives == tarred->job.collectives);
  CHECK(plain->nodes == 3);
}

TEST_CASE("shadow_files_of_macos_archives_are_passed_over") {
  const Folder folder;
  const auto summary =
      import_trace(folder.pack("mac.tar.gz", {{"t/._eg_0.json", std::string{"\0\5\x16\7", 4}}, {"t/eg_0.json", kOldRank0}}));
  REQUIRE(summary);
  CHECK(summary->ranks_present == 1);
}

TEST_CASE("attributes_of_new_traces_win_over_their_inputs") {
  const Folder folder;
  const std::string init =
      R"({"id": 1, "name": "## process_group:init ##", "inputs": {"values": ["[{\"pg_name\": \"0\", \"ranks\": [], \"group_size\": 4}, {\"pg_name\": \"7\", \"ranks\": [1, 3], \"group_size\": 2}]"]}, "attrs": []},)";
  const std::string attributes = text_attribute("collective_name", "allreduce") + "," + text_attribute("dtype", "BFloat16") +
                                 "," + number_attribute("in_msg_nelems", 500) + "," + number_attribute("out_msg_nelems", 500);
  const auto summary = import_trace(folder.write(
      "new.json", trace_of("1.1.0-chakra.0.0.4",
                           init + new_record(2, "allreduce", attributes + "," + text_attribute("pg_name", "0")) + "," +
                               new_record(3, "allreduce", attributes + "," + text_attribute("pg_name", "7"), "7"))));
  REQUIRE(summary);
  CHECK(summary->ranks == 4);
  REQUIRE(summary->job.collectives.size() == 2);
  CHECK(summary->job.collectives[0].bytes.count == 1000);
  CHECK(summary->job.collectives[0].ranks.empty());  // ranks: [] means all of them
  CHECK(summary->job.collectives[1].ranks == std::vector<std::uint32_t>{1, 3});
  CHECK(mentions(summary->warnings, "1 of 4 ranks"));
}

TEST_CASE("what_cannot_be_sized_is_counted_and_named") {
  const Folder folder;
  const std::string bare =
      R"({"id": 9, "name": "record_param_comms", "inputs": {"values": [3, ["0", ""], 0, "allreduce", [], []]}, "attrs": []},)"
      R"({"id": 10, "name": "record_param_comms", "inputs": {"values": [3, ["0", ""], 0, "teleport", [], []]}, "attrs": []},)"
      R"({"id": 11, "name": "record_param_comms"})";
  const auto summary = import_trace(folder.write("bare.json", trace_of("1.0.2-chakra.0.0.4", bare)));
  REQUIRE(summary);
  CHECK(summary->unsized == 3);
  CHECK(mentions(summary->unsized_names, "allreduce (node 9"));
  CHECK(mentions(summary->unsized_names, "teleport"));
  CHECK(summary->job.collectives.empty());
}

TEST_CASE("a_collective_that_only_some_ranks_have_is_a_warning") {
  const Folder folder;
  const auto summary = import_trace(folder.pack(
      "uneven.tar.gz", {{"eg_0.json", kOldRank0}, {"eg_1.json", trace_of("1.0.1", old_record(2, 1, "allreduce", "999"))}}));
  REQUIRE(summary);
  CHECK(mentions(summary->warnings, "not in rank 1"));
  CHECK(mentions(summary->warnings, "another size"));
  CHECK(summary->job.collectives[0].bytes.count == 4000);
}

TEST_CASE("repeated_profiler_steps_make_one_iteration") {
  const Folder folder;
  std::string nodes;
  for (int step = 0; step < 3; ++step) {
    nodes += R"({"name": "ProfilerStep#)" + std::to_string(step) + R"(", "id": )" + std::to_string(10 * step + 1) + "},";
    nodes += old_record(10 * step + 2, 0, "allreduce", "10") + "," + old_record(10 * step + 3, 0, "broadcast", "20") +
             (step == 2 ? "" : ",");
  }
  const auto summary = import_trace(folder.write("steps.json", trace_of("1.0.1", nodes)));
  REQUIRE(summary);
  CHECK(summary->iterations == 3);
  CHECK(summary->job.collectives.size() == 2);
  CHECK(summary->collectives[0].count == 3);
}

TEST_CASE("a_trace_cut_anywhere_is_an_error_and_never_a_crash") {
  const Folder folder;
  for (std::size_t length = 0; length < kOldRank0.size(); length += 3) {
    const auto summary = import_trace(folder.write("cut.json", kOldRank0.substr(0, length)));
    REQUIRE_FALSE(summary);
    CHECK(summary.error().code == ErrorCode::malformed);
  }
  const std::string whole = folder.pack("whole.tar.gz", {{"eg_0.json", kOldRank0}, {"eg_1.json", kOldRank1}});
  std::ifstream stream{whole, std::ios::binary};
  const std::string packed{std::istreambuf_iterator<char>{stream}, {}};
  for (std::size_t length = 0; length + 8 < packed.size(); length += 5) {
    const auto summary = import_trace(folder.write("cut.tar.gz", packed.substr(0, length)));
    REQUIRE_FALSE(summary);
    CHECK(summary.error().message.find("cut.tar.gz") != std::string::npos);
  }
}

TEST_CASE("damaged_bytes_never_crash") {
  const Folder folder;
  const unsigned seed = 11;
  INFO("seed " << seed);
  std::mt19937 chance{seed};
  for (int round = 0; round < 1500; ++round) {
    std::string damaged = kOldRank0;
    for (int flips = 1 + static_cast<int>(chance() % 4); flips > 0; --flips) {
      const std::size_t place = chance() % damaged.size();
      damaged[place] = static_cast<char>(chance() % 256);
    }
    const auto summary = import_trace(folder.write("damaged.json", damaged));
    CHECK((summary || !summary.error().message.empty()));
  }
}

TEST_CASE("hostile_files_are_refused_by_name") {
  const Folder folder;
  const auto deep = import_trace(folder.write("deep.json", trace_of("1.0.1", std::string(1'000'000, '['))));
  REQUIRE_FALSE(deep);
  CHECK(deep.error().message.find("64 levels") != std::string::npos);
  const auto bomb = import_trace(folder.pack("bomb.json.gz", {{"", std::string(300'000, ' ')}}), {.bytes = 100'000});
  REQUIRE_FALSE(bomb);
  CHECK(bomb.error().code == ErrorCode::out_of_range);
  CHECK(bomb.error().message.find("kTraceFileBytes") != std::string::npos);
  CHECK(import_trace("/nowhere/at/all.json").error().code == ErrorCode::not_found);
  CHECK(import_trace(folder.write("empty.json", "")).error().code == ErrorCode::malformed);
  CHECK(import_trace(folder.write("list.json", "[1, 2]")).error().code == ErrorCode::malformed);
  CHECK(import_trace(folder.write("kineto.json", R"({"traceEvents": []})")).error().code == ErrorCode::unsupported);
  CHECK(import_trace(folder.write("other.json", R"({"events": []})")).error().code == ErrorCode::malformed);
  const auto many = import_trace(folder.write("many.json", kOldRank0), {.collectives = 1});
  REQUIRE_FALSE(many);
  CHECK(many.error().code == ErrorCode::out_of_range);
  const auto twice = import_trace(folder.pack("twice.tar.gz", {{"a.json", kOldRank0}, {"b.json", kOldRank0}}));
  REQUIRE_FALSE(twice);
  CHECK(twice.error().message.find("second file of rank 0") != std::string::npos);
}

TEST_CASE("absurd_sizes_are_unsized_not_overflow") {
  const Folder folder;
  const auto summary = import_trace(folder.write(
      "huge.json",
      trace_of("1.0.1", old_record(2, 0, "allreduce", "9223372036854775807") + "," + old_record(3, 0, "allreduce", "-5") + "," +
                            old_record(4, 0, "all_to_allv", "8", "[-1, 9223372036854775807]"))));
  REQUIRE(summary);
  CHECK(summary->unsized == 2);
}

TEST_CASE("a_trace_is_a_workload_that_brings_its_own_ranks") {
  const Folder folder;
  const std::string file = folder.pack("w.tar.gz", {{"eg_0.json", kOldRank0}, {"eg_1.json", kOldRank1}});
  const auto job = load_workload(file, {0, {{"compute_ms", "5"}}});
  REQUIRE(job);
  CHECK(job->node_count == 2);
  CHECK(job->compute == std::chrono::milliseconds{5});
  CHECK(load_workload(file, {4, {}}).error().code == ErrorCode::invalid_argument);
  CHECK(load_workload(file, {2, {{"batch", "5"}}}).error().code == ErrorCode::invalid_argument);
}

TEST_CASE("import_answers_with_the_fixed_keys") {
  const Folder folder;
  const auto summary = import_trace(folder.write("a.json", kOldRank0));
  REQUIRE(summary);
  const auto answer = import_json(*summary);
  for (const char* key : {"api_version", "format", "ranks", "nodes", "collectives", "unsized", "compute_ms", "warnings"}) {
    CHECK(answer.contains(key));
  }
  CHECK(answer["collectives"][0]["kind"] == "all_reduce");
  CHECK(answer["collectives"][0]["bytes"] == 4000);
  CHECK(answer["collectives"][0]["count"] == 1);
  CHECK(import_table(*summary).find("all_to_allv") != std::string::npos);
}

}  // namespace
}  // namespace loom

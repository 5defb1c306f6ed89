// SPDX-License-Identifier: Apache-2.0
// PyTorch traces of both generations, cut at every place and with every attribute missing in turn: a named error, a warning or
// an entry among the unsized, never a crash and never a silent zero.
#include <unistd.h>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "controller/workload/import/import.hpp"

namespace loom {
namespace {

using Json = nlohmann::ordered_json;

class Scratch {
 public:
  Scratch() : path_(std::filesystem::temp_directory_path() / ("loom_faults_" + std::to_string(::getpid()) + ".json")) {}
  ~Scratch() { std::filesystem::remove(path_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  Result<TraceSummary> import(const std::string& bytes) const {
    std::ofstream{path_, std::ios::binary | std::ios::trunc} << bytes;
    return import_trace(path_.string());
  }

 private:
  std::filesystem::path path_;
};

const char* const kOld = R"({"schema": "1.0.1", "pid": 1, "nodes": [
  {"name": "aten::add", "id": 1, "inputs": [], "outputs": []},
  {"name": "record_param_comms", "id": 2, "inputs": [[5, 6, 0, 1000, 4, "cuda:0"], 7, 94594108284448, 0, "allreduce", [], []],
   "outputs": [[8, 9, 0, 1000, 4, "cuda:0"]]}]})";

const char* const kNew = R"({"schema": "1.1.0-chakra.0.0.4", "pid": 1, "nodes": [
  {"id": 1, "name": "## process_group:init ##", "inputs": {"values":
     ["[{\"pg_name\": \"0\", \"ranks\": [], \"group_size\": 4}]"]}, "attrs": []},
  {"id": 2, "name": "record_param_comms", "ctrl_deps": 1,
   "inputs": {"values": [[[5, 6, 0, 10, 4, "cuda:0"]], 3, ["0", "desc"], 1, "allreduce", [], [], 0, 1, 2]},
   "outputs": {"values": [[[5, 6, 0, 10, 4, "cuda:0"]]]},
   "attrs": [{"name": "collective_name", "type": "string", "value": "allreduce"},
             {"name": "dtype", "type": "string", "value": "BFloat16"},
             {"name": "in_msg_nelems", "type": "int64", "value": 500},
             {"name": "out_msg_nelems", "type": "int64", "value": 500},
             {"name": "group_size", "type": "int64", "value": 4},
             {"name": "pg_name", "type": "string", "value": "0"}]}]})";

/// Every way of leaving out one member of one object or one item of one list.
void each_lack(const Json& whole, const Json::json_pointer& at,
               const std::function<void(const Json&, const std::string&)>& check, const Json& root) {
  const auto without = [&](auto key) {
    Json lacking = root;
    Json& place = lacking[at];
    place.erase(key);
    std::string where = at.to_string() + "/";
    if constexpr (std::is_convertible_v<decltype(key), std::string>) {
      where += key;
    } else {
      where += std::to_string(key);
    }
    check(lacking, where);
  };
  if (whole.is_object()) {
    for (const auto& [key, value] : whole.items()) {
      without(std::string(key));
      each_lack(value, at / key, check, root);
    }
  } else if (whole.is_array()) {
    for (std::size_t i = 0; i < whole.size(); ++i) {
      without(i);
      each_lack(whole[i], at / i, check, root);
    }
  }
}

TEST_CASE("traces_of_both_generations_cut_at_every_byte_are_malformed_by_name") {
  const Scratch scratch;
  for (const std::string whole : {kOld, kNew}) {
    REQUIRE(scratch.import(whole));
    for (std::size_t length = 0; length < whole.size(); ++length) {
      const auto summary = scratch.import(whole.substr(0, length));
      CAPTURE(length);
      REQUIRE_FALSE(summary);
      CHECK(summary.error().code == ErrorCode::malformed);
      CHECK_FALSE(summary.error().message.empty());
    }
  }
}

TEST_CASE("traces_of_both_generations_with_any_one_attribute_missing_are_read_refused_or_unsized_never_sized_wrongly") {
  const Scratch scratch;
  for (const std::string text : {kOld, kNew}) {
    const auto sound = scratch.import(text);
    REQUIRE(sound);
    REQUIRE(sound->job.collectives.size() == 1);
    const std::int64_t bytes = sound->job.collectives.front().bytes.count;
    const Json whole = Json::parse(text);
    std::size_t lacks = 0;
    each_lack(
        whole, Json::json_pointer{},
        [&](const Json& lacking, const std::string& where) {
          ++lacks;
          CAPTURE(sound->format, where);
          const auto summary = scratch.import(lacking.dump());
          if (!summary) {
            CHECK_FALSE(summary.error().message.empty());
            return;
          }
          for (const Collective& collective : summary->job.collectives) {
            // The new generation has the size twice, as an attribute and as a tensor: 500 x 2 bytes, or 10 x 4.
            CHECK((collective.bytes.count == bytes || collective.bytes.count == 40 || collective.bytes.count == 500 * 4));
          }
          const bool still_there = !summary->job.collectives.empty();
          const bool reported = summary->unsized > 0 || !summary->warnings.empty() || summary->nodes < sound->nodes;
          CHECK((still_there || reported || where.find("/name") != std::string::npos));
        },
        whole);
    CHECK(lacks > 20);
  }
}

}  // namespace
}  // namespace loom

// SPDX-License-Identifier: Apache-2.0
// Profiles as SiP-ML's tools write them. The bytes are put together here by the field numbers of their message, without the
// schema that the reader uses.
#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "controller/architectures/sip_ml/profile_file.hpp"
#include "controller/workload/import/model_file.hpp"

namespace loom {
namespace {

using namespace std::chrono_literals;

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) {
    bytes += static_cast<char>((value & 0x7f) | 0x80);
  }
  return bytes + static_cast<char>(value);
}
std::string number(int field, std::uint64_t value) { return varint(static_cast<std::uint64_t>(field) << 3) + varint(value); }
std::string text(int field, const std::string& value) {
  return varint((static_cast<std::uint64_t>(field) << 3) | 2) + varint(value.size()) + value;
}

std::string computing(const std::string& name, std::uint32_t microseconds, std::uint32_t output) {
  return text(1, text(1, name) + number(2, microseconds) + number(6, output));
}
/// memory: 1 written, 2 read.
std::string variable(const std::string& name, std::uint32_t bytes, int memory) {
  return text(1, text(1, name) + number(3, bytes) + number(4, 1) + number(5, static_cast<std::uint64_t>(memory)));
}
std::string control(const std::string& name) { return text(1, text(1, name) + number(4, 2)); }
std::string edges(const std::string& from, const std::vector<std::string>& to) {
  std::string all = text(1, from);
  for (const std::string& each : to) {
    all += text(2, each);
  }
  return text(2, all);
}

class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / ("loom_profile_" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path_ / name, std::ios::binary) << bytes;
  }
  std::string prefix(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

/// A layer with its variable, a reshape, and the gradient that is written back; readers stand before what they read.
std::string layer(std::uint32_t microseconds, std::uint32_t output) {
  return computing("gradient", 2 * microseconds, 4'000) + computing("conv", microseconds, output) +
         computing("flat/Reshape", 1, output) + variable("conv/weights", 4'000, 2) + variable("conv/update", 4'000, 1) +
         control("group") + edges("conv/weights", {"conv", "conv/update"}) + edges("conv", {"flat/Reshape"}) +
         edges("flat/Reshape", {"gradient"}) + edges("gradient", {"conv/update", "conv/update"}) +
         edges("conv/update", {"group"});
}

TEST_CASE("profiles_of_the_authors_tools_are_read_batch_by_batch") {
  const Folder folder;
  folder.write("vgg_bs1.pb", layer(10, 100));
  folder.write("vgg_bs4.pb", layer(28, 400));
  folder.write("vgg_bs2.pb", layer(16, 200));
  folder.write("vgg_bs8.txt", "not one of them");
  folder.write("vgg_bsx.pb", "not one of them");
  const auto profile = read_profile_files(profile_prefix(folder.prefix("vgg_bs2.pb")));
  REQUIRE(profile);
  CHECK(profile->name == "vgg");
  CHECK(profile->batches == std::vector<std::uint32_t>{1, 2, 4});
  std::vector<std::string> names;
  for (const ProfiledOperation& each : profile->operations) {
    names.push_back(each.name);
    for (const std::uint32_t input : each.inputs) {
      CHECK(input < names.size() - 1);
    }
  }
  CHECK(names == std::vector<std::string>{"conv/weights", "conv", "flat/Reshape", "gradient", "conv/update", "group"});
  const auto at_three = operations_at(*profile, 3);
  REQUIRE(at_three);
  CHECK(at_three->at(1).compute == 22us);
  CHECK(at_three->at(1).output.count == 300);
  CHECK(at_three->at(3).output.count == 4'000);  // a gradient is as large whatever the batch
  CHECK(at_three->at(0).is_memory);
  CHECK(at_three->at(0).parameters.count + at_three->at(4).parameters.count == 4'000);
  CHECK(at_three->at(5).compute == 0us);
  CHECK(profile->operations.at(4).inputs == std::vector<std::uint32_t>{0, 3});
  const auto halved = read_profile_files(folder.prefix("vgg"), ProfileReading::as_in_code);
  REQUIRE(halved);
  CHECK(operations_at(*halved, 4)->at(1).compute == 14us);
  CHECK(operations_at(*halved, 4)->at(1).output.count == 200);
  CHECK(operations_at(*halved, 4)->at(2).output.count == 0);
  CHECK(halved->source.find("halved") != std::string::npos);
}

TEST_CASE("what_is_wrong_with_a_profile_is_named_with_its_file") {
  const Folder folder;
  const auto error_of = [&](const std::string& name) {
    const auto read = read_profile_files(folder.prefix(name));
    REQUIRE_FALSE(read);
    return read.error().message;
  };
  const std::string good = computing("a", 1, 1) + computing("b", 1, 1) + edges("a", {"b"});
  CHECK(error_of("none").find("none_bs1.pb") != std::string::npos);
  folder.write("torn_bs1.pb", good.substr(0, good.size() - 2));
  CHECK(error_of("torn").find("torn_bs1.pb: not a profile") != std::string::npos);
  folder.write("empty_bs1.pb", "");
  CHECK(error_of("empty").find("without operators") != std::string::npos);
  folder.write("lacks_bs1.pb", good);
  folder.write("lacks_bs2.pb", computing("a", 1, 1));
  CHECK(error_of("lacks").find("lacks_bs2.pb: operator 'b' is missing") != std::string::npos);
  folder.write("new_bs1.pb", computing("a", 1, 1));
  folder.write("new_bs2.pb", good);
  CHECK(error_of("new").find("'b' is not in the file of the smallest batch") != std::string::npos);
  folder.write("twice_bs1.pb", good + computing("a", 2, 2));
  CHECK(error_of("twice").find("'a' is there twice") != std::string::npos);
  folder.write("nobody_bs1.pb", good + edges("b", {"c"}));
  CHECK(error_of("nobody").find("'b' is read by 'c'") != std::string::npos);
  folder.write("cycle_bs1.pb", good + edges("b", {"a"}));
  CHECK(error_of("cycle").ends_with("a cycle: a -> b -> a"));
  folder.write("other_bs1.pb", good);
  folder.write("other_bs2.pb", computing("a", 1, 1) + computing("b", 1, 1));
  CHECK(error_of("other").find("other_bs2.pb: operators read others") != std::string::npos);
  folder.write("tensor_bs1.pb", variable("t", 4, 0));
  CHECK(error_of("tensor").find("memory of kind 0") != std::string::npos);
  folder.write("kind_bs1.pb", text(1, text(1, "k") + number(4, 7)));
  CHECK(error_of("kind").find("kind 7") != std::string::npos);
  folder.write("zero_bs0.pb", good);
  CHECK(error_of("zero").find("batch 0") != std::string::npos);
}

TEST_CASE("layers_measured_at_several_batches_are_a_profile_between_them") {
  const Folder folder;
  folder.write("own.yaml", R"(schema_version: 1
kind: model
name: own
layers:
  - {name: a, parameters: 1000, activations: 10, time_ms: {16: 3, 32: 4, 64: 9}}
  - {name: b, parameters: 1000, activations: 10, time_ms: {32: 1, 64: 2}}
)");
  const auto model = read_model_file(folder.prefix("own.yaml"), 32);
  REQUIRE(model);
  CHECK(is_measured(*model));
  const auto profile = measured_profile(*model);
  REQUIRE(profile);
  CHECK(profile->batches == std::vector<std::uint32_t>{32, 64});
  Duration whole{};
  const auto operations = operations_at(*profile, 48);
  REQUIRE(operations);
  for (const Operation& each : *operations) {
    whole += each.compute;
  }
  CHECK(std::abs((whole - 8ms).count()) < 4);  // 6.5 + 1.5, four operators rounded
  CHECK_FALSE(operations_at(*profile, 16));
}

}  // namespace
}  // namespace loom
